import { setTimeout } from 'node:timers/promises';

import { createLogger } from '../../src/observability/logger.ts';
import { createDatabase } from '../../src/storage/postgres/database.ts';
import { startPostgresServer } from '../../test/support/postgres-server.ts';
import { placesOfShards } from '../../test/support/two-shards.ts';
import { openStage, startVersion } from './bots.ts';
import type { Bench, Subject } from './measured.ts';
import { startInstantModel } from './turn-speed.ts';
import { ours } from './versions.ts';

const shards = 4;
const rounds = 11;
/** Of each person in each place, one after the other. */
const turnsARound = 10;
/** From one to the next: one process and two carry the same, and neither waits for the fifty requests a second that Discord takes. Milliseconds. */
const paceMs = 1000;
/** In which a process warms up: one of two as often as one alone. */
const warmUpTurns = 40;
const people = ['alice', 'bob', 'carol'];
/** What follows behind the answers is done by then; milliseconds. */
const restMs = 3000;

/**
 * What a turn costs where the shards are in two processes, beside one with all of them: over databases of one server, with three people who each talk in a
 * server of every shard and in direct messages at once. Turns a second of the bot's own processes, the one that starts them included.
 */
export async function benchProcesses(bench: Bench): Promise<void> {
  const server = await startPostgresServer();
  const model = await startInstantModel();
  const database = createDatabase({
    url: server.url,
    logger: createLogger({ level: 'warn' }),
    connections: 1,
    patienceMs: 5000,
  });
  const open = async (processes: number): Promise<Subject<'turns'>> => {
    await database.query({ text: `create database processes_${processes}` });
    const stage = await openStage({ sharding: { shards, maxConcurrency: shards } });
    const { sandbox, folder } = stage;
    const places = (await placesOfShards(sandbox, shards)).map(({ channel }) => channel);
    const bot = await startVersion(ours, {
      sandbox,
      folder,
      environment: {
        MODEL_URL: model.url,
        DISCOCLAW_STORE: `${server.url.replace(/\w+$/u, '')}processes_${processes}`,
        DISCOCLAW_SHARDS: String(shards),
        DISCOCLAW_PROCESSES: String(processes),
      },
    });
    const talk = async (as: string, place: string, turns: number, pace: number) => {
      for (let turn = 0; turn < turns; turn += 1) {
        const text = `What is teapot ${turn}?`;
        const paced = setTimeout(pace);
        const said = await sandbox.say({ as, in: place, text, mentionBot: !place.startsWith('@') });
        await sandbox.waitForReply({ in: said.channelId, after: said.id, timeoutMs: 60_000 });
        await paced;
      }
    };
    const conversations = people.flatMap((as) => [...places, `@${as}`].map((place) => ({ as, place })));
    await Promise.all(conversations.map(({ as, place }) => talk(as, place, processes * warmUpTurns, 0)));
    return {
      async sample() {
        const before = await bot.cpuWithChildren();
        await Promise.all(
          conversations.map(async ({ as, place }, index) => {
            // All through the time, not all at once.
            await setTimeout((paceMs * index) / conversations.length);
            await talk(as, place, turnsARound, paceMs);
          }),
        );
        await setTimeout(restMs);
        const seconds = ((await bot.cpuWithChildren()) - before) / 1000;
        return { turns: (conversations.length * turnsARound) / seconds };
      },
      async close() {
        await bot.stop();
        await stage.close();
      },
    };
  };
  try {
    await bench.compare({
      rows: { turns: ['turns a second of processor, in two processes', 'turns/s'] },
      rounds,
      floor: { name: 'the same in one process', subject: await open(1) },
      open: (version) => (version === ours ? open(2) : Promise.resolve(undefined)),
    });
  } finally {
    await database.close();
    model.close();
    await server.dispose();
  }
}
