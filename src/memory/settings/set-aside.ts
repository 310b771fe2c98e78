import type { Logger } from '../../core/logger.ts';
import { isSnowflake } from '../../core/snowflake.ts';
import type { SetAside } from '../../core/store.ts';
import { RefusedJobError } from '../../core/writes.ts';
import type { FirstWords } from './greeting.ts';
import type { PersonSettingsStore } from './person-settings.ts';

export type SetAsideLines = ReturnType<typeof createSetAsideLines>;

/**
 * Tells people once, under their next answer, that a file of theirs was unreadable and how old the copy used
 * instead is [S5]. Kept in their settings, so that a restart loses nothing.
 */
export function createSetAsideLines({
  people,
  logger,
}: {
  readonly people: Pick<PersonSettingsStore, 'latest' | 'noteSetAside' | 'toldSetAside'>;
  readonly logger: Logger;
}) {
  /** By person, notes on their way to the disk. */
  const noting = new Map<string, Promise<void>>();
  /** Who is being told. */
  const notifying = new Set<string>();

  async function keep(userId: string, file: SetAside): Promise<void> {
    try {
      await people.noteSetAside(userId, file);
    } catch (error) {
      // An erased person has nothing to be told.
      if (error instanceof RefusedJobError) return;
      logger.error('a quarantined file could not be recorded', { userId, key: file.key, error });
    }
  }

  return {
    /** Returns at once. */
    note(file: SetAside): void {
      const userId = ownerOf(file.key);
      if (userId === undefined) return;
      const noted = (noting.get(userId) ?? Promise.resolve())
        .then(() => keep(userId, file))
        .finally(() => {
          if (noting.get(userId) === noted) noting.delete(userId);
        });
      noting.set(userId, noted);
    },
    /** Resolves when what was noted is on disk, or cannot be. */
    idle: async (): Promise<void> => void (await Promise.all(noting.values())),
    /** What stands under the next answer: the first words, if due, and what was set aside. Never rejects. */
    async under(userId: string, firstWords: FirstWords | undefined): Promise<FirstWords | undefined> {
      await noting.get(userId);
      const { setAside = [] } = await people.latest(userId);
      if (setAside.length === 0 || notifying.has(userId)) return firstWords;
      notifying.add(userId);
      const line = setAside.map(lineOf).join('\n');
      return {
        line: firstWords === undefined ? line : `${firstWords.line}\n${line}`,
        async sent() {
          await firstWords?.sent();
          try {
            await people.toldSetAside(userId, setAside);
          } catch (error) {
            logger.error('a notice about a quarantined file could not be recorded', { userId, error });
          }
        },
        release() {
          firstWords?.release();
          notifying.delete(userId);
        },
      };
    },
  };
}

function ownerOf(key: string): string | undefined {
  const [, owner] = /^(?:users|sessions\/\d+)\/(\d+)\//u.exec(key) ?? [];
  return owner !== undefined && isSnowflake(owner) ? owner : undefined;
}

function lineOf({ key, at, copyFrom }: SetAside): string {
  const told = `-# ⚠️ A file of yours, \`${nameOf(key)}\`, could not be read and was set aside ${moment(at)}.`;
  return copyFrom === undefined
    ? `${told} There is no good copy of it, so it starts empty; the owner of this bot finds the file in \`quarantine\`.`
    : `${told} I use the copy from ${moment(copyFrom)}; the owner of this bot finds the file in \`quarantine\`.`;
}

/** Without the ids of person and channel. */
function nameOf(key: string): string {
  return key
    .split('/')
    .filter((segment) => !/^\d+$/u.test(segment))
    .slice(1)
    .join('/');
}

function moment(time: string): string {
  return `<t:${Math.floor(Date.parse(time) / 1000)}:f>`;
}
