import { cp } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

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

const run = [...(await walk())].toSorted(([one], [other]) => one.localeCompare(other));
const total = run.reduce((sum, [, count]) => sum + count, 0);
const lines = run.map(([path, count]) => `${String(count).padStart(5)}  ${path}`);
console.log([`One message runs ${total} functions in ${run.length} files.`, ...lines].join('\n'));
session.disconnect();

/** Sends the question to a bot in a sandbox, with a model on loopback that answers at once. */
async function walk(): Promise<ReadonlyMap<string, number>> {
  const model = await startModelServer(({ model: name = '' }) => ({
    text: name.includes('haiku') ? summary : 'It is blue.',
  }));
  const environment = {
    DISCOCLAW_RATE_PER_MINUTE: '0',
    DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
    ANTHROPIC_BASE_URL: model.url,
  };
  const soul = new URL('../workspace/SOUL.example.md', import.meta.url);
  const counted = await withSandboxBot(
    (_, folder) => cp(soul, join(folder, 'workspace/SOUL.md')).then(() => environment),
    async (sandbox, bot) => {
      /** Says something in #general and waits until the bot has nothing left to do. */
      const say = async (text: string): Promise<void> => {
        const { id, channelId } = await sandbox.say({ as: 'alice', in: '#general', text });
        await sandbox.waitForReply({ in: channelId, after: id });
        await sandbox.delivered();
        await bot.idle();
        await delay(quietMs);
        await bot.idle();
      };
      for (const item of items) await say(`!memory remember ${item}`);
      await say('@Discoclaw Good morning!');
      return functionsRunBy(() => say('@Discoclaw What colour is my teapot?'));
    },
  );
  await model.close();
  return counted;
}

/** How many functions were called while `work` ran, by path below `src`. */
async function functionsRunBy(work: () => Promise<void>): Promise<ReadonlyMap<string, number>> {
  await session.post('Profiler.takePreciseCoverage');
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const source = new URL('../src/', import.meta.url).href;
  const counted = new Map<string, number>();
  for (const { url, functions } of result) {
    if (!url.startsWith(source) || url.startsWith(`${source}sandbox/`)) continue;
    // Not the module itself, which begins at 0, and not the initialisation of a class's fields.
    const called = functions.filter(
      ({ functionName, ranges: [whole] }) =>
        whole !== undefined && whole.count > 0 && whole.startOffset > 0 && !functionName.startsWith('<'),
    );
    if (called.length > 0) counted.set(url.slice(source.length), called.length);
  }
  return counted;
}
