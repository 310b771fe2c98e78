import { describe, expect, it } from 'vitest';

import { openStart, playChanges, playTroubles, timeFor } from './changes-property.ts';
import { filesBelow } from './changes-scene.ts';

describe('the ledger of changes over all layers and the files', () => {
  it('begins with words in every layer, so that there is something to be taken back', async () => {
    await using start = await openStart();
    const files = [...(await filesBelow(start.folder))];
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

  const sequences = 24;

  it(
    'ends in the same content with kills and without, and leaves nothing on disk of what an edit or deletion took out [F5][G5][S7]',
    { timeout: timeFor(sequences) },
    async () => {
      // Without kills there would be nothing to be seen.
      expect(await playChanges(sequences)).toBeGreaterThan(sequences);
    },
  );

  it(
    'leaves nothing on disk of what an edit or deletion took out while the disk refused a layer, once it was started anew [F5][G5][S7]',
    { timeout: timeFor(sequences) },
    async () => {
      await expect(playTroubles(sequences)).resolves.toBeUndefined();
    },
  );
});
