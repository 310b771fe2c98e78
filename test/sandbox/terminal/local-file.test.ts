import { chmod, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readLocalFile, readUploadLine } from '../../../src/sandbox/terminal/message-actions.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'discoclaw-upload-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a line that uploads', () => {
  it('has a path, in quotation marks where it has spaces, and perhaps a text', () => {
    expect(readUploadLine('a.png')).toEqual({ path: 'a.png', text: '' });
    expect(readUploadLine('a.png  what is\nthis?')).toEqual({ path: 'a.png', text: 'what is\nthis?' });
    expect(readUploadLine('"my cat.png" look')).toEqual({ path: 'my cat.png', text: 'look' });
    expect(readUploadLine("'my cat.png'")).toEqual({ path: 'my cat.png', text: '' });
    expect(() => readUploadLine('')).toThrow('Which file?');
  });
});

describe('a file to upload', () => {
  it('is read with its name', async () => {
    await writeFile(join(folder, 'tea.txt'), 'green');
    const { name, base64 } = await readLocalFile(join(folder, 'tea.txt'));
    expect([name, Buffer.from(base64, 'base64').toString()]).toEqual(['tea.txt', 'green']);
  });

  it('is refused, with a line that says why, when it cannot be had', async () => {
    await expect(readLocalFile(join(folder, 'none.txt'))).rejects.toThrow(/^There is no file .*none\.txt$/u);
    await expect(readLocalFile(folder)).rejects.toThrow(/ is not a file$/u);
    const large = join(folder, 'large.bin');
    await writeFile(large, '');
    await truncate(large, 10 * 1024 * 1024 + 1);
    await expect(readLocalFile(large)).rejects.toThrow(
      'is too large: it has 10485761 bytes, and 10 MB is the limit',
    );
  });

  // Root may read everything.
  it.runIf(process.getuid?.() !== 0)('is refused when it may not be read', async () => {
    const locked = join(folder, 'locked.txt');
    await writeFile(locked, 'a');
    await chmod(locked, 0);
    await expect(readLocalFile(locked)).rejects.toThrow('cannot be read: EACCES');
  });
});
