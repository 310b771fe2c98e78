import type { Logger } from '../../src/core/logger.ts';
import type { Place } from '../../src/core/place.ts';
import type { Store } from '../../src/core/store.ts';
import type { TurnContext } from '../../src/core/turn-context.ts';
import type { FoldName } from '../../src/memory/log/session-state.ts';
import { createSessionLog } from '../../src/memory/log/session-log.ts';
import { createSessionStates } from '../../src/memory/log/session-state.ts';
import { createKeyedQueue } from '../../src/core/keyed-queue.ts';
import { aliceId, generalId, publicPlace } from './incoming.ts';
import { MemoryStore } from './memory-store.ts';

export const startTime = Date.parse('2026-01-15T10:00:00.000Z');

export const secretPlace: Place = {
  audience: 'private',
  channelId: generalId,
  homeId: generalId,
  guildId: '300000000000000001',
  channelName: 'general',
};

export const dmPlace: Place = {
  audience: 'dm',
  channelId: '200000000000000009',
  homeId: '200000000000000009',
};

/** A public channel of the same guild as `publicPlace`, unless changed. */
export function channel(name: string, id: string, changes: Partial<Place> = {}): Place {
  return { ...publicPlace, channelId: id, homeId: id, channelName: name, ...changes };
}

export const session = { channelId: generalId, userId: aliceId };

export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** A Discord id that is younger the greater the number. */
export function messageId(number: number): string {
  return String(400_000_000_000_000_000n + BigInt(number));
}

/** Memory over a store, with a clock that a test can move; another one over the same store is what a restart leaves. */
export function openSessions(
  store: Store = new MemoryStore(),
  options: { activeFolds?: readonly FoldName[] } = {},
) {
  const writes = createKeyedQueue();
  const time = { now: startTime };
  const clock = (): Date => new Date(time.now);
  const log = createSessionLog({ store, writes, clock, botName: 'Discoclaw', ...options });
  const states = createSessionStates({ store, writes });
  let newest = 0;

  function contextOf(texts: readonly string[], place: Place = publicPlace): TurnContext {
    return {
      speaker: { id: aliceId, name: 'Alice', isOwner: false },
      place,
      messages: texts.map((text) => {
        newest += 1;
        return { id: messageId(newest), text, at: clock().toISOString(), attachments: [] };
      }),
      now: clock(),
      hasThirdPartyText: false,
    };
  }

  /** Logs what Alice said; the bot has not answered yet. */
  async function say(text: string, place?: Place): Promise<TurnContext> {
    const context = contextOf([text], place);
    await log.recordUser(context);
    return context;
  }

  /** Logs the bot's answer; resolves with its message ids. */
  async function answer(context: TurnContext, text: string, parts = 1): Promise<readonly string[]> {
    const ids = Array.from({ length: parts }, () => {
      newest += 1;
      return messageId(newest);
    });
    await log.recordReply(context, { ids, text, at: clock().toISOString() });
    return ids;
  }

  /** A whole turn; resolves with the ids of question and answer. */
  async function turn(asked: string, answered = `You said: ${asked}`, place?: Place): Promise<string[]> {
    const context = await say(asked, place);
    const ids = await answer(context, answered);
    return [...context.messages.map(({ id }) => id), ...ids];
  }

  return { store, writes, clock, time, log, states, contextOf, say, answer, turn };
}

export type Sessions = ReturnType<typeof openSessions>;
