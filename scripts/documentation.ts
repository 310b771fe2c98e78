import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

import writeFileAtomic from 'write-file-atomic';

import { catchupDefinition } from '../src/commands/catchup-command.ts';
import { memoryDefinition } from '../src/commands/memory-command.ts';
import { settingsDefinition } from '../src/commands/settings-command.ts';
import { statusDefinition } from '../src/commands/status-command.ts';
import { configurationTable, envExample } from '../src/config/variables.ts';
import type { CommandDefinition, OptionDefinition } from '../src/core/commands.ts';
import { requirementsText } from '../src/discord/permissions.ts';

const root = new URL('..', import.meta.url);

/** What is generated from the code, by path: `.env.example`, and pages with a passage between their marks. */
export function generatedFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['.env.example', envExample()],
    ['docs/configuration.md', withPassage('docs/configuration.md', configurationTable())],
    ['docs/permissions.md', withPassage('docs/permissions.md', requirementsText())],
    ['docs/commands.md', withPassage('docs/commands.md', commandTables())],
  ]);
}

/** @throws {Error} where the page has no marks. */
function withPassage(path: string, passage: string): string {
  const page = readFileSync(new URL(path, root), 'utf8');
  const marked = /(?<=<!-- generated:begin -->\n)[\s\S]*?(?=<!-- generated:end -->)/u;
  if (!marked.test(page)) throw new Error(`${path} has no place for what is generated`);
  return page.replace(marked, () => `\n${passage}\n\n`);
}

function commandTables(): string {
  return [memoryDefinition, catchupDefinition, settingsDefinition, statusDefinition]
    .map(commandTable)
    .join('\n\n');
}

function commandTable({
  name,
  description,
  options: own = {},
  subcommands = {},
  help,
}: CommandDefinition): string {
  const shown = Object.entries(subcommands).filter(([, { isHidden }]) => isHidden !== true);
  const rows = shown.map(([subcommand, { description: does, options = {}, group }]) => {
    const given = Object.entries(options).map(([option, definition]) => optionForm(option, definition));
    const slash = group === undefined ? '' : ` (\`/${name} ${group} ${subcommand}\`)`;
    return row([name, subcommand, ...given].join(' '), `${does}${slash}`);
  });
  return [
    '| command | what it does |',
    '|---|---|',
    ...(rows.length === 0
      ? [row([name, ...Object.keys(own).map((option) => `[${option}]`)].join(' '), description)]
      : rows),
    ...(help === undefined ? [] : [row(`${name} help`, help.description)]),
  ].join('\n');
}

function row(form: string, does: string): string {
  return `| \`!${form.replaceAll('|', String.raw`\|`)}\` | ${does} |`;
}

/** An option as one writes it: `<text>`, `[id]`, `mentions|everything`, `[channel|server]`; a file is attached. */
function optionForm(name: string, option: OptionDefinition): string {
  const isOptional = option.isOptional === true;
  const said = option.kind === 'attachment' ? `attached ${name}` : name;
  if (option.kind !== 'choice') return isOptional ? `[${said}]` : `<${said}>`;
  const values = option.choices.map(({ value }) => value).join('|');
  return isOptional ? `[${values}]` : values;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  for (const [path, text] of generatedFiles())
    await writeFileAtomic(fileURLToPath(new URL(path, root)), text);
