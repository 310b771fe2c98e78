import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

import writeFileAtomic from 'write-file-atomic';

import { catchupDefinition } from '../src/commands/catchup-command.ts';
import { writtenForm } from '../src/commands/command.ts';
import { memoryDefinition } from '../src/commands/memory-command.ts';
import { settingsDefinition } from '../src/commands/settings-command.ts';
import { statusDefinition } from '../src/commands/status-command.ts';
import { configurationTable, envExample } from '../src/config/variables.ts';
import type { CommandDefinition } from '../src/core/commands.ts';
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
    const slash = group === undefined ? '' : ` (\`/${name} ${group} ${subcommand}\`)`;
    return row(writtenForm(name, subcommand, options), `${does}${slash}`);
  });
  return [
    '| command | what it does |',
    '|---|---|',
    ...(rows.length === 0 ? [row(writtenForm(name, '', own), description)] : rows),
    ...(help === undefined ? [] : [row(`!${name} help`, help.description)]),
  ].join('\n');
}

function row(form: string, does: string): string {
  return `| \`${form.replaceAll('|', String.raw`\|`)}\` | ${does} |`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  for (const [path, text] of generatedFiles())
    await writeFileAtomic(fileURLToPath(new URL(path, root)), text);
