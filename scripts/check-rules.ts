import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { findOddWords } from './plain-words.ts';

/**
 * Checks the rules of the tree at the working folder: each id such as `[D3]` that code, tests or documentation cite stands in
 * docs/rules.md, once, and each rule there is named by a test, in a title or in a comment of a file that has tests. Nothing in src
 * uses a clock that a simulator cannot replace. Comments, names, texts and pages are in plain English.
 */
const rulesPath = 'docs/rules.md';
/** Names what it looks for. */
const wordsPath = 'scripts/plain-words.ts';
const searched = [
  'src',
  'test',
  'scripts',
  'docs',
  '.github',
  'ARCHITECTURE.md',
  'README.md',
  'CHANGELOG.md',
];

/** `[D3]`, `[M5a]`. A chapter's number after `§` names nothing that a reader could look up here, and so is never known. */
const citation = /\[(?<id>[A-Z]{1,2}\d+[a-z]?|§\d+)\]/gu;
const rule = /^- \[(?<id>[A-Z]{1,2}\d+[a-z]?)\] \S/u;
const declaresTests = /^\s*(?:describe|it|test)\b/mu;

/** Clocks and waits that go by the real time whatever a simulator does, and what runs outside of it. */
const realTime =
  /\b(?:Atomics|child_process|eventLoopUtilization|hrtime|node:cluster|perf_hooks|scheduler|timeOrigin|uptime|watchFile|worker_threads)\b/gu;
/** What a simulator replaces as a whole: the disk, and further processes. */
const replaced: ReadonlySet<string> = new Set([
  'child_process in src/bot/processes.ts',
  'child_process in src/storage/files/file-system.ts',
]);

function filesOf(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return /\.(?:md|c?[jt]s|mjs|ya?ml)$/u.test(path) ? [path] : [];
  return readdirSync(path).flatMap((name) => filesOf(join(path, name)));
}

const rules = new Map<string, number>();
for (const line of readFileSync(rulesPath, 'utf8').split('\n')) {
  const id = rule.exec(line)?.groups?.['id'];
  if (id !== undefined) rules.set(id, (rules.get(id) ?? 0) + 1);
}

const tested = new Set<string>();
const problems: string[] = [];
for (const path of searched.flatMap(filesOf)) {
  const text = readFileSync(path, 'utf8');
  const isTest = path.startsWith('test/') && declaresTests.test(text);
  if (path !== wordsPath) problems.push(...findOddWords(path, text));
  const isSimulated = path.startsWith('src/') && !path.startsWith('src/sandbox/');
  for (const [index, line] of text.split('\n').entries()) {
    for (const { groups: { id = '' } = {} } of line.matchAll(citation)) {
      if (!rules.has(id)) problems.push(`unknown rule: [${id}] in ${path}:${index + 1}`);
      if (isTest) tested.add(id);
    }
    for (const [name] of isSimulated ? line.matchAll(realTime) : [])
      if (!replaced.has(`${name} in ${path}`)) problems.push(`real time: ${name} in ${path}:${index + 1}`);
  }
}

const twice = [...rules].filter(([, count]) => count > 1).map(([id]) => `rule stated twice: [${id}]`);
const untested = [...rules.keys()]
  .filter((id) => !tested.has(id))
  .map((id) => `rule without a test: [${id}]`);
problems.push(...twice, ...untested);
for (const problem of problems) console.error(problem);
if (rules.size === 0) console.error(`no rules in ${rulesPath}`);
if (rules.size === 0 || problems.length > 0) process.exitCode = 1;
else console.log(`rules: ${rules.size}, each with a test; no odd words`);
