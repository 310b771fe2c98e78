import { readFileSync, writeFileSync } from 'node:fs';

import { configurationTable, envExample } from '../src/config/describe-variables.ts';

/** Writes what is generated from the configuration's schema: `.env.example` and the README's table. */
const readme = new URL('../README.md', import.meta.url);
const marked = /(<!-- configuration:begin -->\n)[\s\S]*?(<!-- configuration:end -->)/u;
const text = readFileSync(readme, 'utf8');
writeFileSync(
  readme,
  text.replace(marked, (_, begin: string, end: string) => `${begin}\n${configurationTable()}\n\n${end}`),
);
writeFileSync(new URL('../.env.example', import.meta.url), envExample());
