import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';

import { loadEnvironment, readConfig } from '../../src/config/config.ts';
import { readEnvFile, withVariable } from '../../src/config/env-file.ts';

/** What a bot finds in its environment with such a file. */
const read = async (bytes: Buffer | string) => {
  const folder = await mkdtemp(join(tmpdir(), 'discoclaw-env-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, '.env'), bytes);
  return loadEnvironment(join(folder, '.env'));
};

describe('a .env file, whatever wrote it [O2] [O7]', () => {
  const text = '# mine\r\nDISCORD_TOKEN=abc.def\r\nexport DISCOCLAW_ACCESS="everyone"\n';
  const utf16 = (mark: string) => Buffer.from(mark + text, 'utf16le');
  it.each([
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a mark', Buffer.from(`\uFEFF${text}`)],
    ['UTF-16 with a mark', utf16('\uFEFF')],
    ['UTF-16 the other way round', utf16('\uFEFF').swap16()],
    ['quotation marks of a word processor', text.replaceAll('abc.def', '\u201Cabc.def\u201D')],
  ])('sets the same: %s', async (_, bytes) => {
    expect(await read(bytes)).toMatchObject({ DISCORD_TOKEN: 'abc.def', DISCOCLAW_ACCESS: 'everyone' });
  });

  it('is refused where it cannot be read, with what to do', async () => {
    await expect(read(Buffer.from([0x44, 0x00, 0x00, 0x00, 0x01]))).rejects.toThrow('save it as UTF-8');
    await expect(read('$env:DISCORD_TOKEN')).rejects.toThrow('expected NAME=value');
    const folder = await mkdtemp(join(tmpdir(), 'discoclaw-env-'));
    expect(() => loadEnvironment(folder)).toThrow(`${folder}: expected a file, found a folder`);
    await rm(folder, { recursive: true });
  });

  it('is refused where a name is in small letters, unless it is there in capitals too', () => {
    expect(() => readConfig({ discord_token: 'x' })).toThrow('expected the name DISCORD_TOKEN');
    expect(() => readConfig({ discord_token: 'x', DISCORD_TOKEN: 'y' })).not.toThrow();
  });
});

describe('a variable that is set in .env [O1]', () => {
  it.each([
    ['is added at the end', 'A=1', 'A=1\nTOKEN=new\n'],
    ['takes the place of its value', '# mine\nTOKEN = "old" # why\nA=1\n', '# mine\nTOKEN=new\nA=1\n'],
    ['takes the place of the value that counts', 'TOKEN=a\nexport TOKEN=b\n', 'TOKEN=a\nTOKEN=new\n'],
    ['is none of a longer name', 'MY_TOKEN=a\nTOKENS=b\n', 'MY_TOKEN=a\nTOKENS=b\nTOKEN=new\n'],
    ['keeps the line endings of Windows', 'TOKEN=a\r\nA=1\r\n', 'TOKEN=new\r\nA=1\r\n'],
  ])('%s', (_, before, after) => {
    expect(withVariable(before, 'TOKEN', 'new')).toBe(after);
  });

  it.each(['a b', 'a#b', 'a"b', '$a', 'a\\nb', '`a`'])('is read again as it was: %s', (value) => {
    expect(readEnvFile(withVariable('A=1\n', 'TOKEN', value))).toEqual({ A: '1', TOKEN: value });
  });

  it.each(["it's", 'two\nlines'])('is refused where it could not be read again: %j', (value) => {
    expect(() => withVariable('A=1\n', 'TOKEN', value)).toThrow('set it in the environment');
  });

  it('never changes what else the file sets, whatever stands there', () => {
    const line = fc.oneof(
      fc.constantFrom(
        'TOKEN=old',
        'export TOKEN: x',
        '# TOKEN=',
        'A="1',
        'B=2"',
        "C='",
        'TOKEN="a',
        '',
        ' TOKEN = `x',
        '\r',
      ),
      fc.string({ maxLength: 12 }),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.boolean(), (lines, isEnded) => {
        const before = lines.join('\n') + (isEnded ? '\n' : '');
        // Where that cannot be, the file is left as it is, and its owner told to do it by hand.
        const after = attempt(() => withVariable(before, 'TOKEN', 'sk-new.1'));
        fc.pre(after !== undefined);
        expect(readEnvFile(after)).toEqual({ ...readEnvFile(before), TOKEN: 'sk-new.1' });
      }),
    );
  });
});

function attempt(work: () => string): string | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
