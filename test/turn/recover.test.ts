import { describe, expect, it } from 'vitest';

import { RecentChanges } from '../../src/core/changes.ts';
import type { IncomingMessage } from '../../src/core/message.ts';
import type { SessionKey } from '../../src/core/place.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import type { LoggedMessage } from '../../src/memory/log/records.ts';
import { createOutbox, type Outbox, type PreparedReply } from '../../src/turn/outbox.ts';
import { askAgainLine, interruptedLine, keptBackLine } from '../../src/turn/reply.ts';
import { createRecovery, takeAwayErased, type RecoveryPorts } from '../../src/turn/recover.ts';
import { fakeReplies, type FakeRepliesOptions } from '../support/fake-replies.ts';
import { aliceId, generalId, publicPlace } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { secretPlace, session } from '../support/sessions.ts';
import { ownMark } from '../../src/core/turn-context.ts';

const now = new Date('2026-01-15T10:00:00Z');
const recent = snowflakeAt(new Date(now.getTime() - 60_000));
const old = snowflakeAt(new Date(now.getTime() - 600_000));

const question = { userId: aliceId, speakerName: 'Alice', place: publicPlace };

/** What a test replaces. */
type Changes = Omit<Partial<RecoveryPorts>, 'sessionLog'> & {
  readonly sessionLog?: Partial<RecoveryPorts['sessionLog']>;
};

/** Recovers a channel in which an answer was ready, or, with `begun`, only begun. */
async function start(
  messageId: string,
  changes: (outbox: Outbox) => Changes,
  { begun, ...prepared }: Partial<PreparedReply> & { begun?: readonly string[] } = {},
  fake: FakeRepliesOptions = {},
) {
  const outbox = createOutbox({ store: new MemoryStore(), changes: new RecentChanges() });
  const messageIds = prepared.messageIds ?? [messageId];
  if (begun !== undefined)
    await outbox.begin({
      ...question,
      messageIds,
      replyIds: [...begun],
      isAsked: prepared.isAsked,
      place: prepared.place ?? publicPlace,
    });
  if (begun === undefined || prepared.text !== undefined)
    await outbox.prepare({ ...question, messageIds, text: 'ready', ...prepared });
  const sent: string[] = [];
  const logged: string[] = [];
  const marks: (string | undefined)[] = [];
  const scheduled: SessionKey[] = [];
  const { sessionLog, ...ports } = changes(outbox);
  const recovery = createRecovery({
    outbox,
    sessionLog: {
      recordReply(_, { text, thirdPartyMark }) {
        logged.push(text);
        marks.push(thirdPartyMark);
        return Promise.resolve(true);
      },
      sessionsIn: () => Promise.resolve([session]),
      message: () => Promise.resolve('the question'),
      logged: async () => undefined,
      isUnanswered: () => Promise.resolve(false),
      ...sessionLog,
    },
    settings: { isMemoryOff: () => Promise.resolve(false) },
    people: { mayStore: () => Promise.resolve(true), erasedBy: () => Promise.resolve(() => false) },
    afterTurn: { schedule: (each) => scheduled.push(each) },
    finishChanges: () => Promise.resolve(),
    asking: new Set(),
    askAgain: () => {},
    replies: fakeReplies({ note: (step) => sent.push(step), ...fake }),
    presentPlace: (place) => Promise.resolve(place),
    clock: () => now,
    logger: recordingLogger(),
    ...ports,
  });
  await recovery.channel(generalId);
  await recovery.sessions(generalId, new AbortController().signal);
  return { recovery, outbox, sent, logged, marks, scheduled };
}

describe('recovery after a kill', () => {
  it.each([ownMark, recent, undefined])('logs an answer with its mark: %s [M5a]', async (thirdPartyMark) => {
    expect((await start(recent, () => ({}), { thirdPartyMark })).marks).toEqual([thirdPartyMark]);
  });

  it('keeps the answer to a command out of history, also where the kill came before it was noted', async () => {
    const { outbox, sent, logged } = await start(recent, () => ({}), { isCommand: true });
    expect(sent).toEqual([`send ready as ${recent.slice(-2)}`]);
    expect(logged).toEqual([]);
    expect(await outbox.isHidden(generalId, '900000000000000001')).toBe(true);
    expect(await outbox.isHandled(generalId, recent)).toBe(true);
  });

  it('sends no answer to a command of somebody who had everything erased since [K11]', async () => {
    const erasedAt = now.toISOString();
    const people = {
      mayStore: () => Promise.resolve(true),
      erasedBy: () => Promise.resolve((at: string) => at <= erasedAt),
    };
    const { outbox, sent } = await start(recent, () => ({ people }), { isCommand: true });
    expect(sent).toEqual([]);
    expect(await outbox.unsent(generalId)).toEqual([]);
  });

  it('keeps back what was made for a channel that has become public', async () => {
    for (const isCommand of [true, undefined]) {
      const { outbox, sent, logged } = await start(
        recent,
        () => ({ presentPlace: () => Promise.resolve(publicPlace) }),
        { place: secretPlace, ...(isCommand && { isCommand }) },
      );
      expect(sent).toEqual([`send ${keptBackLine} as ${recent.slice(-2)}`]);
      expect(logged).toEqual([]);
      expect(await outbox.isHidden(generalId, '900000000000000001')).toBe(true);
      expect(await outbox.isHandled(generalId, recent)).toBe(true);
    }
  });

  it.each([
    { reply: 'is whole and logged', isUnfinished: false },
    { reply: 'was only begun', isBegun: true, isUnfinished: true },
    { reply: 'is in no log', isUnlogged: true, isUnfinished: true },
    { reply: 'is handled', isBegun: true, isUnlogged: true, isHandled: true, isUnfinished: false },
  ])('says of a reply that $reply whether it is to be made again: $isUnfinished', async (given) => {
    const { recovery, outbox } = await start(old, () => ({
      sessionLog: {
        isUnanswered: (of, id) =>
          Promise.resolve(given.isUnlogged === true && id === recent && of.userId === aliceId),
      },
    }));
    if (given.isBegun) await outbox.begin({ ...question, messageIds: [recent], replyIds: [] });
    if (given.isHandled) await outbox.markHandled(generalId, [recent]);
    const message = { id: recent, channelId: generalId, userId: aliceId };
    expect(await recovery.isUnfinished(message)).toBe(given.isUnfinished);
  });

  it('sends no answer to what was forgotten while it waited to be sent [K4]', async () => {
    const { outbox, sent, logged } = await start(recent, (known) => ({
      outbox: { ...known, hiddenIn: () => Promise.resolve((id) => id === recent) },
    }));
    expect([...sent, ...logged]).toEqual([]);
    expect(await outbox.unsent(generalId)).toEqual([]);
  });

  it('takes away what stands of an answer whose question was deleted meanwhile', async () => {
    const taken: SessionKey[] = [];
    const { outbox, sent } = await start(
      recent,
      () => ({
        sessionLog: { message: (of) => Promise.resolve(void taken.push(of)) },
      }),
      { begun: ['900000000000000005'] },
    );
    expect(sent).toEqual(['withdraw']);
    expect(taken).toEqual([session]);
    expect(await outbox.isHandled(generalId, recent)).toBe(true);
  });

  it.each<[string, Partial<RecoveryPorts>]>([
    ['memory is off', { settings: { isMemoryOff: () => Promise.resolve(true) } }],
    [
      'the person has paused',
      {
        people: { mayStore: () => Promise.resolve(false), erasedBy: () => Promise.resolve(() => false) },
      },
    ],
  ])('asks again and logs nothing where %s, since no log tells of a deletion [K9]', async (_where, off) => {
    const nothingLogged = {
      recordReply: () => Promise.reject(new Error('logged')),
      message: () => Promise.resolve(undefined),
    };
    const changes = () => ({ ...off, sessionLog: nothingLogged });
    const begun = await start(recent, changes, { begun: ['900000000000000005'] });
    expect(begun.sent).toEqual([]);
    expect(await begun.outbox.isHandled(generalId, recent)).toBe(false);
    const ready = await start(recent, changes);
    expect(await ready.outbox.isHandled(generalId, recent)).toBe(true);
  });
});

function after(messageId: string): string {
  return `${messageId.slice(-1)}e`;
}

describe('recovery of a reply that people saw the beginning of', () => {
  const standing = '900000000000000007';

  it('leaves it to be asked again, no part of history, also where its first message was posted just before the kill', async () => {
    for (const begun of [[standing], []]) {
      const { outbox, sent } = await start(
        recent,
        () => ({}),
        { begun },
        { found: { questionExists: true, ids: [standing] } },
      );
      expect(sent).toEqual([]);
      expect(await outbox.isHandled(generalId, recent)).toBe(false);
      expect(await outbox.isUnfinished(generalId, recent)).toBe(true);
      expect(await outbox.isHidden(generalId, standing)).toBe(true);
    }
  });

  it('lets it stand, marked, when it is older than five minutes', async () => {
    for (const text of [undefined, 'ready']) {
      const { outbox, sent, logged } = await start(old, () => ({}), {
        begun: [standing],
        ...(text && { text }),
      });
      expect(sent).toEqual([`footer ${interruptedLine}`]);
      expect(logged).toEqual([]);
      expect(await outbox.isHandled(generalId, old)).toBe(true);
      expect(await outbox.unfinished(generalId)).toEqual([]);
    }
  });

  it('takes it away where the message itself is gone, and leaves another one that it answered to be asked again', async () => {
    const other = snowflakeAt(new Date(now.getTime() - 61_000));
    const { outbox, sent } = await start(
      recent,
      () => ({}),
      { begun: [standing], messageIds: [other, recent] },
      { found: { questionExists: false, ids: [] } },
    );
    expect(sent).toEqual(['withdraw']);
    expect(await outbox.unfinished(generalId)).toEqual([]);
    expect(await outbox.isHandled(generalId, recent)).toBe(true);
    expect(await outbox.isHandled(generalId, other)).toBe(false);
  });

  it('takes it away where the channel has become public', async () => {
    for (const [messageId, text] of [
      [old, undefined],
      [recent, 'ready'],
    ] as const) {
      const { sent, logged } = await start(
        messageId,
        () => ({ presentPlace: () => Promise.resolve(publicPlace) }),
        { begun: [standing], place: secretPlace, ...(text && { text }) },
      );
      expect(sent).toEqual(['withdraw', `send ${keptBackLine} as ${after(messageId)}`]);
      expect(logged).toEqual([]);
    }
  });
});

describe('recovery of an `/ask` [EW2]', () => {
  const place = { audience: 'dm', channelId: generalId, homeId: generalId } as const;
  const logged: LoggedMessage = {
    type: 'message',
    role: 'user',
    visibility: 'dm',
    homeId: generalId,
    id: recent,
    authorId: aliceId,
    author: 'Alice',
    at: now.toISOString(),
    text: 'the question',
    attachments: ['notes.txt'],
  };
  /** What stood where it was asked, which nobody can reach any more. */
  const begun = ['900000000000000007'];

  /** Recovers one, with its words in the log as `sessionLog` says; resolves with what was asked again too. */
  async function startAsked(
    messageId: string,
    { sessionLog, ...changes }: Changes,
    prepared: Partial<PreparedReply> = {},
  ) {
    const again: Omit<IncomingMessage, 'isOwner'>[] = [];
    const isInLog = { logged: async () => logged, isUnanswered: async () => true, ...sessionLog };
    const started = await start(
      messageId,
      () => ({ askAgain: (message) => void again.push(message), ...changes, sessionLog: isInLog }),
      { begun, isAsked: true, place, ...prepared },
    );
    return { ...started, again, isHandled: await started.outbox.isHandled(generalId, messageId) };
  }

  it('asks it again with the words of the log, its file by name only, and looks for no message of it on Discord', async () => {
    const { again, sent, isHandled } = await startAsked(recent, {
      replies: { ...fakeReplies(), find: () => Promise.reject(new Error('It stands in no channel')) },
    });
    expect(again).toEqual([
      {
        id: recent,
        channelId: generalId,
        author: { id: aliceId, name: 'Alice', kind: 'human' },
        text: 'the question',
        at: logged.at,
        attachments: ['notes.txt'],
        files: [{ name: 'notes.txt', size: 0, url: '' }],
        place,
        askedIn: place,
      },
    ]);
    expect(sent).toEqual([]);
    expect(isHandled).toBe(false);
  });

  it('sends the answer that was ready whole, and not into what stood where it was asked', async () => {
    const { again, sent, logged: answers } = await startAsked(recent, {}, { text: 'ready' });
    expect(sent).toEqual([`send ready as ${recent.slice(-2)}`]);
    expect(answers).toEqual(['ready']);
    expect(again).toEqual([]);
  });

  it('does nothing about one that the log has the answer to: it was shown before that', async () => {
    for (const text of [undefined, 'ready']) {
      const { again, sent, isHandled } = await startAsked(
        recent,
        { sessionLog: { isUnanswered: async () => false } },
        text === undefined ? {} : { text },
      );
      expect({ again, sent, isHandled }).toEqual({ again: [], sent: [], isHandled: true });
    }
  });

  it.each<[string, string, Changes]>([
    ['is in no log', recent, { sessionLog: { logged: async () => undefined } }],
    ['is older than five minutes', old, {}],
  ])('says to ask again where it %s', async (_, messageId, changes) => {
    const { again, sent, isHandled } = await startAsked(messageId, changes);
    expect({ again, sent }).toEqual({ again: [], sent: [`send ${askAgainLine} as ${messageId.slice(-2)}`] });
    expect(isHandled).toBe(true);
  });

  it('says nothing to somebody who had everything erased since [K11]', async () => {
    const people = { mayStore: async () => true, erasedBy: async () => () => true };
    const { again, sent, isHandled } = await startAsked(recent, { people });
    expect({ again, sent, isHandled }).toEqual({ again: [], sent: [], isHandled: true });
  });

  it('leaves alone what this process is answering', async () => {
    for (const text of [undefined, 'ready']) {
      const asking = new Set([recent]);
      const { again, sent, isHandled } = await startAsked(
        recent,
        { asking },
        text === undefined ? {} : { text },
      );
      expect({ again, sent, isHandled }).toEqual({ again: [], sent: [], isHandled: false });
    }
  });
});

it('takes away what was shown of an answer to somebody who has had everything erased, and keeps it out of history till then [K11]', async () => {
  const outbox = createOutbox({ store: new MemoryStore(), changes: new RecentChanges() });
  const shown = '900000000000000005';
  await outbox.begin({ ...question, messageIds: [recent], replyIds: [shown] });
  await outbox.begin({ ...question, messageIds: [old], replyIds: [] });
  const steps: string[] = [];
  const ports = {
    outbox,
    replies: fakeReplies({ note: (step) => steps.push(step) }),
    logger: recordingLogger(),
  };
  for (const reply of await outbox.erase(aliceId, now.toISOString(), [generalId]))
    await takeAwayErased(ports, reply);
  expect(steps).toEqual(['withdraw']);
  expect(await outbox.isHidden(generalId, shown)).toBe(true);
  expect(await outbox.unfinished(generalId)).toEqual([]);
});
