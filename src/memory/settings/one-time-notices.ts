import type { Logger } from '../../core/logger.ts';
import { isSnowflake } from '../../core/snowflake.ts';
import type { SetAside } from '../../core/store.ts';
import { discordTime, type Clock } from '../../core/time.ts';
import { RefusedJobError, type Work } from '../../core/writes.ts';
import type { PersonSettingsStore } from './person-settings.ts';

/** What a person is told once, under an answer. */
export interface OneTimeNotice {
  readonly lines: readonly string[];
  /** The person has them, for good. Never rejects. */
  sent(): Promise<void>;
  /** Always to be called at the end: if they were not sent, the next answer has them. */
  release(): void;
}

/** What the first answer to a person says of the bot [K12]. */
const firstWords = 'I am an AI, and I remember what you tell me.';

/** What the person can do about it, where these commands exist. */
const waysToControl =
  '`!memory show` shows it, `!memory forget` deletes from it, `!memory pause` stops it, `!memory erase` erases everything, and `!memory privacy` says more.';

export type OneTimeNotices = ReturnType<typeof createOneTimeNotices>;

/**
 * Tells each person once the first words [K12], and that a file of theirs was unreadable and how old the copy used
 * instead is [S5]. Kept in their settings, so that a restart loses nothing.
 */
export function createOneTimeNotices(ports: {
  readonly people: Pick<PersonSettingsStore, 'latest' | 'set' | 'noteSetAside' | 'dropSetAside'>;
  readonly commandsEnabled: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}) {
  const { people, commandsEnabled, clock, logger } = ports;
  /** Set-aside files on their way to the disk, one after the other. */
  let noting: Promise<void> = Promise.resolve();
  /** Who is being told. */
  const underWay = new Set<string>();

  /** An erased person is somebody new again, and has nothing to be told. */
  async function saved(userId: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof RefusedJobError) return;
      logger.error('a one-time notice could not be recorded', { userId, error });
    }
  }

  return {
    /** A file was set aside. Returns at once. */
    note(this: void, file: SetAside): void {
      const userId = ownerOf(file.key);
      if (userId !== undefined)
        noting = noting.then(() => saved(userId, () => people.noteSetAside(userId, file)));
    },
    /** Resolves when what was noted is on disk, or cannot be. */
    idle: (): Promise<void> => noting,
    /** What is to stand under an answer that is made; the caller must release it. Never rejects. */
    async begin(work: Work): Promise<OneTimeNotice | undefined> {
      const { userId } = work;
      await noting;
      const { greetedAt, setAside = [] } = await people.latest(userId);
      const greeting = [firstWords, ...(commandsEnabled ? [waysToControl] : [])].join(' ');
      const lines = [...(greetedAt === undefined ? [greeting] : []), ...setAside.map(lineOf)];
      if (lines.length === 0 || underWay.has(userId)) return undefined;
      underWay.add(userId);
      return {
        lines,
        async sent() {
          const at = clock().toISOString();
          if (greetedAt === undefined) await saved(userId, () => people.set(work, { greetedAt: at }));
          if (setAside.length > 0) await saved(userId, () => people.dropSetAside(userId, setAside));
        },
        release: () => void underWay.delete(userId),
      };
    },
  };
}

function ownerOf(key: string): string | undefined {
  const [, owner] = /^(?:users|sessions\/\d+)\/(\d+)\//u.exec(key) ?? [];
  return owner !== undefined && isSnowflake(owner) ? owner : undefined;
}

function lineOf({ key, at, copyFrom }: SetAside): string {
  const line = `⚠️ A file of yours, \`${nameOf(key)}\`, could not be read and was set aside ${discordTime(new Date(at), 'f')}.`;
  return copyFrom === undefined
    ? `${line} There is no good copy of it, so it starts empty; the owner of this bot finds the file in \`quarantine\`.`
    : `${line} I use the copy from ${discordTime(new Date(copyFrom), 'f')}; the owner of this bot finds the file in \`quarantine\`.`;
}

/** Without the ids of person and channel. */
function nameOf(key: string): string {
  return key
    .split('/')
    .filter((segment) => !/^\d+$/u.test(segment))
    .slice(1)
    .join('/');
}
