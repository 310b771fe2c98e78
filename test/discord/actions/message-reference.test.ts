import { describe, expect, it } from 'vitest';

import type { ChatMessage } from '../../../src/core/chat.ts';
import { ActionRefusal } from '../../../src/discord/actions/action.ts';
import { findMessage } from '../../../src/discord/actions/message-reference.ts';
import { incoming, publicPlace } from '../../support/incoming.ts';

const asked = incoming({ id: '400000000000000010' });
const context = { place: publicPlace, messages: [incoming({ id: '400000000000000009' }), asked] };

function said(id: string, kind: 'self' | 'human'): ChatMessage {
  return { ...asked, id, author: { ...asked.author, kind } };
}

const recent = [
  said('400000000000000001', 'self'),
  said('400000000000000002', 'self'),
  said('400000000000000003', 'human'),
  // The answer that is just being written.
  said('400000000000000011', 'self'),
];

function idOf(reference: string, changes: Partial<Parameters<typeof findMessage>[1]> = {}): string {
  return findMessage(reference, { ...context, ...changes }, recent);
}

describe('a message as the model names it', () => {
  it('is the one being answered, the one that it replies to, or the bot’s last one before', () => {
    expect(idOf('current')).toBe(asked.id);
    expect(idOf('my_last')).toBe('400000000000000002');
    const reply = incoming({
      id: '400000000000000012',
      repliesTo: { id: '400000000000000003', channelId: publicPlace.channelId },
    });
    expect(idOf('replied_to', { messages: [reply] })).toBe('400000000000000003');
  });

  it('is one of the channel by its id or link', () => {
    expect(idOf(' 400000000000000003 ')).toBe('400000000000000003');
    expect(
      idOf(`https://discord.com/channels/300000000000000001/${publicPlace.channelId}/400000000000000003`),
    ).toBe('400000000000000003');
  });

  it('is none of another channel, and nothing that names none', () => {
    expect(() =>
      idOf('https://discord.com/channels/300000000000000001/200000000000000099/400000000000000003'),
    ).toThrow(/another channel/u);
    const inThread = incoming({ repliesTo: { id: '400000000000000003', channelId: '200000000000000099' } });
    expect(() => idOf('replied_to', { messages: [inThread] })).toThrow(/another channel/u);
    expect(() => idOf('the first one')).toThrow(/^Name a message by/u);
    expect(() => idOf('replied_to')).toThrow(/replies to none/u);
    expect(() => findMessage('my_last', context, [])).toThrow(ActionRefusal);
  });
});
