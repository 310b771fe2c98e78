import { growingCache } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import { assertSnowflake } from '../../core/snowflake.ts';
import type { Store } from '../../core/store.ts';
import type { Clock } from '../../core/time.ts';
import type { SessionLog } from '../log/session-log.ts';
import type { PersonSettingsStore } from './person-settings.ts';

/** Who is about to be answered where, and by which messages the bot knows that; those of a command enter no log. */
interface Asked {
  readonly userId: string;
  readonly channelId: string;
  readonly messageIds: readonly string[];
}

/** The first words to a person, which stand under an answer. */
export interface FirstWords {
  /** In small print, one line. */
  readonly line: string;
  /** The person has them, and is never told again. Never rejects. */
  sent(): Promise<void>;
  /** To be called in the end: where they were not sent, the next answer has them. */
  release(): void;
}

/** What the person can do about it at once, as far as these commands exist. */
const waysToControl =
  '`!memory show` shows it, `!memory forget` deletes from it, `!memory pause` stops it, `!memory erase` erases everything, and `!memory privacy` says more.';

/** What the first answer to a person says of the bot [K12]. */
function firstWordsLine(commandsEnabled: boolean): string {
  return [
    '-# I am an AI, and I remember what you tell me.',
    ...(commandsEnabled ? [waysToControl] : []),
  ].join(' ');
}

/** People's own files that say nothing of whether they were ever answered. */
const listsOnly: ReadonlySet<string> = new Set([
  'settings.json',
  'sessions.json',
  'noted.json',
  'turns.json',
  'spending.json',
]);
/** People who can be greeted at the same moment; far more than are answered at once. */
const greetedAtOnce = 10_000;

export type Greeting = ReturnType<typeof createGreeting>;

/** Says the first words to each person once ever [K12]. Whoever had data before there were any counts as known. */
export function createGreeting(ports: {
  readonly settings: Pick<PersonSettingsStore, 'latest' | 'get' | 'set'>;
  readonly store: Pick<Store, 'list'>;
  readonly log: Pick<SessionLog, 'sessionsOfPerson' | 'lastSequence' | 'recent'>;
  readonly commandsEnabled: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}) {
  const { settings, store, log, clock, logger } = ports;
  const line = firstWordsLine(ports.commandsEnabled);
  /** To whom they are being said. */
  const underWay = growingCache<string, true>(greetedAtOnce);

  async function hasData({ userId, channelId, messageIds }: Asked): Promise<boolean> {
    const files = await store.list(`users/${assertSnowflake(userId)}`);
    if (files.some(({ path }) => !listsOnly.has(path))) return true;
    for (const session of await log.sessionsOfPerson(userId)) {
      const isHere = session.channelId === channelId;
      if (!isHere && (await log.lastSequence(session)) > 0) return true;
      // An answer to these messages may be there already.
      const recent = isHere ? await log.recent(session, messageIds.length + 2) : [];
      if (recent.some(({ message: { role, id } }) => role === 'user' && !messageIds.includes(id)))
        return true;
    }
    return false;
  }

  async function isKnown(asked: Asked): Promise<boolean> {
    const { userId } = asked;
    if ((await settings.latest(userId)).greetedAt !== undefined) return true;
    if ((await settings.get(userId)) !== undefined) return false;
    const wasThere = await hasData(asked);
    // Kept at once: what comes of the turn that runs must not pass for data from before.
    await settings.set(userId, wasThere ? { greetedAt: clock().toISOString() } : {});
    return wasThere;
  }

  async function sent(userId: string): Promise<void> {
    try {
      await settings.set(userId, { greetedAt: clock().toISOString() });
    } catch (error) {
      logger.error('that somebody was greeted could not be saved', { userId, error });
    }
  }

  return {
    /** The first words, where the person is to have them; whoever gets them releases them. Where it cannot be known, there are none. Never rejects. */
    async begin(asked: Asked): Promise<FirstWords | undefined> {
      const { userId } = asked;
      if (underWay.has(userId)) return undefined;
      underWay.set(userId, true);
      try {
        if (!(await isKnown(asked)))
          return { line, sent: () => sent(userId), release: () => void underWay.delete(userId) };
      } catch (error) {
        logger.error('whether somebody is to be greeted could not be read', { userId, error });
      }
      underWay.delete(userId);
      return undefined;
    },
  };
}
