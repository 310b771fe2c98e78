import { readFileSync, writeFileSync } from 'node:fs';

import { configurationTable, envExample } from '../src/config/variables.ts';
import { requirementsText } from '../src/discord/required-permissions.ts';

/** Writes what is generated from the code: `.env.example`, and the README's passages between their marks. */
const readme = new URL('../README.md', import.meta.url);
const passages = { configuration: configurationTable(), needs: requirementsText() };
let text = readFileSync(readme, 'utf8');
for (const [name, passage] of Object.entries(passages)) {
  const marked = new RegExp(`(<!-- ${name}:begin -->\\n)[\\s\\S]*?(<!-- ${name}:end -->)`, 'u');
  text = text.replace(marked, (_, begin: string, end: string) => `${begin}\n${passage}\n\n${end}`);
}
writeFileSync(readme, text);
writeFileSync(new URL('../.env.example', import.meta.url), envExample());
