import { cp } from 'node:fs/promises';
import { Session, type Profiler } from 'node:inspector/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import type { SandboxServer } from '../src/sandbox/sandbox-server.ts';
import { startModelServer } from '../test/support/model-server.ts';
import { withSandboxBot } from './sandbox-bot.ts';

/**
 * Counts in how many files of `src`, the sandbox's aside, one message runs functions: a question in #general by somebody who has
 * durable items and a rolling summary, from the gateway's event to the last step after the turn. What ran while the bot started
 * does not count, nor does a module's code outside of its functions.
 */
const items = ['I own a blue teapot', 'I live in Lisbon', 'My sister is called Ada'];
const summary = 'Alice talks about her kitchen.';
/** Milliseconds of quiet after which a message is taken to be done with. */
const quietMs = 500;

// V8 misses functions that ran before it began to count, so it counts from the start, and what came before the question is discarded.
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

console.log(report(await walk()));
session.disconnect();

/** Sends the question to a bot in a sandbox, with a model on loopback that answers at once. */
async function walk(): Promise<ReadonlyMap<string, number>> {
  const model = await startModelServer(({ model: name = '' }) => ({
    text: name.includes('haiku') ? summary : 'It is blue.',
  }));
  const soul = new URL('../workspace/SOUL.example.md', import.meta.url);
  const environment = {
    DISCOCLAW_RATE_PER_MINUTE: '0',
    DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
    ANTHROPIC_BASE_URL: model.url,
  };
  const prepare = (_: SandboxServer, folder: string) =>
    cp(soul, join(folder, 'workspace', 'SOUL.md')).then(() => environment);
  const run = await withSandboxBot(prepare, async (sandbox, bot) => {
    /** Says something in #general and waits until the bot has nothing left to do. */
    const say = async (text: string): Promise<void> => {
      const said = await sandbox.say({ as: 'alice', in: '#general', text });
      await sandbox.waitForReply({ in: said.channelId, after: said.id });
      await sandbox.delivered();
      await bot.idle();
      await delay(quietMs);
      await bot.idle();
    };
    for (const item of items) await say(`!memory remember ${item}`);
    await say('@Discoclaw Good morning!');
    const before = model.requests.length;
    const counted = await functionsRunBy(() => say('@Discoclaw What colour is my teapot?'));
    const [prompt = '', later = ''] = model.requests.slice(before).map(({ raw }) => raw);
    // The whole conversation is still shown with the question, so the summary so far goes to the next summary only.
    const missing = [
      ...items.filter((text) => !prompt.includes(text)),
      ...(later.includes(summary) ? [] : [summary]),
    ];
    if (missing.length > 0) throw new Error(`The model was not sent: ${missing.join(', ')}`);
    return counted;
  });
  await model.close();
  return run;
}

/** How many functions were called while `work` ran, by path below `src`. */
async function functionsRunBy(work: () => Promise<void>): Promise<ReadonlyMap<string, number>> {
  await session.post('Profiler.takePreciseCoverage');
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const source = new URL('../src/', import.meta.url).href;
  return new Map(
    result
      .filter(({ url }) => url.startsWith(source) && !url.startsWith(`${source}sandbox/`))
      .map(({ url, functions }) => [url.slice(source.length), countCalled(functions)] as const)
      .filter(([, count]) => count > 0),
  );
}

/** Not counted: the module itself, which begins at 0, and the initialisation of a class's fields. */
function countCalled(functions: readonly Profiler.FunctionCoverage[]): number {
  return functions.filter(
    ({ functionName, ranges: [whole] }) =>
      whole !== undefined && whole.count > 0 && whole.startOffset > 0 && !functionName.startsWith('<'),
  ).length;
}

function report(run: ReadonlyMap<string, number>): string {
  const files = [...run].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const rooms = new Set(files.map(([path]) => path.split('/', 1)[0]));
  const total = (some: typeof files): string =>
    `${some.reduce((sum, [, count]) => sum + count, 0)} functions in ${some.length} files`;
  const lines = [...rooms].flatMap((room) => {
    const inRoom = files.filter(([path]) => path.split('/', 1)[0] === room);
    return [
      `\n${room}: ${total(inRoom)}`,
      ...inRoom.map(([path, count]) => `${String(count).padStart(5)}  ${path}`),
    ];
  });
  return [`One message runs ${total(files)}.`, ...lines].join('\n');
}
