import { setTimeout as delay } from 'node:timers/promises';

import { snowflakeAt } from '../../src/core/snowflake.ts';
import { messageEventPayload } from '../../src/sandbox/payloads/message-payload.ts';
import { messagesOf } from '../../src/sandbox/world/messages.ts';
import type { TestSandbox } from '../../test/support/sandbox/test-sandbox.ts';
import { openStage, startBot } from './bots.ts';
import { tell } from './measured.ts';

const rounds = 5;
const burst = 20_000;
const people = 200;
/** Until a process that has nothing to do has come to rest; milliseconds. */
const restMs = 2000;

/** A start among channels in which somebody has spoken an hour ago, and messages that are not for the bot; each round begins with a new process. */
export async function benchEvents(): Promise<void> {
  let ago = 3_600_000;
  const { sandbox, folder } = await openStage({ now: () => new Date(Date.now() - ago) });
  const said = await addServers(sandbox);
  ago = 0;
  const [ready, idle, cpu] = [[], [], []] as [number[], number[], number[]];
  for (let round = 0; round < rounds; round += 1) {
    const bot = await startBot({ sandbox, folder });
    ready.push(bot.readyAfter);
    await delay(restMs);
    idle.push(await bot.residentMemory());
    // The first burst has the code compiled.
    let spent = NaN;
    for (let time = 0; time < 2; time += 1) {
      const before = await bot.cpu();
      sendBurst(sandbox, said);
      await sandbox.delivered();
      await delay(restMs);
      spent = ((await bot.cpu()) - before) * 1000;
    }
    cpu.push(spent / burst);
    await bot.stop();
  }
  tell(['ready, in 5 servers of 100 channels', 'ms'], ready);
  tell(['memory, idle', 'MB'], idle);
  tell(['an event that is not for the bot, processor', 'µs'], cpu);
  await sandbox.close();
}

/** 5 servers of 100 channels. Resolves with a message of each, as the gateway tells of it. */
async function addServers(sandbox: TestSandbox): Promise<readonly object[]> {
  const said: object[] = [];
  for (let server = 0; server < 5; server += 1) {
    const { id: guild } = await sandbox.addGuild({ name: `Busy ${server}`, owner: 'alice' });
    for (let index = 0; index < 100; index += 1) {
      const { id } = await sandbox.addChannel({ guild, name: `busy-${server}-${index}` });
      await sandbox.say({ as: 'alice', in: id, text: 'Hello.' });
      for (const message of messagesOf(sandbox.world, id))
        said.push(messageEventPayload(sandbox.world, message, { cdnUrl: '', readsContent: true }));
    }
  }
  return said;
}

/** Somebody talks to somebody else. */
function sendBurst(sandbox: TestSandbox, like: readonly object[]): void {
  const first = BigInt(snowflakeAt(new Date()));
  for (let index = 0; index < burst; index += 1) {
    const id = String(first + BigInt(index));
    const person = index % people;
    const authorId = String(300_000_000_000_000_000n + BigInt(person));
    const author = { id: authorId, username: `person${person}`, discriminator: '0', avatar: null };
    const content = `I think that we should rather take the train on day ${index}, it is much nicer than the car.`;
    const timestamp = new Date().toISOString();
    const d = { ...like[index % like.length], id, nonce: id, author, content, timestamp };
    sandbox.sendRaw({ t: 'MESSAGE_CREATE', d });
  }
}
