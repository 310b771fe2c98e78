import { describe, expect, it } from 'vitest';

import type { ChatMessage } from '../../../src/core/message.ts';
import { ActionRefusal, messageIn } from '../../../src/discord/actions/action.ts';
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

const history = { recent: () => Promise.resolve(recent) };

function idOf(reference: string, changes: Partial<Parameters<typeof messageIn>[1]> = {}): Promise<string> {
  return messageIn(reference, { ...context, ...changes }, history);
}

describe('a message as the model names it', () => {
  it('is the one being answered, the one that it replies to, or the bot’s last one before', async () => {
    await expect(idOf('current')).resolves.toBe(asked.id);
    await expect(idOf('my_last')).resolves.toBe('400000000000000002');
    const reply = incoming({
      id: '400000000000000012',
      repliesTo: { id: '400000000000000003', channelId: publicPlace.channelId },
    });
    await expect(idOf('replied_to', { messages: [reply] })).resolves.toBe('400000000000000003');
  });

  it('is never one of another channel, and nothing for an invalid name', async () => {
    await expect(
      idOf('https://discord.com/channels/300000000000000001/200000000000000099/400000000000000003'),
    ).rejects.toThrow(/another channel/u);
    const inThread = incoming({ repliesTo: { id: '400000000000000003', channelId: '200000000000000099' } });
    await expect(idOf('replied_to', { messages: [inThread] })).rejects.toThrow(/another channel/u);
    await expect(idOf('the first one')).rejects.toThrow(/^Name a message by/u);
    await expect(idOf('replied_to')).rejects.toThrow(/replies to none/u);
    const empty = { recent: () => Promise.resolve([]) };
    await expect(messageIn('my_last', context, empty)).rejects.toThrow(ActionRefusal);
  });
});
