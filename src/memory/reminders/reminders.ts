import { randomUUID } from 'node:crypto';

import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';

import { limits } from '../../core/limits.ts';
import { placeSchema } from '../../core/place.ts';
import { hasSecret } from '../../core/secrets.ts';
import { dataLine, fitLines } from '../../core/section.ts';
import { assertSnowflake } from '../../core/snowflake.ts';
import type { DocumentKind, Store } from '../../core/store.ts';
import { saysWords, toSingleLine } from '../../core/text.ts';
import { localMoment, type Clock } from '../../core/time.ts';
import { mayUse, reachOf } from '../../core/visibility.ts';
import { unconditional, type Work, type Writes } from '../../core/writes.ts';
import { personOf, type MemoryLayer } from '../layer.ts';
import { readWithheld } from '../withheld.ts';
import { nextAfter, repeats, wallTimeIn } from './wall-clock.ts';

/** Characters of what somebody is reminded of [RM7]. */
const reminderMaxChars = 500;
/** Of the section [RM5]. */
const sectionMaxChars = 500;
const mostInPrompt = 5;
/** What came and was not answered is kept for its buttons for so long; milliseconds. */
const keptAfterMs = 7 * 24 * 60 * 60_000;

const reminderSchema = z.object({
  id: z.string(),
  /** The person's own words. */
  text: z.string(),
  /** When it comes next, ISO 8601. */
  at: z.string(),
  repeat: z.enum(repeats).optional(),
  /** Of what comes again: when it came first, as the clock on the wall showed it. */
  first: z.string().optional(),
  where: z.enum(['here', 'dm']),
  /** Where it was set, with who could read it then. */
  place: placeSchema,
  /** The message or command that set it. */
  messageId: z.string(),
  setAt: z.string(),
  /** Since when it is being said: after a kill it may stand there already. */
  begunAt: z.string().optional(),
  /** It came then, and waits for an answer. */
  cameAt: z.string().optional(),
  /** It could be delivered nowhere. */
  isMissed: z.literal(true).optional(),
});

export type Reminder = Readonly<z.infer<typeof reminderSchema>>;

const documentSchema = z.object({ version: z.literal(1), reminders: z.array(reminderSchema).readonly() });
export const remindersKind: DocumentKind<z.infer<typeof documentSchema>> = {
  version: 1,
  schema: documentSchema,
};

export interface NewReminder extends Pick<Reminder, 'text' | 'repeat' | 'where' | 'place' | 'messageId'> {
  readonly at: Date;
}

export type Reminders = ReturnType<typeof createReminders>;

/**
 * What people asked to be told at a moment [RM1]. Methods reject with `StoreError`; what comes when is known to the work
 * queue, which `wakeAt` tells [X2].
 */
export function createReminders(ports: {
  readonly store: Pick<Store, 'read' | 'update' | 'remove'>;
  readonly writes: Pick<Writes, 'run'>;
  readonly clock: Clock;
  /** A person's zone, IANA. Must not reject. */
  readonly timeZoneOf: (userId: string) => Promise<string>;
  /** Has what is due of a person looked at from then on. Rejects with `StoreError`. */
  readonly wakeAt: (userId: string, at: Date) => Promise<void>;
}) {
  const { store, writes, clock, timeZoneOf, wakeAt } = ports;

  async function all(userId: string): Promise<readonly Reminder[]> {
    return (await store.read(keyOf(userId), remindersKind))?.reminders ?? [];
  }

  /** Without those whose message was forgotten; by when they come. */
  async function list(userId: string): Promise<readonly Reminder[]> {
    const [reminders, { touches }] = await Promise.all([all(userId), readWithheld(store, userId)]);
    return reminders
      .filter(({ messageId }) => !touches(messageId))
      .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  }

  /** As part of a job of the person's queue. Resolves with what is kept. */
  async function change(
    userId: string,
    by: (reminders: readonly Reminder[]) => readonly Reminder[],
  ): Promise<readonly Reminder[]> {
    let isLosing = false;
    const stored = await store.update(
      keyOf(userId),
      remindersKind,
      (document) => {
        const before = document?.reminders ?? [];
        const after = by(before);
        isLosing = before.some(({ text }) => !after.some((each) => each.text === text));
        const isSame = after.length === before.length && after.every((each, index) => each === before[index]);
        return isSame ? document : { version: 1 as const, reminders: after };
      },
      { erase: () => isLosing },
    );
    return stored?.reminders ?? [];
  }

  async function wake(userId: string, reminders: readonly Reminder[]): Promise<void> {
    const waiting = reminders.filter(isWaiting).map(({ at }) => Date.parse(at));
    if (waiting.length > 0) await wakeAt(userId, new Date(Math.min(...waiting)));
  }

  /** Changes one by its id; resolves with what it was, `undefined` where there is none. */
  function changeOne(
    work: Work,
    id: string,
    by: (reminder: Reminder) => readonly Reminder[],
  ): Promise<Reminder | undefined> {
    return writes.run(work, async () => {
      let found: Reminder | undefined;
      const changed = await change(work.userId, (reminders) => {
        found = reminders.find((each) => each.id === id);
        return reminders.flatMap((each) => (each === found ? by(each) : each));
      });
      await wake(work.userId, changed);
      return found;
    });
  }

  const layer: MemoryLayer = {
    name: 'reminders',
    async sections({ speaker, place }) {
      const [reminders, timeZone] = await Promise.all([list(speaker.id), timeZoneOf(speaker.id)]);
      const usable = reminders.filter(
        (each) =>
          isWaiting(each) && mayUse({ ownerId: speaker.id, ...reachOf(each.place) }, place, speaker.id),
      );
      const lines = usable
        .slice(0, mostInPrompt)
        .map(({ at, text }) => dataLine(`- ${localMoment(new Date(at), timeZone)}: ${text}`));
      const section = {
        name: 'reminders',
        slot: 'last',
        title: 'What this person asked to be reminded of, and when (quoted data):',
        budget: sectionMaxChars,
      } as const;
      return [{ ...section, lines: fitLines(section, lines) }];
    },
    async delete(deletion) {
      const userId = personOf(deletion);
      const without = async (isGone: (reminder: Reminder) => boolean): Promise<void> => {
        await change(userId, (reminders) => reminders.filter((each) => !isGone(each)));
      };
      switch (deletion.kind) {
        case 'messages': {
          // Of what is too old, or says what was purged, the reminder stays, as items do [K15].
          if (deletion.areItemsKept === true && deletion.isResolved !== true) return;
          // What the new text still says stays [F5].
          const present = new Map(deletion.messages.map(({ before, now = '' }) => [before.id, formOf(now)]));
          return without(({ messageId, text }) => present.get(messageId)?.includes(formOf(text)) === false);
        }
        case 'words':
          return without(({ text }) => saysWords(text, deletion.words));
        case 'record':
        // They come by direct message then [RM3].
        case 'conversations':
          return;
        case 'person':
          return store.remove(keyOf(userId));
      }
    },
    async *export(userId) {
      const reminders = await list(userId);
      if (reminders.length > 0) yield { path: remindersFile, text: JSON.stringify(reminders, undefined, 2) };
    },
  };

  return {
    layer,
    list,
    async set(
      work: Work,
      { text, at, repeat, ...rest }: NewReminder,
    ): Promise<Reminder | 'full' | 'secret' | 'long' | 'empty'> {
      const words = toSingleLine(text);
      if (words === '') return 'empty';
      if (words.length > reminderMaxChars) return 'long';
      if (hasSecret(words)) return 'secret';
      const timeZone = await timeZoneOf(work.userId);
      const first = repeat === undefined ? undefined : wallTimeIn(at, timeZone).toString();
      const added: Reminder = {
        ...rest,
        id: randomUUID().slice(0, 8),
        text: words,
        at: at.toISOString(),
        repeat,
        first,
        setAt: clock().toISOString(),
      };
      return writes.run(work, async () => {
        let isFull = false;
        let known: Reminder | undefined;
        const changed = await change(work.userId, (reminders) => {
          // After a kill, what sets one may be done again [RM4].
          known = reminders.find((each) => areOne(each, added));
          isFull = known === undefined && reminders.length >= limits.reminders;
          return isFull || known !== undefined ? reminders : [...reminders, added];
        });
        if (isFull) return 'full';
        await wake(work.userId, changed);
        return known ?? added;
      });
    },
    /** Gives it another moment, from which on what comes again is counted. */
    async move(work: Work, id: string, at: Date): Promise<Reminder | undefined> {
      const wall = wallTimeIn(at, await timeZoneOf(work.userId)).toString();
      return changeOne(work, id, (reminder) => [
        { ...waitingAgain(reminder, at), first: reminder.repeat === undefined ? undefined : wall },
      ]);
    },
    /** It comes once more then; what comes again goes on beside that. */
    snooze(work: Work, id: string, at: Date): Promise<Reminder | undefined> {
      return changeOne(work, id, (reminder) => {
        if (reminder.repeat === undefined) return [waitingAgain(reminder, at)];
        const once = { ...reminder, id: randomUUID().slice(0, 8), repeat: undefined, first: undefined };
        return [reminder, waitingAgain(once, at)];
      });
    },
    /** What comes again goes on; anything else is gone. */
    done(work: Work, id: string): Promise<Reminder | undefined> {
      return changeOne(work, id, (reminder) => (reminder.repeat === undefined ? [] : [reminder]));
    },
    remove: (work: Work, id: string): Promise<Reminder | undefined> => changeOne(work, id, () => []),
    /** Of a person, what has to come by now, the oldest first; the next one is waited for. */
    async due(userId: string): Promise<readonly Reminder[]> {
      const now = clock();
      const isDue = ({ at }: Reminder): boolean => Date.parse(at) <= now.getTime();
      const waiting = (await list(userId)).filter(isWaiting);
      await wake(
        userId,
        waiting.filter((each) => !isDue(each)),
      );
      return waiting.filter(isDue);
    },
    /** These are about to be said. Resolves with since when, if they were before. */
    async begin(work: Work, ids: readonly string[]): Promise<Date | undefined> {
      let begunAt: string | undefined;
      const now = clock().toISOString();
      await writes.run(work, () =>
        change(work.userId, (reminders) => {
          const meant = reminders.filter(({ id }) => ids.includes(id));
          begunAt = meant.find((each) => each.begunAt !== undefined)?.begunAt;
          return reminders.map((each) =>
            meant.includes(each) && each.begunAt === undefined ? { ...each, begunAt: now } : each,
          );
        }),
      );
      return begunAt === undefined ? undefined : new Date(begunAt);
    },
    /** One came, or could not; what comes again waits for its next moment. */
    async came(work: Work, id: string, wasDelivered: boolean): Promise<void> {
      const timeZone = await timeZoneOf(work.userId);
      const now = clock();
      await changeOne(work, id, (reminder) => {
        const { repeat, first } = reminder;
        // Its person has moved it meanwhile.
        if (Date.parse(reminder.at) > now.getTime()) return [reminder];
        if (repeat === undefined || first === undefined)
          return [
            {
              ...reminder,
              begunAt: undefined,
              cameAt: now.toISOString(),
              isMissed: wasDelivered ? undefined : true,
            },
          ];
        const next = nextAfter(Temporal.PlainDateTime.from(first), repeat, now, timeZone);
        return [
          {
            ...reminder,
            begunAt: undefined,
            at: next.toISOString(),
            isMissed: wasDelivered ? undefined : true,
          },
        ];
      });
    },
    /** Has the next one wait: at a start, and where its person has another zone by now. Drops what came long ago. */
    async refresh(this: void, userId: string): Promise<void> {
      if ((await all(userId)).length === 0) return;
      const work = unconditional(userId);
      const timeZone = await timeZoneOf(userId);
      const now = clock();
      await writes.run(work, async () => {
        const kept = await change(userId, (reminders) =>
          reminders
            .filter(({ cameAt = now.toISOString() }) => now.getTime() - Date.parse(cameAt) <= keptAfterMs)
            .map((each) => inZone(each, now, timeZone)),
        );
        await wake(userId, kept);
      });
    },
  };
}

/** Under which the work queue knows a person's reminders: they wait for no other work of theirs. */
export function remindersOf(userId: string): string {
  return `reminders-${userId}`;
}

/** The person of such a name; `undefined` for any other. */
export function personOfReminders(name: string): string | undefined {
  return /^reminders-(\d+)$/u.exec(name)?.[1];
}

const remindersFile = 'reminders.json';

/** @throws {RangeError} when the id is not a Discord id [S6]. */
function keyOf(userId: string): string {
  return `users/${assertSnowflake(userId)}/${remindersFile}`;
}

function areOne(a: Reminder, b: Reminder): boolean {
  return a.messageId === b.messageId && a.text === b.text && a.at === b.at;
}

export function formOf(text: string): string {
  return toSingleLine(text).toLowerCase();
}

export function isWaiting({ cameAt }: Pick<Reminder, 'cameAt'>): boolean {
  return cameAt === undefined;
}

function waitingAgain(reminder: Reminder, at: Date): Reminder {
  return { ...reminder, at: at.toISOString(), begunAt: undefined, cameAt: undefined, isMissed: undefined };
}

/** What comes again keeps its hour on the wall; what is due stays due. */
function inZone(reminder: Reminder, now: Date, timeZone: string): Reminder {
  const { repeat, first, at } = reminder;
  if (repeat === undefined || first === undefined || Date.parse(at) <= now.getTime()) return reminder;
  const next = nextAfter(Temporal.PlainDateTime.from(first), repeat, now, timeZone).toISOString();
  return next === at ? reminder : { ...reminder, at: next };
}

/** How a moment is shown to a person: in everybody's own zone [RM2]. */
export function shownMoment(at: Date): string {
  const seconds = Math.floor(at.getTime() / 1000);
  return `<t:${seconds}:F> (<t:${seconds}:R>)`;
}
