import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { DirectMessage } from '../../src/core/reply.ts';
import { createBotSettings } from '../../src/memory/settings/bot-settings.ts';
import { createAccessRequests } from '../../src/turn/access-requests.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { recordingLogger } from '../support/recording-logger.ts';

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
      `\`Bob\` (<@${idOf(1)}>) wrote to me in \`#general\` of \`Sandbox\` and has no access. Shall I answer them from now on?`,
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
        expect(text).toMatch(/^`[^`\n]+` \(<@\d+>\) wrote to me in `#general` of `Sandbox` and has/u);
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
