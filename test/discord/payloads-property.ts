import { expect } from 'vitest';

import type { TestSandbox } from '../support/sandbox/test-sandbox.ts';
import type { PayloadIds } from './support/documented-payloads.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { malformedFrames } from './support/malformed-payloads.ts';

/** Malformed payloads between two times that every channel is asked. */
const batch = 400;

/**
 * Sends the clients of a sandbox so many malformed payloads, and says something in each of its places after every few hundred. Rejects as `answered`
 * does, which resolves when the bot has taken up what was said; resolves with the number of times that it has.
 */
export async function playMalformedPayloads(
  server: TestSandbox,
  {
    count,
    seed,
    answered,
  }: { count: number; seed: number; answered: (place: string, text: string) => Promise<void> },
): Promise<number> {
  const { ids, places } = await payloadScene(server);
  const random = seededRandom(seed);
  let asked = 0;
  for (let sent = 0; sent < count; sent += batch) {
    for (const frame of malformedFrames(ids, random, Math.min(batch, count - sent))) server.sendRaw(frame);
    for (const place of places) {
      await answered(place, `Are you still there after ${sent + batch}, in ${place}?`);
      asked += 1;
    }
  }
  expect(asked).toBeGreaterThan(0);
  return asked;
}

/** The sandbox's own world with a thread, by ids, and the places where people speak. */
export async function payloadScene(server: TestSandbox) {
  const thread = await server.addThread({ as: 'alice', channel: '#general', name: 'a thread' });
  const { bot, people, guilds, channels } = await server.info();
  const dm = await server.openDm({ person: 'bob' });
  let fresh = 1_400_000_000_000_000_000n;
  const ids: PayloadIds = {
    guildId: named(guilds, 'Sandbox'),
    botId: bot.id,
    personId: named(people, 'bob'),
    channelIds: ['general', 'dev', 'secret'].map((name) => named(channels, name)),
    threadId: thread.id,
    dmId: dm.id,
    fresh: () => {
      fresh += 1n;
      return fresh.toString();
    },
  };
  return { ids, places: ['#general', '#dev', '#secret', thread.id, 'dm'] };
}

function named(ids: Readonly<Record<string, string>>, name: string): string {
  const id = ids[name];
  if (id === undefined) throw new Error(`The sandbox has no ${name}`);
  return id;
}
