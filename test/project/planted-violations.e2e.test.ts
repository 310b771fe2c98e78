import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { runProcess } from '../support/processes.ts';
import { copyOfTheTree } from './copy-of-the-tree.ts';

let tree: string;

beforeAll(async () => {
  tree = await copyOfTheTree();
});

afterAll(() => rm(tree, { recursive: true, force: true }));

interface Outcome {
  readonly passes: boolean;
  readonly output: string;
}

/** What one of the scripts of `npm test` says in the copy. */
async function check(script: string): Promise<Outcome> {
  const { code, output, errors } = await runProcess('npm', ['run', '--silent', script], { cwd: tree });
  return { passes: code === 0, output: output + errors };
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
    what: 'discord.js outside its room',
    script: 'rooms',
    path: 'src/turn/failure-line.ts',
    text: "import { Events } from 'discord.js';\nexport const planted = Events;",
    says: 'keeper-of-discordjs: src/turn/failure-line.ts',
  },
  {
    what: 'a layer of memory that imports another one [F5]',
    script: 'rooms',
    path: 'src/memory/short-term/exchanges.ts',
    text: "import { plainText } from '../notebook/format.ts';\nexport const planted = plainText;",
    says: 'layers-apart: src/memory/short-term/exchanges.ts',
  },
  {
    what: 'recall that imports more of a layer than its format',
    script: 'rooms',
    path: 'src/memory/recall/query.ts',
    text: "import { formerItems } from '../durable/items.ts';\nexport const planted = formerItems;",
    says: 'recall-reads-formats: src/memory/recall/query.ts',
  },
  {
    what: 'a floating promise',
    script: 'lint',
    path: 'src/core/planted.ts',
    text: 'export function planted(): void {\n  Promise.resolve(1);\n}\n',
    says: 'no-floating-promises',
  },
  {
    what: 'the environment read outside config/',
    script: 'lint',
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
    path: 'src/core/snowflake.ts',
    text: 'export const planted = 1;\n',
    says: 'planted',
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
    what: 'a regular expression that takes the square of its input [L4]',
    script: 'expressions',
    path: 'src/core/planted-expression.ts',
    text: 'export const planted = /\\s*,?\\s*$/u;\n',
    says: 'src/core/planted-expression.ts:1: two loops read the same',
  },
  {
    what: 'such an expression that a module puts together [L4]',
    script: 'expressions',
    path: 'src/core/planted-together.ts',
    text: "const words = 'planted|sown';\nexport const planted = new RegExp(`(?:${words}|\\\\s)+;`, 'u');\n",
    says: '(?:planted|sown|\\s)+;',
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

/** Plants all of them at once: none hides another, and each check needs to run only once. */
async function plantAll(): Promise<void> {
  for (const { path, text } of violations) {
    const planted = join(tree, path);
    const before = await readFile(planted, 'utf8').catch(() => undefined);
    await writeFile(planted, before === undefined ? text : `${before}\n${text}`);
  }
}

describe('the checks of npm test', () => {
  const outcomes = new Map<string, Promise<Outcome>>();
  beforeAll(async () => {
    await plantAll();
    for (const { script } of violations) {
      if (!outcomes.has(script)) outcomes.set(script, check(script));
    }
  });

  it.each(violations)('$script fails on $what', async ({ script, says }) => {
    expect(await outcomes.get(script)).toEqual({ passes: false, output: expect.stringContaining(says) });
  });
});
