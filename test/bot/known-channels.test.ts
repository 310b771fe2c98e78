import { expect, it } from 'vitest';

import { createKnownChannels } from '../../src/bot/bot-ports.ts';
import { layersAlone } from '../support/layers-alone.ts';
import { readConfig } from '../../src/config/config.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import { createOutbox } from '../../src/turn/outbox.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { channel, dmPlace, messageId, silent } from '../support/sessions.ts';

it('the guild of a channel is known also where memory is off [X3]', async () => {
  const { config } = readConfig({ DISCOCLAW_TIMEZONE: 'UTC' });
  const store = new MemoryStore();
  const outbox = createOutbox({ store, changes: new RecentChanges() });
  const { sessionLog } = layersAlone(config, { store, logger: silent });
  const known = createKnownChannels(sessionLog, outbox);
  const [off, commandsOnly] = ['91', '92'].map((end) => channel(`c${end}`, `2000000000000000${end}`));
  const question = { userId: aliceId, speakerName: 'Alice', messageIds: [messageId(1)] };
  for (const place of [off ?? publicPlace, dmPlace]) {
    await outbox.prepare({ ...question, place, text: 'An answer' });
    await outbox.begin({ ...question, place, replyIds: [messageId(2)] });
  }
  await outbox.markHandled(commandsOnly?.channelId ?? '', [messageId(1)]);
  const channels = await known.knownChannels();
  const guilds = await Promise.all(channels.map(async ({ id }) => [id, await known.guildOf(id)] as const));
  expect(new Map(guilds)).toEqual(
    new Map([
      [off?.channelId, { kind: 'guild', guildId: publicPlace.guildId }],
      [dmPlace.channelId, { kind: 'dm' }],
      [commandsOnly?.channelId, { kind: 'unknown' }],
    ]),
  );
});
