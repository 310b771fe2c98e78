import { afterAll, describe, expect, it } from 'vitest';

import type { ModelScript } from '../support/model-server.ts';
import { asksForSummary, newestCall, toldIn } from './memory-talk.ts';
import { obedientModel } from './obedient-model.ts';
import { openStage } from './stage.ts';

/** Each summary names the turn that it was made after, so that a replaced one can be told from its successor. */
let summaries = 0;
const model: ModelScript = (body, index) => {
  if (!asksForSummary(body)) return obedientModel(body, index);
  summaries += 1;
  return { text: `They planned picnic number${summaries}.` };
};

const stage = await openStage({
  environment: { DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1', DISCOCLAW_REFLECTION_ENABLED: 'false' },
  model,
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** Has the model call a tool in somebody's turn; resolves with what the tool said. */
async function call(as: string, place: string, tool: string, input: object): Promise<string> {
  return (await stage.ask(as, place, `please CALL ${tool} ${JSON.stringify(input)}`)).text;
}

function recall(as: string, place: string, query: string, scope = 'messages'): Promise<string> {
  return call(as, place, 'recall_memory', { query, scope });
}

describe('recall_memory [C1]', () => {
  it('finds the line written a moment ago, in the exact form, with a link to the message', async () => {
    const said = await stage.sandbox.say({ as: 'alice', in: 'dm', text: 'My dentist is Doctor Okafor' });
    await stage.answerTo(said);
    expect(await recall('alice', 'dm', 'dentist')).toMatch(
      new RegExp(
        String.raw`^The tool said: Found 1 result\(s\) for: "dentist"\n\n\[1\] message ` +
          String.raw`https://discord.com/channels/@me/${said.channelId}/${said.id} [\d-]{10}\nContent: .*My dentist is Doctor Okafor.*$`,
        'u',
      ),
    );
  });

  it('finds a replaced summary in detail/', async () => {
    await stage.ask('carol', '#general', 'let us plan a picnic');
    const state = `data/sessions/${stage.info.channels['general'] ?? ''}/${stage.info.people['carol'] ?? ''}/state.json`;
    const first = await summaryIn(state, /picnic number(\d+)/u);
    await stage.ask('carol', '#general', 'and another one');
    await expect.poll(() => stage.readFile(state)).not.toContain(`picnic number${first}.`);
    const found = await recall('carol', '#general', `picnic number${first}`, 'detail');
    expect(found).toMatch(/\[1\] detail\/[\w-]+-summary\.md:\d+/u);
    expect(found).toContain(`They planned picnic number${first}.`);
  });

  it('shows neither backups nor quarantined files, and a hand edit at once', async () => {
    const path = `data/users/${stage.info.people['carol'] ?? ''}/notebook/facts/pets.md`;
    await call('carol', 'dm', 'memory_write', { path: 'facts/pets.md', content: '- One parrot named Pico' });
    await stage.writeFile(path, '# Pets\n> Summary: parrot\n\n- One parrot named Quito\n');
    expect(await recall('carol', 'dm', 'parrot', 'notebook')).toContain('Quito');
    await call('carol', 'dm', 'memory_append', { path: 'facts/pets.md', entry: '- A second parrot' });
    const found = await recall('carol', 'dm', 'parrot Pico', 'notebook');
    expect(found).not.toContain('.bak');
    expect(await call('carol', 'dm', 'memory_list', {})).not.toContain('.bak');
  });
});

it('answers after a restart with a name kept in facts/user.md, whose index stands once in the turn', async () => {
  await call('bob', 'dm', 'memory_append', { path: 'facts/user.md', entry: '- Name: Robert Hall' });
  await stage.stopBot();
  await stage.startBot();
  expect(await call('bob', 'dm', 'memory_read', { path: 'facts/user.md' })).toContain('- Name: Robert Hall');
  const lastRound = newestCall(stage);
  expect(toldIn(lastRound).split('<notebook_index>')).toHaveLength(2);
  expect(JSON.stringify(lastRound.body.system)).not.toContain('facts/user.md (');
});

async function summaryIn(path: string, form: RegExp): Promise<string> {
  let found = '';
  await expect
    .poll(async () => {
      found = form.exec(await stage.readFile(path))?.[1] ?? '';
      return found;
    })
    .not.toBe('');
  return found;
}
