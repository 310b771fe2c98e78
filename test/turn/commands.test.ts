import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { RecentChanges } from '../../src/core/changes.ts';
import type { IncomingMessage, CommandCall } from '../../src/core/message.ts';
import type { PresentPlace } from '../../src/core/channels.ts';
import type { ReplyPort } from '../../src/core/reply.ts';
import { runCommand } from '../../src/turn/intake.ts';
import { createOutbox } from '../../src/turn/outbox.ts';
import { fakeReplies } from '../support/fake-replies.ts';
import { generalId, incoming } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { plainWrites } from '../support/plain-writes.ts';

const show = { name: 'memory', subcommand: 'show', options: {} };
const command = incoming({
  id: '400000000000000021',
  text: '!memory show',
  command: show,
});
const answerId = '900000000000000001';

/** Sends one message, which is there and seen at once. */
const sendOne: ReplyPort['send'] = async (_channelId, _text, _nonceBase, beforeSeen) => {
  await beforeSeen?.(answerId);
  return { kind: 'sent', ids: [answerId] };
};

function runnerWith(send: ReplyPort['send'], presentPlace: PresentPlace = (place) => Promise.resolve(place)) {
  const store = new MemoryStore();
  const outbox = createOutbox({ store, changes: new RecentChanges() });
  const run = (message: IncomingMessage, written: CommandCall) =>
    runCommand(message, written, {
      handle: (request) => Promise.resolve({ text: `the answer to ${request.command.subcommand}` }),
      begin: plainWrites().begin,
      outbox,
      replies: { ...fakeReplies(), send },
      presentPlace,
      logger: recordingLogger(),
    });
  return { run, store, outbox };
}

/** All that the channel's outbox has on disk. */
async function onDisk(store: MemoryStore): Promise<string> {
  const kind = { version: 1, schema: z.looseObject({ version: z.number() }) };
  return JSON.stringify(await store.read(`channels/${generalId}/outbox.json`, kind));
}

describe('a command', () => {
  it('and its answer are not part of history, and no text of the answer stays', async () => {
    const { run, store, outbox } = runnerWith(sendOne);
    await run(command, show);
    expect(await outbox.isHidden(generalId, command.id)).toBe(true);
    expect(await outbox.isHidden(generalId, answerId)).toBe(true);
    expect(await outbox.isHandled(generalId, command.id)).toBe(true);
    expect(await onDisk(store)).not.toContain('the answer');
  });

  it('has its answer on disk while it is sent, so that a restart can finish it', async () => {
    const { run, outbox } = runnerWith(async (...sent) => {
      expect(await outbox.unsent(generalId)).toMatchObject([{ isCommand: true, text: 'the answer to show' }]);
      return sendOne(...sent);
    });
    await run(command, show);
    expect(await outbox.unsent(generalId)).toEqual([]);
    expect(await outbox.isHidden(generalId, answerId)).toBe(true);
  });

  it('whose answer cannot be sent is not done again, and no text of the answer stays', async () => {
    const { run, store, outbox } = runnerWith(() => Promise.reject(new Error('no access')));
    await run(command, show);
    expect(await outbox.isHandled(generalId, command.id)).toBe(true);
    expect(await onDisk(store)).not.toContain('the answer');
  });

  it('keeps its answer back where the channel became public meanwhile', async () => {
    const sent: string[] = [];
    const send: ReplyPort['send'] = async (channelId, text, nonceBase, beforeSeen, buttons, mayShow) => {
      if ((await mayShow?.()) === false) return { kind: 'withheld' };
      sent.push(text);
      return sendOne(channelId, text, nonceBase, beforeSeen, buttons);
    };
    const { run } = runnerWith(send, (place) =>
      Promise.resolve({ ...place, audience: 'public', readers: ['@everyone'] }),
    );
    const inPrivate = { ...command, place: { ...command.place, audience: 'private' as const, readers: [] } };
    await run(inPrivate, show);
    await run({ ...command, id: '400000000000000022' }, show);
    expect(sent).toEqual([expect.stringContaining('became visible to more people'), 'the answer to show']);
  });
});
