import { describe, expect, it } from 'vitest';

import { RecentChanges } from '../../src/core/changes.ts';
import type { IncomingMessage } from '../../src/core/message.ts';
import { createKeyedQueue } from '../../src/core/keyed-queue.ts';
import { createIntake, type IntakePorts } from '../../src/turn/intake.ts';
import { createOutbox } from '../../src/turn/outbox.ts';
import { processTimer } from '../../src/core/time.ts';
import { createSessionTurns, type MayBegin } from '../../src/turn/sessions.ts';
import { aliceId, bobId, generalId, incoming } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { plainWrites } from '../support/plain-writes.ts';

function handlersWith(
  erasedBy: IntakePorts['erasedBy'] = () => Promise.resolve(() => false),
  mayBegin?: MayBegin,
) {
  const turns: string[][] = [];
  const commands: string[] = [];
  const gates: (() => void)[] = [];
  const refused: string[] = [];
  const told: string[] = [];
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
    replies: { tellRefused: ({ messageId }) => Promise.resolve(void told.push(messageId)) },
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
  return { handlers, turns, commands, gates, outbox, refused, told };
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
