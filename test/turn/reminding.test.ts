import { describe, expect, it } from 'vitest';

import type { Place } from '../../src/core/place.ts';
import type { ReminderPost } from '../../src/core/reply.ts';
import type { Reminder } from '../../src/memory/reminders/reminders.ts';
import { createReminding } from '../../src/turn/reminding.ts';
import { privatePlace } from '../commands/harness.ts';
import { aliceId } from '../support/incoming.ts';
import { plainWrites } from '../support/plain-writes.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { messageId } from '../support/sessions.ts';

const at = '2026-11-26T10:00:00.000Z';
const reminder: Reminder = {
  id: '1a2b3c4d',
  text: 'call mum',
  at,
  where: 'here',
  place: privatePlace,
  messageId: messageId(1),
  setAt: '2026-11-26T09:00:00.000Z',
};

/** What became of the reminder, due in the private channel where it was set. */
async function remind(
  present: Place | undefined,
  { begunAt, ...post }: Partial<ReminderPost> & { readonly begunAt?: Date } = {},
) {
  /** Where it was posted: the channel, or `dm`. */
  const posted: string[] = [];
  const came: boolean[] = [];
  const { remind: say } = createReminding({
    reminders: {
      due: () => Promise.resolve([reminder]),
      begin: () => Promise.resolve(begunAt),
      came: async (_work, _id, wasDelivered) => void came.push(wasDelivered),
    },
    begin: plainWrites().begin,
    channels: { placeOf: () => Promise.resolve(present) },
    post: {
      mayRead: () => Promise.resolve(true),
      isThere: () => Promise.resolve(false),
      async send({ channelId }) {
        posted.push(channelId ?? 'dm');
        return 'sent';
      },
      ...post,
    },
    outbox: { hide: () => Promise.resolve() },
    buttonsUnder: () => [],
    clock: () => new Date(at),
    logger: recordingLogger(),
  });
  await say(aliceId);
  return { posted, came };
}

const others: Place = { ...privatePlace, readers: [...(privatePlace.readers ?? []), '310000000000000009'] };

describe('a reminder of a private channel [RM3]', () => {
  it('comes there while nobody else can read it', async () => {
    expect(await remind(privatePlace)).toEqual({ posted: [privatePlace.channelId], came: [true] });
  });

  it.each<[string, Place | undefined, Partial<ReminderPost>]>([
    ['others can read the channel by now', others, {}],
    ['the channel is gone', undefined, {}],
    ['its person cannot read the channel any more', privatePlace, { mayRead: () => Promise.resolve(false) }],
  ])('comes by direct message where %s', async (_, present, post) => {
    expect(await remind(present, post)).toEqual({ posted: ['dm'], came: [true] });
  });
});

describe('a reminder that was being said when the bot was killed [RM4]', () => {
  it.each([
    ['is not said again where it stands there', true, []],
    ['is said where it does not', false, [privatePlace.channelId]],
  ])('%s', async (_, stands, posted) => {
    const isThere = () => Promise.resolve(stands);
    expect(await remind(privatePlace, { begunAt: new Date(at), isThere })).toEqual({ posted, came: [true] });
  });
});
