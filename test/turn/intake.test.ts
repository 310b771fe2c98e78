import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { RecentChanges } from '../../src/core/changes.ts';
import type { PresentPlace } from '../../src/core/channels.ts';
import { createKeyedQueue } from '../../src/core/keyed-queue.ts';
import type { IncomingMessage, CommandCall } from '../../src/core/message.ts';
import type { ReplyPort } from '../../src/core/reply.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import { processTimer } from '../../src/core/time.ts';
import { createIntake, type IntakePorts, runCommand } from '../../src/turn/intake.ts';
import { createOutbox } from '../../src/turn/outbox.ts';
import { createSessionTurns, type MayBegin } from '../../src/turn/sessions.ts';
import { createWaitingReactions } from '../../src/turn/waiting-reactions.ts';
import { fakeReplies } from '../support/fake-replies.ts';
import { aliceId, bobId, generalId, incoming } from '../support/incoming.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { plainWrites } from '../support/plain-writes.ts';
import { recordingLogger } from '../support/recording-logger.ts';

function handlersWith(
  erasedBy: IntakePorts['erasedBy'] = () => Promise.resolve(() => false),
  mayBegin?: MayBegin,
) {
  const turns: string[][] = [];
  const commands: string[] = [];
  const gates: (() => void)[] = [];
  const refused: string[] = [];
  const told: string[] = [];
  const recorded: string[] = [];
  const asking = new Set<string>();
  const recent = new RecentChanges();
  const outbox = createOutbox({ store: new MemoryStore(), changes: recent });
  const sessionTurns = createSessionTurns(
    async (messages: readonly IncomingMessage[]) => {
      turns.push(messages.map(({ text }) => text));
      await new Promise<void>((release) => gates.push(release));
      await outbox.markHandled(
        generalId,
        messages.map(({ id }) => id),
      );
    },
    recent,
    processTimer,
    mayBegin,
  );
  recent.subscribe((change) => sessionTurns.follow(change));
  const handlers = createIntake({
    turns: sessionTurns,
    waitingReactions: { while: (_, work) => work() },
    reactions: { refuse: (_, id) => refused.push(id) },
    replies: {
      tellRefused: ({ messageId }) => Promise.resolve(void told.push(messageId)),
      send: async (_, text) => {
        told.push(text);
        return { kind: 'sent', ids: [] };
      },
    },
    asking,
    recordAsked: async ({ text }) => void recorded.push(text),
    runCommand: async (message, { subcommand }) => {
      commands.push(subcommand);
      await outbox.hide(generalId, [message.id]);
      return outbox.markHandled(generalId, [message.id]);
    },
    commands: {
      command: ({ command: { subcommand } }) => {
        commands.push(subcommand);
        return Promise.resolve({ text: subcommand });
      },
      complete: () => Promise.resolve([]),
      menu: ({ name }) => {
        commands.push(name);
        return Promise.resolve({ text: name });
      },
    },
    begin: plainWrites().begin,
    commandOrder: createKeyedQueue(),
    changes: recent,
    record: (change) => Promise.resolve(recent.note(change)),
    erased: () => Promise.resolve(),
    erasedBy,
    lockedOut: async () => undefined,
    outbox,
    clock: () => new Date('2026-01-15T10:00:00.000Z'),
    logger: recordingLogger(),
  });
  return { handlers, turns, commands, gates, outbox, refused, told, recorded, asking, recent };
}

describe('what events lead to', () => {
  it('carries out a command once, though its proxy posts it again after the answer [G2a]', async () => {
    const { handlers, commands, outbox } = handlersWith();
    const command = { name: 'memory', subcommand: 'show', options: {} };
    const original = incoming({ command });
    await handlers.message(original);
    const copy = incoming({ id: '400000000000000100', command, originalId: original.id });
    // With its tags it was a turn that may have been answered.
    const other = incoming({ id: '400000000000000200', command, originalId: '400000000000000199' });
    await outbox.markHandled(generalId, ['400000000000000199']);
    await Promise.all([handlers.message(copy), handlers.message(other)]);
    expect(commands).toEqual(['show', 'show']);
    for (const ask of [outbox.isHandled, outbox.isHidden]) expect(await ask(generalId, copy.id)).toBe(true);
  });

  it('shows once that a message cannot be answered in its channel, and does not answer it later', async () => {
    const { handlers, turns, told } = handlersWith();
    const message = incoming();
    await Promise.all([handlers.unanswerable(message), handlers.unanswerable(message)]);
    await handlers.unanswerable(message);
    await handlers.message(message);
    expect({ told, turns }).toEqual({ told: [message.id], turns: [] });
  });

  it('keeps the order in which a person wrote, however long each message is looked up, and others do not wait [F3]', async () => {
    const looks: ((erased: (at: string) => boolean) => void)[] = [];
    const { handlers, turns, gates } = handlersWith(() => new Promise((resolve) => looks.push(resolve)));
    const say = (number: number, text: string, author = incoming().author) =>
      handlers.message(incoming({ id: String(400_000_000_000_000_000n + BigInt(number)), text, author }));
    const said = [say(1, 'first'), say(2, 'second')];
    await expect.poll(() => looks.length).toBe(2);
    const bob = say(3, 'from Bob', { id: bobId, name: 'Bob', kind: 'human' });
    await expect.poll(() => looks.length).toBe(3);
    looks[1]?.(() => false);
    looks[2]?.(() => false);
    await expect.poll(() => turns).toEqual([['from Bob']]);
    looks[0]?.(() => false);
    await expect.poll(() => turns).toEqual([['from Bob'], ['first']]);
    for (let number = 0; number < 3; number += 1) {
      await expect.poll(() => gates.length).toBeGreaterThan(number);
      gates[number]?.();
    }
    await Promise.all([...said, bob]);
    expect(turns).toEqual([['from Bob'], ['first'], ['second']]);
  });

  it('takes 20 messages or 8,000 characters for the next turn; the others are marked and count as handled, commands do not [L1]', async () => {
    const { handlers, turns, commands, gates, outbox, refused } = handlersWith();
    const say = (number: number, text: string) =>
      handlers.message(incoming({ id: String(400_000_000_000_000_000n + BigInt(number)), text }));
    const said = [say(1, 'first')];
    await expect.poll(() => gates.length).toBe(1);
    for (let number = 2; number <= 100; number += 1) said.push(say(number, `message ${number}`));
    await expect.poll(() => refused.length).toBe(79);
    await handlers.message(
      incoming({
        id: '400000000000000150',
        text: '!memory show',
        command: { name: 'memory', subcommand: 'show', options: {} },
      }),
    );
    gates[0]?.();
    await expect.poll(() => gates.length).toBe(2);
    const long = ['a', 'b', 'c'].map((letter, index) => say(200 + index, letter.repeat(3_500)));
    await expect.poll(() => refused.length).toBe(80);
    gates[1]?.();
    await expect.poll(() => gates.length).toBe(3);
    gates[2]?.();
    await Promise.all([...said, ...long]);

    expect(turns.map((texts) => texts.length)).toEqual([1, 20, 2]);
    expect(turns[1]?.at(-1)).toBe('message 21');
    expect(commands).toEqual(['show']);
    for (const id of refused) {
      expect(await outbox.isHandled(generalId, id)).toBe(true);
      expect(await outbox.isHidden(generalId, id)).toBe(true);
    }
  });

  it('uses the edited words of a message that waits, and skips one that was deleted', async () => {
    const { handlers, turns, gates, outbox } = handlersWith();
    const edit = { channelId: generalId, isCommand: false };
    const messages = ['1', '2', '3'].map((number) =>
      incoming({
        id: `40000000000000000${number}`,
        text: number,
        author: { id: number, name: '', kind: 'human' },
      }),
    );
    const [edited, deleted, command] = messages.map(({ id }) => id);
    const taken = messages.map((message) => handlers.message(message));
    const text = '!memory show';
    const changes = [
      handlers.edited({ ...edit, messageId: edited ?? '', text: 'one' }),
      handlers.deleted(generalId, [deleted ?? '']),
      handlers.edited({ ...edit, messageId: command ?? '', text, isCommand: true }),
    ];
    await Promise.all([...changes, ...taken.slice(1)]);
    expect(turns).toEqual([['one']]);
    // Fetched after a gap it is not carried out either.
    expect(await outbox.isHandled(generalId, command ?? '')).toBe(true);
    gates[0]?.();
    await taken[0];
  });

  it('takes neither a message nor a command that was written before its author had everything erased, and none of long ago where that cannot be read [K11]', async () => {
    const erasedAt = '2026-01-15T09:59:30.000Z';
    for (const [erasedBy, last] of [
      [() => Promise.resolve((at: string) => at <= erasedAt), erasedAt],
      [(_: string, ifUnknown: boolean) => Promise.resolve(() => ifUnknown), '2026-01-15T09:58:00.000Z'],
    ] as const) {
      const { handlers, turns, commands, outbox, gates } = handlersWith(erasedBy);
      const command = { name: 'memory', subcommand: 'remember', options: { text: 'tea' } };
      const before = incoming({ at: last });
      await handlers.message(before);
      const asked = incoming({ id: '400000000000000008', at: last, command });
      await handlers.message(asked);
      expect({ turns, commands }).toEqual({ turns: [], commands: [] });
      for (const { id } of [before, asked]) expect(await outbox.isHandled(generalId, id)).toBe(true);
      const at = '2026-01-15T09:59:59.000Z';
      await handlers.message(incoming({ id: '400000000000000009', at, command }));
      const later = handlers.message(incoming({ id: '400000000000000010', at }));
      await expect.poll(() => gates.length).toBe(1);
      gates[0]?.();
      await later;
      expect({ turns: turns.length, commands }).toEqual({ turns: 1, commands: ['remember'] });
    }
  });

  it('answers a waiting message that got 🛑 neither now nor when Discord repeats it', async () => {
    const { handlers, turns, gates } = handlersWith();
    const running = handlers.message(incoming({ id: '400000000000000001', text: 'A' }));
    await expect.poll(() => gates.length).toBe(1);
    const waiting = incoming({ id: '400000000000000002', text: 'B' });
    const taken = handlers.message(waiting);
    await new Promise((resolve) => setImmediate(resolve));
    await handlers.reacted(generalId, waiting.id, aliceId, '👍');
    await handlers.reacted(generalId, waiting.id, aliceId, '🛑');
    await taken;
    await handlers.message(waiting);
    gates[0]?.();
    await running;
    expect(turns).toEqual([['A']]);
  });
});

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

describe('an `/ask` that is noted [EW2]', () => {
  const place = { audience: 'dm', channelId: generalId, homeId: generalId } as const;
  const asked = incoming({ place, askedIn: place });

  it('is on disk, its words too, and this process’s own until it is answered', async () => {
    const { handlers, outbox, recorded, asking, gates } = handlersWith();
    await handlers.asked(asked, 'begun');
    expect(await outbox.unfinished(generalId)).toMatchObject([
      { messageIds: [asked.id], userId: aliceId, isAsked: true, replyIds: [], place },
    ]);
    expect(recorded).toEqual([asked.text]);
    expect([...asking]).toEqual([asked.id]);
    const answered = handlers.message(asked);
    await expect.poll(() => gates.length).toBe(1);
    expect([...asking]).toEqual([asked.id]);
    gates[0]?.();
    await answered;
    expect([...asking]).toEqual([]);
    expect(await outbox.unfinished(generalId)).toEqual([]);
  });

  it('counts as taken back where Discord was not told in time that it is answered', async () => {
    const { handlers, outbox, asking, recent } = handlersWith();
    await handlers.asked(asked, 'begun');
    await handlers.asked(asked, 'dropped');
    expect(await outbox.unfinished(generalId)).toEqual([]);
    expect(await outbox.isHandled(generalId, asked.id)).toBe(true);
    expect(recent.latest(asked.id)).toBeDefined();
    expect([...asking]).toEqual([]);
  });

  it('counts as taken back where too much waits: the log has its words already [L1]', async () => {
    const { handlers, outbox, told, recent } = handlersWith();
    const asks = Array.from({ length: 22 }, (_, index) => ({
      ...asked,
      id: `4000000000000001${index + 10}`,
    }));
    const last = asks.at(-1)?.id ?? '';
    for (const ask of asks) {
      await handlers.asked(ask, 'begun');
      void handlers.message(ask);
    }
    await expect.poll(() => outbox.isHandled(generalId, last)).toBe(true);
    expect(told).toEqual([expect.stringContaining('Please ask again')]);
    expect(recent.latest(last)).toMatchObject({ text: undefined });
  });
});

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

const started = new Date('2026-01-15T10:00:00Z');

/** An id made so many seconds after the process began. */
function idAt(seconds: number): string {
  return snowflakeAt(new Date(started.getTime() + seconds * 1000));
}

function secondsOf(id: string): string {
  return String([1, 2, 3, -1].find((each) => idAt(each) === id));
}

/** Turns that run until they are released, with the reactions that people see while others wait. */
function turnsWithReactions() {
  const log: string[] = [];
  const releases: (() => void)[] = [];
  const timer = new ManualTimer();
  const reactions = createWaitingReactions({
    reactions: {
      add: (_, id) => log.push(`👀 ${secondsOf(id)}`),
      remove: (_, id) => log.push(`gone ${secondsOf(id)}`),
      refuse: (_, id) => log.push(`🚫 ${secondsOf(id)}`),
    },
    timer: timer.set,
    clock: () => started,
  });
  const recent = new RecentChanges();
  const turns = createSessionTurns(
    (messages) => {
      reactions.endForTurn(messages);
      log.push(`turn ${messages.map(({ id }) => secondsOf(id)).join()}`);
      return new Promise<void>((resolve) => releases.push(resolve));
    },
    recent,
    timer.set,
  );
  recent.subscribe((change) => turns.follow(change));
  const submit = (second: number): Promise<void> => {
    const message = incoming({ id: idAt(second) });
    return reactions.while(message, async () => void (await turns.submit(message)));
  };
  const release = async (): Promise<void> => {
    releases.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { log, timer, turns, recent, submit, release };
}

describe('a waiting reaction [U2]', () => {
  it('comes to what waits behind a turn, and goes when its own turn begins', async () => {
    const { log, timer, submit, release } = turnsWithReactions();
    const all = [submit(1), submit(2), submit(3)];
    timer.pass(300);
    expect(log).toEqual(['turn 1', '👀 2', '👀 3']);
    await release();
    expect(log.slice(3)).toEqual(['gone 2', 'gone 3', 'turn 2,3']);
    await release();
    await Promise.all(all);
    expect(log).toHaveLength(6);
  });

  it('goes from what was deleted while it waited, and does not come to it later', async () => {
    const { log, timer, recent, submit } = turnsWithReactions();
    void submit(1);
    const second = submit(2);
    timer.pass(300);
    const third = submit(3);
    recent.note({ kind: 'deleted', channelId: generalId, messageIds: [idAt(2), idAt(3)] });
    await Promise.all([second, third]);
    timer.pass(1000);
    expect(log).toEqual(['turn 1', '👀 2', 'gone 2']);
  });

  it('is taken away from a message that is older than the process, in case a kill has left it there', () => {
    const { log, submit } = turnsWithReactions();
    void submit(-1);
    expect(log).toEqual(['gone -1', 'turn -1']);
  });
});
