import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { readEnvFile, withVariable } from '../../src/config/env-file.ts';

describe('a variable that is set in .env [O1]', () => {
  it.each([
    ['is added to an empty file', '', 'TOKEN=new\n'],
    ['is added at the end', 'A=1', 'A=1\nTOKEN=new\n'],
    ['takes the place of its value', '# mine\nTOKEN = "old" # why\nA=1\n', '# mine\nTOKEN=new\nA=1\n'],
    ['takes the place of the value that counts', 'TOKEN=a\nexport TOKEN=b\n', 'TOKEN=a\nTOKEN=new\n'],
    [
      'takes the place that a comment keeps for it',
      '# The token.\n# TOKEN=\n\n# A=1\n',
      '# The token.\nTOKEN=new\n\n# A=1\n',
    ],
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
