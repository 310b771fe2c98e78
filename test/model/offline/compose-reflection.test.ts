import { describe, expect, it } from 'vitest';

import type { ModelRequest } from '../../../src/core/model.ts';
import { createOfflineClient } from '../../../src/model/offline/offline-client.ts';
import { offlineRequest } from './offline-request.ts';

const system = 'Keep facts/user.md.';

async function reflected(
  turns: readonly string[],
  changes: { facts?: string[]; tools?: string[]; system?: string } = {},
) {
  const { facts = [], tools = ['memory_append'] } = changes;
  const request: ModelRequest = offlineRequest({
    purpose: 'reflection',
    sections: { turns, facts },
    tools,
    system: changes.system ?? system,
  });
  const { content } = await createOfflineClient().complete(request);
  return content;
}

const nothingNew = [{ type: 'text', text: 'Nothing new.' }];

describe('a look back without a language model', () => {
  it('adds what the person said of themselves to the facts', async () => {
    const [call] = await reflected([
      '- [1] Alice: my name is Alice',
      '- [2] Discoclaw: I am a bot',
      '- [3] Alice: I live in Lisbon',
    ]);
    expect(call).toMatchObject({
      name: 'memory_append',
      input: { path: 'facts/user.md', entry: '- My name is Alice\n- Lives in Lisbon' },
    });
  });

  it.each([
    ['nothing was said', ['- [1] Alice: hello', '- [2] Discoclaw: I am a bot'], {}],
    ['the facts say it already', ['- [1] Alice: I live in Lisbon'], { facts: ['- Lives in  Lisbon'] }],
    ['items were asked for', ['- [1] Alice: remember that I live in Lisbon'], {}],
    ['there is no tool', ['- [1] Alice: I live in Lisbon'], { tools: [] }],
    ['there are no facts files', ['- [1] Alice: I live in Lisbon'], { system: 'Keep overview.md.' }],
  ])('finds nothing new where %s', async (_, turns, changes) => {
    expect(await reflected(turns, changes)).toEqual(nothingNew);
  });
});
