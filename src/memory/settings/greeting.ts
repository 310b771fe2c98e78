import { lruCache } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import { assertSnowflake } from '../../core/snowflake.ts';
import type { Store } from '../../core/store.ts';
import type { Clock } from '../../core/time.ts';
import { RefusedJobError, type Work } from '../../core/writes.ts';
import type { SessionLog } from '../log/session-log.ts';
import type { PersonSettingsStore } from './person-settings.ts';

/** Who is about to be answered where, and to which messages; those of a command enter no log. */
interface Asked extends Work {
  readonly channelId: string;
  readonly messageIds: readonly string[];
}

/** The first words to a person, which stand under an answer. */
export interface FirstWords {
  /** In small print, one line. */
  readonly line: string;
  /** The person has them, for good. Never rejects. */
  sent(): Promise<void>;
  /** Always to be called at the end: if they were not sent, the next answer has them. */
  release(): void;
}

/** What the person can do about it, where these commands exist. */
const waysToControl =
  '`!memory show` shows it, `!memory forget` deletes from it, `!memory pause` stops it, `!memory erase` erases everything, and `!memory privacy` says more.';

/** What the first answer to a person says of the bot [K12]. */
function firstWordsLine(commandsEnabled: boolean): string {
  return [
    '-# I am an AI, and I remember what you tell me.',
    ...(commandsEnabled ? [waysToControl] : []),
  ].join(' ');
}

/** Files of a person that do not tell whether they were ever answered. */
const listsOnly: ReadonlySet<string> = new Set([
  'settings.json',
  'sessions.json',
  'noted.json',
  'turns.json',
  'spending.json',
]);
/** Far more than are answered at once. */
const greetedAtOnce = 10_000;

export type Greeting = ReturnType<typeof createGreeting>;

/** Says the first words to each person once [K12]. Earlier data of somebody means that they know. */
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
  const underWay = lruCache<string, true>(greetedAtOnce);

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
    // Kept at once: this turn's own data must not pass for earlier data.
    await settings.set(asked, wasThere ? { greetedAt: clock().toISOString() } : {});
    return wasThere;
  }

  async function sent(work: Work): Promise<void> {
    try {
      await settings.set(work, { greetedAt: clock().toISOString() });
    } catch (error) {
      // An erased person is somebody new again.
      if (error instanceof RefusedJobError) return;
      logger.error('a greeting could not be recorded', { userId: work.userId, error });
    }
  }

  return {
    /**
     * The first words, if the person is to have them; the caller must release them. Where unknown, there are
     * none. Never rejects.
     */
    async begin(asked: Asked): Promise<FirstWords | undefined> {
      const { userId } = asked;
      if (underWay.has(userId)) return undefined;
      underWay.set(userId, true);
      try {
        if (!(await isKnown(asked)))
          return { line, sent: () => sent(asked), release: () => void underWay.delete(userId) };
      } catch (error) {
        logger.error('the greeting state could not be read', { userId, error });
      }
      underWay.delete(userId);
      return undefined;
    },
  };
}
