import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { runProcess } from '../support/processes.ts';

const root = new URL('../..', import.meta.url).pathname;

/** What `npm test` checks with. */
const checks = [
  'package.json',
  'tsconfig.json',
  '.oxlintrc.json',
  '.oxfmtrc.json',
  'scripts/check-expressions.ts',
  'scripts/check-rooms.ts',
  'scripts/check-rules.ts',
  'scripts/knip.json',
  'scripts/plain-words.ts',
  'scripts/rooms.cjs',
];

/** The other files of the tree, with which nothing is wrong. */
const sound = {
  'src/memory/settings/place-settings.ts': 'export const settingNames = 1;\n',
  'src/memory/notebook/format.ts': 'export const plainText = 1;\n',
  'src/page/style.ts': 'export const style = 1;\n',
  'test/core/numbers.test.ts': "import { used } from '../../src/core/numbers.ts';\n\nconsole.log(used);\n",
};

/** Written in pieces, so that the check of this file itself does not find them. */
const phrase = ['an', 'ew'].join('');

interface Outcome {
  readonly passes: boolean;
  readonly output: string;
}

const violations = [
  {
    what: 'a room that imports one it may not know [F1]',
    script: 'rooms',
    path: 'src/core/section.ts',
    text: "import { settingNames } from '../memory/settings/place-settings.ts';\nexport const planted = settingNames;",
    says: 'room-core: src/core/section.ts',
  },
  {
    what: 'a layer of memory that imports another one [F5]',
    script: 'rooms',
    path: 'src/memory/short-term/exchanges.ts',
    text: "import { plainText } from '../notebook/format.ts';\nexport const planted = plainText;",
    says: 'layers-apart: src/memory/short-term/exchanges.ts',
  },
  {
    what: 'the page loaded where it may be off [Y1]',
    script: 'rooms',
    path: 'src/bot/planted.ts',
    text: "import { style } from '../page/style.ts';\nexport const planted = style;",
    says: 'page-when-on: src/bot/planted.ts',
  },
  {
    what: 'a floating promise',
    script: 'lint:code',
    path: 'src/core/planted.ts',
    text: 'export function planted(): void {\n  Promise.resolve(1);\n}\n',
    says: 'no-floating-promises',
  },
  {
    what: 'the environment read outside config/',
    script: 'lint:code',
    path: 'src/turn/planted.ts',
    text: "export const planted = process.env['HOME'];\n",
    says: 'no-process-env',
  },
  {
    what: 'a wrong type',
    script: 'types',
    path: 'src/core/planted-type.ts',
    text: "export const planted: number = 'one';\n",
    says: "Type 'string' is not assignable to type 'number'",
  },
  {
    what: 'an export that nobody uses',
    script: 'dead-code',
    path: 'src/core/numbers.ts',
    text: 'export const used = 1;\nexport const planted = 1;\n',
    says: 'planted  src/core/numbers.ts',
  },
  {
    what: 'a rule that is cited and stated nowhere',
    script: 'rules',
    path: 'src/core/planted-rule.ts',
    text: `/** ${cited('Z98')} */\nexport {};\n`,
    says: `unknown rule: ${cited('Z98')} in src/core/planted-rule.ts:1`,
  },
  {
    what: 'a rule that no test names',
    script: 'rules',
    path: 'docs/rules.md',
    text: `- ${cited('Z99')} Nobody tests this.\n`,
    says: `rule without a test: ${cited('Z99')}`,
  },
  {
    what: 'a clock that a simulator cannot replace',
    script: 'rules',
    path: 'src/core/planted-clock.ts',
    text: 'export const planted = process.hrtime();\n',
    says: 'real time: hrtime in src/core/planted-clock.ts:1',
  },
  {
    what: 'a phrase that is not plain English',
    script: 'rules',
    path: 'src/core/planted-phrase.ts',
    text: `/** Read ${phrase} each time. */\nexport {};\n`,
    says: `odd words: "${phrase}" in src/core/planted-phrase.ts:1`,
  },
  {
    what: 'a regular expression that takes the square of its input [L4]',
    script: 'expressions',
    path: 'src/core/planted-expression.ts',
    text: 'export const planted = /\\s*,?\\s*$/u;\n',
    says: 'src/core/planted-expression.ts:1: two loops read the same',
  },
  {
    what: 'an expression that a function puts together and that nobody has judged [L4]',
    script: 'expressions',
    path: 'src/core/planted-function.ts',
    text: "export const planted = (word: string): RegExp => new RegExp(word, 'u');\n",
    says: 'src/core/planted-function.ts: 1 expressions are put together in functions, 0 are listed',
  },
];

/** An id as rules are cited; written out here it would be cited by this file. */
function cited(id: string): string {
  return `[${id}]`;
}

let tree: string;

/** A tree of few files, checked as the whole one is, with all violations in it: none hides another, and each check needs to run only once. */
beforeAll(async () => {
  tree = await mkdtemp(join(tmpdir(), 'discoclaw-planted-'));
  for (const path of checks) await cp(join(root, path), join(tree, path));
  await symlink(join(root, 'node_modules'), join(tree, 'node_modules'));
  const planted = violations.map(({ path, text }) => [path, text] as const);
  for (const [path, text] of [...Object.entries(sound), ...planted]) {
    await mkdir(dirname(join(tree, path)), { recursive: true });
    await writeFile(join(tree, path), text);
  }
});

afterAll(() => rm(tree, { recursive: true, force: true }));

/** What one of the scripts of `npm test` says in the tree. */
async function check(script: string): Promise<Outcome> {
  const { code, output, errors } = await runProcess('npm', ['run', '--silent', script], { cwd: tree });
  return { passes: code === 0, output: output + errors };
}

describe('the checks of npm test', () => {
  const outcomes = new Map<string, Promise<Outcome>>();
  beforeAll(() => {
    for (const { script } of violations) {
      if (!outcomes.has(script)) outcomes.set(script, check(script));
    }
  });

  it.each(violations)('$script fails on $what', async ({ script, says }) => {
    expect(await outcomes.get(script)).toEqual({ passes: false, output: expect.stringContaining(says) });
  });
});
