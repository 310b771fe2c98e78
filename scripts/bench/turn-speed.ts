import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';

import { eventText, streamedMessage } from '../../test/support/model-answer.ts';
import { ask, openStage, startFloor, startOurs, type StartBot } from './bots.ts';
import { timeOf, type Bench, type Subject } from './measured.ts';

const rounds = 11;
const turnsARound = 10;
const items = 200;
/** What follows behind the answers is done by then, and discord.js, which sends fifty requests a second at most, may send as many again; milliseconds. */
const restMs = 1100;

/**
 * The way from a message to its reply, with a full memory, through a Discord and a model server on loopback that both answer at once; the processor's time
 * includes what comes after the replies.
 */
export async function benchTurns(bench: Bench): Promise<void> {
  const model = await startInstantModel();
  const subjectOf = async (start: StartBot, known: number): Promise<Subject<'time' | 'cpu'>> => {
    const { sandbox, folder } = await openStage();
    const bot = await start({ sandbox, folder, modelUrl: model.url });
    for (let item = 0; item < known; item += 1)
      await ask(sandbox, 'alice', `!memory remember I own teapot number ${item}`);
    return {
      async sample(round) {
        const before = await bot.cpu();
        const time = await timeOf(async () => {
          for (let turn = 0; turn < turnsARound; turn += 1)
            await ask(sandbox, 'alice', `What is teapot ${turnsARound * round + turn}?`);
        });
        await setTimeout(restMs);
        return { time: time / turnsARound, cpu: ((await bot.cpu()) - before) / turnsARound };
      },
      async close() {
        await bot.stop();
        await sandbox.close();
      },
    };
  };
  await bench.compare({
    rows: {
      time: ['a turn', 'ms', 'at most 2.2 ×'],
      cpu: ['a turn, processor', 'ms', 'at most 2.5 ×'],
    },
    rounds,
    ours: await subjectOf(startOurs, items),
    floor: {
      name: 'a bot that syncs both lines and asks the model with what was said before',
      subject: await subjectOf(startFloor, 0),
    },
  });
  model.close();
}

/** A model server that answers every call alike and at once. */
async function startInstantModel() {
  const server = createServer((request, response) => {
    request
      .resume()
      .once('end', () => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

const said = { blocks: [{ type: 'text', pieces: ['Hello.'] }], stop: 'end_turn' } as const;
const answer = streamedMessage(said).map(eventText).join('');
