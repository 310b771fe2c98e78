import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';

/**
 * Checks who imports whom in the tree at the working folder. dependency-cruiser passes silently where it cannot read, so the
 * number of modules it saw must be the number of source files.
 */
interface Cruise {
  modules: { source: string }[];
  summary: { violations: { from: string; to: string; rule: { name: string } }[] };
}

const executable = new URL('../node_modules/.bin/depcruise', import.meta.url).pathname;
const rules = new URL('rooms.cjs', import.meta.url).pathname;
const output = execFileSync(executable, ['--config', rules, '--output-type', 'json', 'src'], {
  encoding: 'utf8',
  maxBuffer: 256 * 1024 * 1024,
});
const { modules, summary }: Cruise = JSON.parse(output);

const sources = existsSync('src')
  ? readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
  : [];
const seen = new Set(modules.map((module) => module.source));
const unseen = sources.filter((path) => !seen.has(`src/${path}`));
for (const path of unseen) console.error(`not read: src/${path}`);
for (const { from, to, rule } of summary.violations) console.error(`${rule.name}: ${from} → ${to}`);
if (sources.length === 0 || unseen.length > 0 || summary.violations.length > 0) process.exitCode = 1;
else console.log(`rooms: ${sources.length} files, no violations`);
