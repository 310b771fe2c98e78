import { describe, expect, it } from 'vitest';

import { describeChanges, openStart } from './changes-property.ts';
import { filesBelow } from './changes-scene.ts';

describe('the ledger of changes over all layers and the files', () => {
  it('begins with words in every layer, so that there is something to be taken back', async () => {
    await using start = await openStart();
    const files = [...filesBelow(start.folder)];
    const texts = files.map(([, text]) => text);
    expect(start.words.filter((word) => !texts.some((text) => text.includes(word)))).toEqual([]);
    const isHeld = (path: RegExp) =>
      files.some(([name, text]) => path.test(name) && start.words.some((word) => text.includes(word)));
    const held = [
      'messages.jsonl',
      'state.json',
      'overview.md',
      'detail/plan.md',
      'durable.json',
      'MEMORY.md',
    ];
    const paths = [
      ...held.map((name) => new RegExp(`${name}$`, 'u')),
      /short-term\/\d+\.json$/u,
      /-summary\.md$/u,
    ];
    expect(paths.filter((path) => !isHeld(path))).toEqual([]);
  });
});

describeChanges(10);
