import { describe, expect, it } from 'vitest';

import { archivesOf } from '../../src/commands/memory-data.ts';
import { unpackFile } from '../../src/commands/memory-import.ts';
import type { OutgoingFile } from '../../src/core/reply.ts';
import type { ExportedFile } from '../../src/memory/layer.ts';
import { aliceId } from '../support/incoming.ts';
import { createHarness, dmPlace } from './harness.ts';

async function textIn(file: OutgoingFile | undefined, path: string): Promise<string> {
  const found = await unpackFile(Buffer.from(file?.bytes ?? []), (each) => each === path, 10_000_000);
  return typeof found === 'string' ? found : Buffer.from(found).toString('utf8');
}

/** What is exported where a layer holds these files, and parts have so many bytes at most. */
function exported(files: readonly ExportedFile[], maxBytes?: number): Promise<readonly OutgoingFile[]> {
  const layer = {
    async *export() {
      yield* files;
    },
  };
  return archivesOf([layer], aliceId, '2026-01-15T10:00:00.000Z', maxBytes);
}

describe('an export [K10]', () => {
  it('goes out by direct message, and the answer in the channel holds nothing of it', async () => {
    const harness = createHarness();
    await harness.say('remember I keep bees', dmPlace);
    const { text, files } = await harness.give('export');
    expect(text).toBe('I have sent you everything that I hold about you as a direct message.');
    expect(files).toBeUndefined();
    const [sent] = harness.direct;
    expect(sent?.userId).toBe(aliceId);
    const [file] = sent?.messages[0]?.files ?? [];
    expect(file?.name).toBe('discoclaw-memory-2026-01-15.zip');
    expect(JSON.parse(await textIn(file, 'items.json'))).toMatchObject([
      { text: 'I keep bees', visibility: 'dm' },
    ]);
    expect(await textIn(file, 'README.md')).toContain('- `items.json` (');
  });

  it('comes with the answer that only they see where direct messages are closed', async () => {
    const harness = createHarness({ hasClosedDms: true });
    await harness.say('remember I keep bees');
    expect(await harness.give('export')).toEqual({
      text: 'I could not send you a direct message. Please use `/memory export`: only you see its answer, and the file with it.',
    });
    const { files } = await harness.give('export', undefined, { ephemeral: true });
    expect(await textIn(files?.[0], 'items.json')).toContain('I keep bees');
  });

  it('holds hashes of what was forgotten, and no word of it', async () => {
    const harness = createHarness();
    await harness.say('remember I keep bees');
    await harness.say('forget bees');
    const withheld = (await harness.give('export')).files ?? harness.direct[0]?.messages[0]?.files ?? [];
    expect(await textIn(withheld[0], 'items.json')).toBe('[]');
    await harness.finishForgetting();
    const [file] = (await harness.give('export')).files ?? harness.direct[1]?.messages[0]?.files ?? [];
    expect(await textIn(file, 'items.json')).toBe('[]');
    expect(JSON.parse(await textIn(file, 'forgotten.json'))).toHaveProperty('gone.length', 1);
    expect(await textIn(file, 'forgotten.json')).not.toContain('bees');
  });

  it('is parted into complete archives where Discord takes less, each with what is in it', async () => {
    const files = Array.from({ length: 8 }, (_, index) => ({
      path: `notebook/facts/${index}.md`,
      // Digits of a power are as good as random: they cannot be packed much.
      text: (BigInt(index + 3) ** 9000n).toString(),
    }));
    const maxBytes = 10_000;
    const parts = await exported(files, maxBytes);
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.map(({ name }) => name)).toEqual(
      parts.map((_, index) => `discoclaw-memory-2026-01-15-part-${index + 1}-of-${parts.length}.zip`),
    );
    for (const { bytes } of parts) expect(bytes.length).toBeLessThanOrEqual(maxBytes);
    for (const { path, text } of files) {
      const found = await Promise.all(parts.map((part) => textIn(part, path)));
      expect(found.filter((each) => each !== 'missing')).toEqual([text]);
    }
    expect(await textIn(parts[1], 'README.md')).toContain(`This is part 2 of ${parts.length};`);
  });
});
