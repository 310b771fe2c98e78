import { DiscordSnowflake } from '@sapphire/snowflake';
import { MessageType } from 'discord-api-types/v10';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Message } from '../../../src/sandbox/world/entities.ts';
import { createDefaultWorld } from '../../../src/sandbox/world/default-world.ts';
import { createMessage, messagePage } from '../../../src/sandbox/world/messages.ts';

function message(number: number): Message {
  return {
    id: (200_000_000_000_000_000n + BigInt(number)).toString(),
    channelId: '120000000000000001',
    authorId: '140000000000000001',
    type: MessageType.Default,
    text: String(number),
    createdAt: '2026-01-01T00:00:00.000Z',
    editedAt: null,
    attachments: [],
    embeds: [],
    components: [],
    mentionedIds: [],
    mentionsEveryone: false,
    replyTo: undefined,
    nonce: undefined,
    flags: 0,
    poll: undefined,
    fields: undefined,
    pinnedAt: null,
    reactions: new Map(),
    interaction: undefined,
    viewerId: undefined,
  };
}

const ten = Array.from({ length: 10 }, (_, index) => message(index));
const texts = (page: readonly Message[]): string => page.map(({ text }) => text).join(' ');
const id = (number: number): string => message(number).id;

it('has the moment that its id tells, also where the clock moved on meanwhile', () => {
  let milliseconds = Date.parse('2026-01-01T00:00:00Z');
  const world = createDefaultWorld({
    now: () => new Date(milliseconds++),
    ownedByTeam: false,
    privileged: { messageContent: true, guildMembers: true, presences: true },
  });
  const [channel] = world.channels.values();
  const [authorId] = world.users.keys();
  if (channel === undefined || authorId === undefined)
    throw new Error('the default world has people and channels');
  const sent = createMessage(world, { channel, authorId, text: 'hello' });
  expect(Date.parse(sent.createdAt)).toBe(DiscordSnowflake.timestampFrom(sent.id));
});

describe('a page of history', () => {
  it('is the newest messages, newest first', () => {
    expect(texts(messagePage(ten, { limit: 3 }))).toBe('9 8 7');
    expect(texts(messagePage(ten, { limit: 100 }))).toBe('9 8 7 6 5 4 3 2 1 0');
  });

  it('ends right before, or begins right after, a message, which is not part of it', () => {
    expect(texts(messagePage(ten, { limit: 3, before: id(5) }))).toBe('4 3 2');
    expect(texts(messagePage(ten, { limit: 3, after: id(5) }))).toBe('8 7 6');
  });

  it('lies around a message, also one that is gone', () => {
    expect(texts(messagePage(ten, { limit: 4, around: id(5) }))).toBe('6 5 4 3');
    expect(
      texts(
        messagePage(
          ten.filter(({ text }) => text !== '5'),
          { limit: 4, around: id(5) },
        ),
      ),
    ).toBe('7 6 4 3');
  });

  it('never holds more than the limit, and never a message twice', () => {
    const request = fc.record({
      limit: fc.integer({ min: 1, max: 100 }),
      cursor: fc.integer({ min: 0, max: 12 }).map(id),
      kind: fc.constantFrom('before', 'after', 'around'),
    });
    fc.assert(
      fc.property(request, ({ limit, cursor, kind }) => {
        const page = messagePage(ten, { limit, [kind]: cursor });
        expect(page.length).toBeLessThanOrEqual(limit);
        expect(new Set(page).size).toBe(page.length);
      }),
    );
  });
});
