import { execFileSync } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { cleanUpAtEnd } from '../test/support/processes.ts';
import { benchBill } from './bench/bill.ts';
import { benchEvents } from './bench/event-speed.ts';
import { benchPages } from './bench/page-speed.ts';
import { benchRecall } from './bench/recall-speed.ts';
import { benchTurns } from './bench/turn-speed.ts';

const benches: Readonly<Record<string, () => Promise<void>>> = {
  turn: benchTurns,
  events: benchEvents,
  recall: benchRecall,
  page: benchPages,
  bill: benchBill,
};

const usage = `Measures how fast the bot is, and what the vendor would bill: medians [quartiles]. Compare runs on one machine that does nothing else.

npm run bench                   all of it
npm run bench -- turn recall    some of it: ${Object.keys(benches).join(', ')}
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { help: { type: 'boolean' } },
});
const unknown = positionals.filter((name) => !Object.hasOwn(benches, name));
if (values.help === true || unknown.length > 0) {
  process.stderr.write(usage);
  process.exit(unknown.length > 0 ? 2 : 0);
}

execFileSync(process.execPath, [join(import.meta.dirname, 'build.mjs')], { stdio: 'inherit' });
// Bots and folders of a run do not outlive it, however it ends.
process.env['TMPDIR'] = await mkdtemp(join(tmpdir(), 'bench-'));
cleanUpAtEnd(process.env['TMPDIR']);
for (const [name, run] of Object.entries(benches))
  if (positionals.length === 0 || positionals.includes(name)) await run();
// A request that the sandbox makes wait may still hold the process, as it may hold a bot that stops [G4].
process.exit();
