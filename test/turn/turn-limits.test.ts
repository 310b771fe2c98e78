import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { RecentChanges } from '../../src/core/changes.ts';
import type { IncomingMessage } from '../../src/core/message.ts';
import type { DirectMessage } from '../../src/core/reply.ts';
import { createBotSettings } from '../../src/memory/settings/bot-settings.ts';
import { createAccessRequests } from '../../src/turn/access-requests.ts';
import { createSessionTurns } from '../../src/turn/sessions.ts';
import { createTurnLimits } from '../../src/turn/turn-limits.ts';
import { fakeReplies } from '../support/fake-replies.ts';
import { aliceId, bobId, incoming } from '../support/incoming.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { runs } from '../support/runs.ts';

/** Turns that are over at once, by a clock of their own, and what was said of limits. */
function limitedTurns(turnsPerMinute: number) {
  const timer = new ManualTimer();
  const steps: string[] = [];
  const hidden: string[] = [];
  const sent: unknown[] = [];
  const recent = new RecentChanges();
  const limits = createTurnLimits({
    turnsPerMinute,
    budgetResetsAt: () => new Date('2026-01-16T00:00:00Z'),
    replies: fakeReplies({ note: (step) => steps.push(step) }),
    directMessages: {
      send: (...message) => {
        sent.push(message.slice(0, 3));
        return Promise.resolve('sent');
      },
    },
    outbox: { hide: (_, ids) => Promise.resolve(void hidden.push(...ids)) },
    timer: timer.set,
    now: () => timer.now,
    logger: recordingLogger(),
  });
  const begun: { readonly at: number; readonly author: string; readonly texts: readonly string[] }[] = [];
  const turns = createSessionTurns(
    async (messages) => {
      begun.push({
        at: timer.now,
        author: messages[0]?.author.id ?? '',
        texts: messages.map(({ text }) => text),
      });
    },
    recent,
    timer.set,
    limits.mayBegin,
  );
  recent.subscribe((change) => turns.follow(change));
  let lastId = 400_000_000_000_000_000n;
  const say = (changes: Partial<IncomingMessage> = {}) => {
    lastId += 1n;
    const message = incoming({ id: String(lastId), text: `message ${lastId % 1000n}`, ...changes });
    return { id: message.id, outcome: turns.submit(message) };
  };
  return { turns, limits, timer, begun, steps, hidden, sent, say, recent };
}

async function settle(): Promise<void> {
  for (let round = 0; round < 5; round += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('turns a minute [L2]', () => {
  it('are not waited for by somebody who had everything erased meanwhile [K11]', async () => {
    const { turns, begun, timer, say } = limitedTurns(1);
    await say().outcome;
    const waiting = say();
    await settle();
    turns.endTurnsOf(aliceId);
    expect(await waiting.outcome).toBe('over');
    await turns.idle();
    timer.pass(61_000);
    await settle();
    // What they say afterwards is a turn like the first.
    await say().outcome;
    expect(begun.map(({ texts }) => texts)).toEqual([['message 1'], ['message 3']]);
  });

  it('are never more within any sixty seconds, with at most one line in them, and every message is answered', async () => {
    const said = fc.record({ after: fc.nat({ max: 20_000 }), channel: fc.nat({ max: 3 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(said, { maxLength: 40 }),
        fc.integer({ min: 1, max: 4 }),
        async (all, perMinute) => {
          const { begun, steps, timer, say } = limitedTurns(perMinute);
          const lines: number[] = [];
          const waiting = [];
          const look = async () => {
            await settle();
            while (lines.length < steps.length) lines.push(timer.now);
          };
          for (const { after, channel } of all) {
            for (let passed = 0; passed < after; passed += 5000) {
              timer.pass(Math.min(5000, after - passed));
              await look();
            }
            const channelId = `20000000000000000${channel}`;
            waiting.push(say({ channelId, place: { ...incoming({}).place, channelId } }));
            await look();
          }
          for (let minute = 0; minute < 60; minute += 1) {
            timer.pass(60_000);
            await settle();
          }
          await Promise.all(waiting.map(({ outcome }) => outcome));
          expect(begun.flatMap(({ texts }) => texts)).toHaveLength(all.length);
          for (const { at } of begun)
            expect(begun.filter((each) => each.at >= at && each.at < at + 60_000).length).toBeLessThanOrEqual(
              perMinute,
            );
          for (const [index, at] of lines.entries())
            expect(at - (lines[index - 1] ?? -60_000)).toBeGreaterThanOrEqual(60_000);
        },
      ),
      { numRuns: runs(40) },
    );
  });
});

describe('the lines on cost [L2]', () => {
  it('tell each person when it goes on, once a minute, and in any case under a part of an answer', () => {
    const { limits, timer } = limitedTurns(10);
    const line =
      '⏳ What my answers may cost today is used up. It goes on at <t:1768521600:t> (<t:1768521600:R>). Commands still work.';
    expect(limits.costLine(aliceId, false)).toBe(line);
    expect(limits.costLine(aliceId, false)).toBeUndefined();
    expect(limits.costLine(aliceId, true)).toBe(line);
    expect(limits.costLine(bobId, false)).toBe(line);
    timer.pass(60_000);
    expect(limits.costLine(aliceId, false)).toBe(line);
  });

  it('tell every owner by direct message, each under a nonce that Discord takes', async () => {
    const { limits, sent } = limitedTurns(10);
    const use = { day: '2026-01-15', spent: 4.02, limit: 5 };
    await expect(limits.tellOwners([], use)).rejects.toThrow('not known');
    await limits.tellOwners([aliceId, bobId], use);
    const text = expect.stringContaining('Of the $5.00 that my model calls may cost today, $4.02 is used.');
    expect(sent).toEqual([aliceId, bobId].map((id) => [id, [{ text }], `20260115${id.slice(-8)}c`]));
    // Another message than the one of the limit [M16].
    await limits.tellOwners([aliceId], {
      day: '2026-01-15',
      spent: 0,
      model: 'opus',
      failure: 'unauthorized',
    });
    const account = expect.stringMatching(/^⚠️ opus is without a valid key: its server refuses my calls\. /u);
    expect(sent.at(-1)).toEqual([aliceId, [{ text: account }], `20260115${aliceId.slice(-8)}a`]);
  });
});

const ownerId = '100000000000000009';
const idOf = (person: number) => String(100_000_000_000_000_100n + BigInt(person));

/** Two processes over one store, and what the owner was sent. */
function requests() {
  const store = new MemoryStore();
  const logger = recordingLogger();
  const sent: { readonly to: string; readonly message: DirectMessage | undefined }[] = [];
  const hidden: string[] = [];
  const state = { isClosed: false, now: new Date('2026-01-15T10:00:00Z') };
  const process = () =>
    createAccessRequests({
      botSettings: createBotSettings(store),
      ownerIds: [ownerId, '100000000000000008'],
      directMessages: {
        async send(to, [message], _, beforeSeen) {
          if (state.isClosed) return 'closed';
          sent.push({ to, message });
          await beforeSeen('900000000000000001', '900000000000000002');
          return 'sent';
        },
      },
      outbox: { hide: async (_, ids) => void hidden.push(...ids) },
      clock: () => state.now,
      timeZone: 'UTC',
      logger,
    });
  const [one, other] = [process(), process()];
  const asks = (
    person: number,
    ask = one,
    name = 'Bob',
    where: object = { channelName: 'general', guildName: 'Sandbox' },
  ) => ask({ userId: idOf(person), name, channelName: undefined, guildName: undefined, ...where });
  const nextDay = () => void (state.now = new Date(state.now.getTime() + 24 * 60 * 60_000));
  return { store, settings: createBotSettings(store), logger, sent, hidden, state, other, asks, nextDay };
}

describe('somebody without access who writes to the bot [G1]', () => {
  it('is named to the first owner, with buttons and where, and no part of history', async () => {
    const { sent, hidden, asks } = requests();
    await asks(1);
    const [{ to, message } = {}] = sent;
    expect(to).toBe(ownerId);
    expect(message?.text).toBe(
      `🔑 \`Bob\` (<@${idOf(1)}>) wrote to me in \`#general\` of \`Sandbox\` and has no access. Shall I answer them from now on?`,
    );
    expect(message?.buttons).toEqual([
      { label: 'Let in', line: `settings access add <@${idOf(1)}>` },
      { label: 'Not now', line: `settings access not-now <@${idOf(1)}>` },
    ]);
    expect(hidden).toEqual(['900000000000000002']);
    await asks(2, undefined, 'Bob', {});
    expect(sent.at(-1)?.message?.text).toContain('wrote to me in a direct message and');
  });

  it('has a name that is one line of code, whatever it says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 100 }), async (name) => {
        const { sent, asks } = requests();
        await asks(1, undefined, `${name}\`@everyone [x](https://example.org)\n# x`);
        const text = sent[0]?.message?.text ?? '';
        expect(text).toMatch(/^🔑 `[^`\n]+` \(<@\d+>\) wrote to me in `#general` of `Sandbox` and has/u);
      }),
    );
  });

  it('is named once, five people a day, in all processes, whatever happens in between', async () => {
    const act = fc.record({
      person: fc.integer({ min: 1, max: 12 }),
      isOther: fc.boolean(),
      isClosed: fc.boolean(),
      isNextDay: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 60 }), async (acts) => {
        const { sent, state, other, asks, nextDay } = requests();
        let today = 0;
        for (const { person, isOther, isClosed, isNextDay } of acts) {
          if (isNextDay) nextDay();
          if (isNextDay) today = 0;
          const before = sent.length;
          state.isClosed = isClosed;
          await Promise.all([asks(person, isOther ? other : undefined), asks(person, other)]);
          today += sent.length - before;
          expect(today).toBeLessThanOrEqual(5);
        }
        const told = sent.map(({ message }) => message?.text);
        expect(new Set(told).size).toBe(told.length);
      }),
    );
  });

  it('waits as the sixth of a day, and where the owner takes no messages, until they write on another day', async () => {
    const { settings, logger, sent, state, asks, nextDay } = requests();
    for (const person of [1, 2, 3, 4, 5, 6, 6]) await asks(person);
    expect(sent).toHaveLength(5);
    expect((await settings.read()).requests[`<@${idOf(6)}>`]).toEqual({ state: 'waiting' });
    nextDay();
    state.isClosed = true;
    await asks(6);
    expect(logger.lines.map(({ event }) => event)).toContain(
      'the owner takes no direct messages, so who asks to be let in waits',
    );
    state.isClosed = false;
    await asks(6);
    expect(sent).toHaveLength(5);
    nextDay();
    await asks(6);
    expect(sent).toHaveLength(6);
    expect((await settings.read()).requests[`<@${idOf(6)}>`]?.state).toBe('asked');
  });
});
