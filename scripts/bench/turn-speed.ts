import { setTimeout } from 'node:timers/promises';

import { startModelServer } from '../../test/support/model-server.ts';
import { ask, openStage, startBot } from './bots.ts';
import { tell, timeOf } from './measured.ts';

const rounds = 11;
const turnsARound = 10;
const items = 200;
/** What follows behind the answers is done by then, and discord.js, which sends fifty requests a second at most, may send as many again; milliseconds. */
const restMs = 1100;

/**
 * The way from a message to its reply, with a full memory, through a Discord and a model server on loopback that both answer at once; the processor's time
 * includes what comes after the replies.
 */
export async function benchTurns(): Promise<void> {
  const model = await startModelServer(() => ({ text: 'Hello.' }));
  const { sandbox, folder } = await openStage();
  const bot = await startBot({ sandbox, folder, modelUrl: model.url });
  for (let item = 0; item < items; item += 1)
    await ask(sandbox, 'alice', `!memory remember I own teapot number ${item}`);
  const [times, cpu] = [[], []] as [number[], number[]];
  for (let round = -2; round < rounds; round += 1) {
    const before = await bot.cpu();
    const time = await timeOf(async () => {
      for (let turn = 0; turn < turnsARound; turn += 1)
        await ask(sandbox, 'alice', `What is teapot ${turnsARound * round + turn}?`);
    });
    await setTimeout(restMs);
    if (round < 0) continue;
    times.push(time / turnsARound);
    cpu.push(((await bot.cpu()) - before) / turnsARound);
  }
  tell(['a turn', 'ms'], times);
  tell(['a turn, processor', 'ms', 'at most 40 ms'], cpu);
  await bot.stop();
  await sandbox.close();
  await model.close();
}
