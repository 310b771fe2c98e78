import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { cleanUpAtEnd } from '../test/support/processes.ts';
import { benchCost } from './bench/cost.ts';
import { benchEventLoop } from './bench/event-loop.ts';
import { benchEvents, benchMemory } from './bench/event-speed.ts';
import { benchItems } from './bench/items-speed.ts';
import { createBench, type Bench } from './bench/measured.ts';
import { benchPostgres, benchQueue } from './bench/postgres-speed.ts';
import { benchProcesses } from './bench/processes-speed.ts';
import { benchPrompts } from './bench/prompt-speed.ts';
import { benchRecall } from './bench/recall-speed.ts';
import { benchRemembering } from './bench/remember-speed.ts';
import { benchStart } from './bench/start-speed.ts';
import { benchStore } from './bench/store-speed.ts';
import { benchTurns } from './bench/turn-speed.ts';
import { ours, unpack } from './bench/versions.ts';

const benches: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
  store: benchStore,
  remember: benchRemembering,
  items: benchItems,
  prompt: benchPrompts,
  turn: benchTurns,
  events: benchEvents,
  start: benchStart,
  memory: benchMemory,
  recall: benchRecall,
  postgres: benchPostgres,
  queue: benchQueue,
  processes: benchProcesses,
  loop: benchEventLoop,
  cost: benchCost,
};

/** These need a PostgreSQL server, and one of them ten gigabytes of memory: they run where they are named. */
const onlyByName = ['postgres', 'queue', 'processes'];

const usage = `Measures how fast we are, each row beside the least that could be done for it, in turns in the same run: medians and quartiles.

npm run bench                       all of it but ${new Intl.ListFormat('en').format(onlyByName)}
npm run bench -- store turn         some of it: ${Object.keys(benches).join(', ')}
npm run bench -- --against f93f67a  beside another version of ourselves too
npm run bench -- --json FILE        also appends a line of JSON for each row
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { against: { type: 'string' }, json: { type: 'string' }, help: { type: 'boolean' } },
});
const unknown = positionals.filter((name) => !Object.hasOwn(benches, name));
if (values.help === true || unknown.length > 0) {
  process.stderr.write(usage);
  process.exit(unknown.length > 0 ? 2 : 0);
}

// Bots and folders of a run do not outlive it, however it ends.
process.env['TMPDIR'] = await mkdtemp(join(tmpdir(), 'bench-'));
cleanUpAtEnd(process.env['TMPDIR']);
const other = values.against === undefined ? undefined : await unpack(values.against);
const bench = createBench({ ours, other, json: values.json });
for (const [name, run] of Object.entries(benches))
  if (positionals.length === 0 ? !onlyByName.includes(name) : positionals.includes(name)) await run(bench);
// A request that the sandbox makes wait may still hold the process, as it may hold a bot that stops [G4].
process.exit();
