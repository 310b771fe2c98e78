import { describe, expect, it } from 'vitest';

import { lossProblem } from '../../../src/memory/notebook/losses.ts';

const profile = '# Alice\n\n- Lives in Porto since 2019\n- Has a boat\n- Likes green tea\n';

function problem(after: string, { before = profile, elsewhere = [] as string[], said = '' } = {}) {
  return lossProblem(before, after, elsewhere, said);
}

const note = (count: number) => Array.from({ length: count }, (_, at) => `- Fern ${at}`);
const without = (line: string, instead = '') => profile.replace(`${line}\n`, instead);

describe('what background work may take from a note [A3]', () => {
  it.each([
    ['nothing but the summary line changes', `> Summary: tea\n${profile}`, {}],
    ['a new line keeps what was said', without('- Has a boat', '- Has a boat in the harbour\n'), {}],
    ['two lines become one', '# Alice\n- Lives in Porto since 2019\n- Has a boat, likes green tea', {}],
    ['the person says so', without('- Has a boat'), { said: 'I sold the boat' }],
    [
      'the person says otherwise',
      without('- Lives in Porto since 2019', '- Lives in Lisbon\n'),
      { said: 'I moved to Lisbon' },
    ],
    ['a line moves to another note', without('- Has a boat'), { elsewhere: ['# Sea\n- Has a boat\n'] }],
  ])('lets it be where %s', (_, after, around) => {
    expect(problem(after, around)).toBeUndefined();
  });

  it.each([
    ['a line goes without a reason', without('- Has a boat'), 'Has a boat'],
    ['a name or number goes', without('- Lives in Porto since 2019', '- Lives there since 2019\n'), 'Porto'],
    ['a heading goes', profile.replace('# Alice', '# Bob'), 'heading'],
    ['one new line stands for several', '# Alice\n- Watches herons\n', 'Has a boat'],
  ])('refuses it where %s', (_, after, named) => {
    expect(problem(after, { said: 'I watch herons' })).toContain(named);
  });

  it('takes five lines of a short note and a tenth of a long one, whatever is said', () => {
    const said = note(200).join('\n');
    const losing = (count: number, of: number) =>
      problem(note(of).slice(count).join('\n'), { before: note(of).join('\n'), said });
    expect(losing(5, 40)).toBeUndefined();
    expect(losing(6, 40)).toContain('6 lines');
    expect(losing(20, 200)).toBeUndefined();
    expect(losing(21, 200)).toContain('21 lines');
  });
});
