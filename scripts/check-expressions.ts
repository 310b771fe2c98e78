import { readdirSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { analyse } from 'scslre';
import ts from 'typescript';

/**
 * Checks with the analysis of eslint-plugin-regexp that every regular expression in `src/`, except the sandbox,
 * takes time linear in its input [L4]. Literals are read from the sources; those that modules build are seen by
 * loading the modules. Those that functions build are listed here, by file, with the reason why they are linear.
 */
const madeInFunctions: Readonly<Record<string, { readonly count: number; readonly because: string }>> = {
  'src/core/own-words.ts': { count: 1, because: 'runs of different characters between line ends' },
  'src/model/clean-answer.ts': { count: 6, because: 'escaped names, and marks that end by themselves' },
  'src/core/secrets.ts': { count: 1, because: 'escaped words with white space between them' },
};

/** Packages whose expressions need not be linear, with the reason. */
const exempt: Readonly<Record<string, string>> = {
  'chrono-node': 'it reads one item of 500 characters, or the 100 of a moment in words',
  semver: 'it reads versions of packages only',
  'postgres-interval': 'it reads columns of the type interval, of which there are none',
};

/** Two loops read the same there, and behind them nothing can fail, so that no other way to read the text is ever tried. */
const cannotFail: ReadonlySet<string> = new Set(
  [
    /^(\S*)\s*([\s\S]*)$/u,
    /^(?<indent>[ \t]*)(?<marker>`{3,}|~{3,})(?<info>[\s\S]*)$/u,
    /^[ \t]*(?:`{1,2}|~{1,2}|`{3,}[^`]*|~{3,}[\s\S]*)$/u,
  ].map(String),
);

/** A finite set of strings, which counts as one character. */
const stringProperty = String.raw`\p{RGI_Emoji}`;

const problems: string[] = [];
/** Each once, however many places have it: the stemmers build theirs again for every word. */
const checked = new Set<string>();

function check(source: string, flags: string, place: string): void {
  const expression = `/${source}/${flags}`;
  if (checked.has(expression)) return;
  checked.add(expression);
  const literal = { source: source.replaceAll(stringProperty, 'x'), flags: flags.replace('v', 'u') };
  if (analyse(literal).reports.length > 0 && !cannotFail.has(expression))
    problems.push(`${place}: two loops read the same: ${expression}`);
}

/** Checks the literals of a file; gives the number of expressions that its functions put together. */
function checkLiterals(path: string): number {
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  let made = 0;
  const visit = (node: ts.Node, isInFunction: boolean): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const { text } = node;
      const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
      check(text.slice(1, text.lastIndexOf('/')), text.slice(text.lastIndexOf('/') + 1), `${path}:${line}`);
    }
    const isMade =
      (ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText(file) === 'RegExp';
    if (isMade && isInFunction) made += 1;
    ts.forEachChild(node, (child) => visit(child, isInFunction || ts.isFunctionLike(node)));
  };
  visit(file, false);
  return made;
}

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.startsWith('sandbox/'))
  .map((path) => `src/${path}`);

for (const path of files) {
  const made = checkLiterals(path);
  const listed = madeInFunctions[path]?.count ?? 0;
  if (made !== listed)
    problems.push(`${path}: ${made} expressions are put together in functions, ${listed} are listed`);
}

const BuiltIn = RegExp;
let loading = '';
globalThis.RegExp = new Proxy(BuiltIn, {
  construct(_, [pattern, flags]: [string | RegExp, string | undefined]) {
    const made = new BuiltIn(pattern, flags);
    const makers = new Error('who makes it').stack ?? '';
    if (Object.keys(exempt).some((name) => makers.includes(`/node_modules/${name}/`))) return made;
    check(made.source, made.flags, `put together while loading ${loading}`);
    return made;
  },
});
for (const path of files) {
  // The process itself, which would start.
  if (path === 'src/main.ts') continue;
  loading = path;
  await import(pathToFileURL(path).href);
}
globalThis.RegExp = BuiltIn;

for (const problem of new Set(problems)) console.error(problem);
if (files.length === 0 || problems.length > 0) process.exitCode = 1;
else console.log(`expressions: ${checked.size} in ${files.length} files, all linear`);
