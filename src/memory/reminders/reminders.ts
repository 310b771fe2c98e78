import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

import { z } from 'zod';

import { messageIdsOf } from '../../core/changes.ts';
import { limits } from '../../core/limits.ts';
import { placeSchema, type Place, type SessionKey } from '../../core/place.ts';
import { hasSecret } from '../../core/secrets.ts';
import { dataLine, fitLines } from '../../core/section.ts';
import { assertSnowflake } from '../../core/snowflake.ts';
import type { DocumentKind, Store } from '../../core/store.ts';
import { clipAtWord, counted, saysWords, toSingleLine } from '../../core/text.ts';
import { localMoment, type Clock } from '../../core/time.ts';
import type { TurnContext } from '../../core/turn-context.ts';
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
/** Of a line there, where not all fit as they are. */
const shortMaxChars = 78;
/** What came and was not answered is kept for its buttons for so long; milliseconds. */
const keptAfterMs = 7 * 24 * 60 * 60_000;

const reminderSchema = z.object({
  id: z.string(),
  /** The person's own words. */
  text: z.string(),
  /** When it comes next. */
  at: z.iso.datetime(),
  repeat: z.enum(repeats).optional(),
  /** When it was to come first, as the clock on the wall showed it: from there it is counted when it comes again. */
  first: z.iso.datetime({ local: true }).regex(/\d$/u),
  /** Where it was set and is to come, with who could read it then. */
  place: placeSchema,
  /** The message or command that set it, or that its item came from. */
  messageId: z.string(),
  /** Of an item: what that message says of it. */
  statement: z.string().optional(),
  /** Since when and where it is being said, and what names it there: after a kill it may stand there already. */
  attempt: z
    .object({ at: z.iso.datetime(), channelId: z.string().optional(), mark: z.string() })
    .readonly()
    .optional(),
  /** It came then, and waits for an answer. */
  cameAt: z.iso.datetime().optional(),
  /** It could be delivered nowhere, and its person was told of that or not yet. */
  missed: z.enum(['untold', 'told']).optional(),
});

export type Reminder = Readonly<z.infer<typeof reminderSchema>>;

const documentSchema = z.object({ version: z.literal(1), reminders: z.array(reminderSchema).readonly() });
type Document = z.infer<typeof documentSchema>;
export const remindersKind: DocumentKind<Document> = {
  version: 1,
  schema: documentSchema,
};

/** What an export is read for [K10]. */
const exportedSchema = reminderSchema.pick({ text: true, at: true, repeat: true, first: true });

export interface NewReminder extends Pick<Reminder, 'text' | 'repeat' | 'place' | 'messageId' | 'statement'> {
  readonly at: Date;
  /** Default: that moment. */
  readonly first?: string | undefined;
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
  /** What a message of a session may tell; `undefined` for nothing. */
  readonly textOf: (session: SessionKey, messageId: string) => Promise<string | undefined>;
}) {
  const { store, writes, clock, timeZoneOf, wakeAt, textOf } = ports;

  /** By person, the messages that set theirs: commands are in no log [F2]. An item stays when the command that it came from is deleted. */
  const messagesOf = new Map<string, ReadonlySet<string>>();

  function noted(userId: string, { reminders }: Pick<Document, 'reminders'> = { reminders: [] }) {
    if (reminders.length === 0) messagesOf.delete(userId);
    else
      messagesOf.set(
        userId,
        new Set(reminders.flatMap(({ messageId, statement }) => (statement === undefined ? messageId : []))),
      );
    return reminders;
  }

  async function all(userId: string): Promise<readonly Reminder[]> {
    return noted(userId, await store.read(keyOf(userId), remindersKind));
  }

  /** Without those that their message may not tell since it was forgotten; by when they come. */
  async function list(userId: string): Promise<readonly Reminder[]> {
    const [reminders, { touches }] = await Promise.all([all(userId), readWithheld(store, userId)]);
    const visible = reminders.map(async (each) => {
      const { messageId, place } = each;
      if (!touches(messageId)) return each;
      const left = await textOf({ channelId: place.channelId, userId }, messageId);
      return isSaidIn(left, each) ? each : [];
    });
    return (await Promise.all(visible)).flat().toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  }

  /** As part of a job of the person's queue. */
  async function change(
    userId: string,
    by: (reminders: readonly Reminder[]) => readonly Reminder[],
  ): Promise<void> {
    let isLosing = false;
    const stored = await store.update(
      keyOf(userId),
      remindersKind,
      (document) => {
        const before = document?.reminders ?? [];
        const after = by(before);
        isLosing = before.some(({ id }) => !after.some((each) => each.id === id));
        return isDeepStrictEqual(after, before) ? document : { version: 1 as const, reminders: after };
      },
      { erase: () => isLosing },
    );
    await wake(userId, noted(userId, stored));
  }

  async function wake(userId: string, reminders: readonly Reminder[]): Promise<void> {
    const waiting = reminders.filter(isWaiting).map(({ at }) => Date.parse(at));
    if (waiting.length > 0) await wakeAt(userId, new Date(Math.min(...waiting)));
  }

  function changeEach(
    work: Work,
    ids: readonly string[],
    by: (reminder: Reminder) => Reminder | readonly [],
  ): Promise<void> {
    return writes.run(work, () =>
      change(work.userId, (before) => before.flatMap((each) => (ids.includes(each.id) ? by(each) : each))),
    );
  }

  /** From a moment on: what comes on weekdays waits for one. */
  async function momentsFrom(
    at: Date,
    userId: string,
    { repeat, first }: Pick<NewReminder, 'repeat' | 'first'>,
  ) {
    const timeZone = await timeZoneOf(userId);
    const moments = { at: at.toISOString(), first: first ?? wallTimeIn(at, timeZone).toString() };
    return { ...moments, at: nextOf({ ...moments, repeat }, new Date(at.getTime() - 1), timeZone) };
  }

  const layer: MemoryLayer = {
    name: 'reminders',
    async sections({ speaker, place }) {
      const [reminders, timeZone] = await Promise.all([list(speaker.id), timeZoneOf(speaker.id)]);
      const usable = reminders.filter((each) => isWaiting(each) && mayUseReminder(each, speaker.id, place));
      const next = usable.slice(0, mostInPrompt);
      const linesOf = (maxChars = Infinity): string[] =>
        next.map(({ at, text }) =>
          dataLine(clipAtWord(`- ${localMoment(new Date(at), timeZone)}: ${text}`, maxChars)),
        );
      const section = {
        name: 'reminders',
        slot: 'last',
        title: 'What this person asked to be reminded of, and when (quoted data):',
        budget: sectionMaxChars,
      } as const;
      const lines = fitLines(section, linesOf());
      const hasAll = lines.length === next.length;
      return [{ ...section, lines: hasAll ? lines : fitLines(section, linesOf(shortMaxChars)) }];
    },
    async holdersOf(about) {
      const ids = messageIdsOf(about);
      const { channelId } = about;
      return Array.from(messagesOf).flatMap(([userId, own]) =>
        ids.some((id) => own.has(id)) ? { channelId, userId } : [],
      );
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
          const { cause } = deletion;
          const ids = messageIdsOf(cause);
          return without((each) => ids.includes(each.messageId) && !isSaidIn(cause.text, each));
        }
        case 'words':
          return without(({ text }) => saysWords(text, deletion.words));
        case 'record':
        // They come by direct message then [RM3].
        case 'conversations':
          return;
        case 'person':
          noted(userId);
          return store.remove(keyOf(userId));
      }
    },
    async *export(userId) {
      const visible = await list(userId);
      const forgotten = (await all(userId)).filter(({ id }) => !visible.some((each) => each.id === id));
      for (const [folder, reminders] of [['', visible] as const, ['forgotten/', forgotten] as const])
        if (reminders.length > 0)
          yield { path: folder + remindersFile, text: JSON.stringify(reminders, undefined, 2) };
    },
    evict: (userId) => void noted(userId),
  };

  return {
    layer,
    list,
    async set(
      work: Work,
      { text, at, ...rest }: NewReminder,
    ): Promise<Reminder | 'full' | 'secret' | 'long' | 'empty'> {
      const words = toSingleLine(text);
      if (words === '') return 'empty';
      if (words.length > reminderMaxChars) return 'long';
      if (hasSecret(words)) return 'secret';
      const moments = await momentsFrom(at, work.userId, rest);
      const added: Reminder = { ...rest, ...moments, id: randomUUID().slice(0, 8), text: words };
      let outcome: Reminder | 'full' = added;
      await writes.run(work, () =>
        change(work.userId, (before) => {
          // After a kill, what sets one may be done again [RM4].
          const known = before.find((each) => isSame(each, added));
          // What came already makes room.
          const goes = before.length < limits.reminders ? undefined : before.find((each) => !isWaiting(each));
          const stay = before.filter((each) => each !== goes);
          if (known === undefined && stay.length < limits.reminders) return [...stay, added];
          outcome = known ?? 'full';
          return before;
        }),
      );
      return outcome;
    },
    /** Gives it another moment, from which it is counted where it comes again. */
    async move(
      work: Work,
      { id, text, repeat, place, messageId, statement }: Reminder,
      at: Date,
    ): Promise<Reminder> {
      const moments = await momentsFrom(at, work.userId, { repeat });
      const moved = { id, text, repeat, place, messageId, statement, ...moments };
      await changeEach(work, [id], () => moved);
      return moved;
    },
    remove: (work: Work, id: string): Promise<void> => changeEach(work, [id], () => []),
    /**
     * Of a person, what has to come by now, the oldest first, and of what comes again the newest; the next one is waited
     * for.
     */
    async due(userId: string): Promise<readonly Reminder[]> {
      const now = clock();
      const [reminders, timeZone] = await Promise.all([list(userId), timeZoneOf(userId)]);
      await wake(
        userId,
        reminders.filter((each) => !isDue(each, now)),
      );
      return reminders
        .filter((each) => isDue(each, now))
        .map((each) => ({ ...each, at: newestOf(each, now, timeZone) }));
    },
    /** These are about to be said, in a channel or directly. Resolves with `false` where one was changed meanwhile. */
    async begin(work: Work, ids: readonly string[], mark: string, channelId?: string): Promise<boolean> {
      const now = clock();
      const due = new Set<string>();
      await changeEach(work, ids, (reminder) => {
        if (!isDue(reminder, now)) return reminder;
        due.add(reminder.id);
        return { ...reminder, attempt: { at: now.toISOString(), channelId, mark } };
      });
      return due.size === ids.length;
    },
    /** These came, or could not; what comes again waits for its next moment. */
    async came(work: Work, ids: readonly string[], wasDelivered: boolean): Promise<void> {
      const timeZone = await timeZoneOf(work.userId);
      const now = clock();
      const missed = wasDelivered ? undefined : ('untold' as const);
      await changeEach(work, ids, (reminder) => {
        // Its person has moved it meanwhile.
        if (!isDue(reminder, now)) return reminder;
        const next =
          reminder.repeat === undefined
            ? { cameAt: now.toISOString() }
            : // After a kill it may have come long ago.
              { at: nextOf(reminder, new Date(reminder.attempt?.at ?? now), timeZone) };
        return { ...reminder, ...next, attempt: undefined, missed };
      });
    },
    /** Those of an export that are still to come here, and are not there already [K10]. Nothing of it is trusted. */
    async stillToCome(userId: string, exported: readonly unknown[]) {
      const [known, timeZone] = await Promise.all([list(userId), timeZoneOf(userId)]);
      const now = clock();
      return exported
        .slice(0, limits.reminders)
        .flatMap((each) => exportedSchema.safeParse(each).data ?? [])
        .map((each) => ({ ...each, at: nextOf(each, now, timeZone) }))
        .filter(({ at }) => Date.parse(at) > now.getTime())
        .filter(({ at, text }) => !known.some((each) => each.at === at && each.text === text));
    },
    /** What the person's next answer tells of those that could be delivered nowhere; `markTold` is to be called once it has. */
    async untold(this: void, { speaker, work }: Pick<TurnContext, 'speaker' | 'work'>) {
      const ids = (await list(speaker.id)).flatMap(({ id, missed }) => (missed === 'untold' ? id : []));
      const line = `📌 I could not deliver ${counted(ids.length, 'reminder')}: \`/reminders\` shows what was missed`;
      return {
        notices: ids.length === 0 ? [] : [{ line, bareLine: line, buttons: [] }],
        async markTold(): Promise<void> {
          if (ids.length > 0) await changeEach(work, ids, (reminder) => ({ ...reminder, missed: 'told' }));
        },
      };
    },
    /** Has the next one wait: at a start, and where its person has another zone by now. Drops what came long ago. */
    async refresh(this: void, userId: string): Promise<void> {
      if ((await all(userId)).length === 0) return;
      const timeZone = await timeZoneOf(userId);
      const now = clock();
      await writes.run(unconditional(userId), () =>
        change(userId, (reminders) =>
          reminders
            .filter(({ cameAt = now.toISOString() }) => now.getTime() - Date.parse(cameAt) <= keptAfterMs)
            // What is due stays due.
            .map((each) =>
              Date.parse(each.at) <= now.getTime() ? each : { ...each, at: nextOf(each, now, timeZone) },
            ),
        ),
      );
    },
  };
}

/** What comes again keeps its hour on the wall. */
function nextOf(
  { at, repeat, first }: Pick<Reminder, 'at' | 'repeat' | 'first'>,
  now: Date,
  timeZone: string,
): string {
  if (repeat === undefined) return at;
  return nextAfter(first, repeat, now, timeZone).toISOString();
}

/** When it was to come last by now. */
function newestOf(reminder: Reminder, now: Date, timeZone: string): string {
  for (let { at } = reminder; ;) {
    const next = nextOf(reminder, new Date(at), timeZone);
    if (next === at || Date.parse(next) > now.getTime()) return at;
    at = next;
  }
}

/** Under which the work queue knows a person's reminders: they wait for no other work of theirs. */
export function remindersOf(userId: string): string {
  return `reminders-${userId}`;
}

/** All names under which the work queue has a person. */
export function queuedNamesOf(userId: string): readonly string[] {
  return [userId, remindersOf(userId)];
}

/** The person of such a name; `undefined` for any other. */
export function personOfReminders(name: string): string | undefined {
  return /^reminders-(\d+)$/u.exec(name)?.[1];
}

export const remindersFile = 'reminders.json';

/** @throws {RangeError} when the id is not a Discord id [S6]. */
function keyOf(userId: string): string {
  return `users/${assertSnowflake(userId)}/${remindersFile}`;
}

function isSame(a: Reminder, b: Reminder): boolean {
  return a.messageId === b.messageId && a.text === b.text && a.at === b.at;
}

export function formOf(text: string): string {
  return toSingleLine(text).toLowerCase();
}

/** Whether it may be told of in a place [V2]. */
export function mayUseReminder(reminder: Pick<Reminder, 'place'>, ownerId: string, place: Place): boolean {
  return mayUse({ ownerId, ...reachOf(reminder.place) }, place, ownerId);
}

function isDue({ at, cameAt }: Reminder, now: Date): boolean {
  return cameAt === undefined && Date.parse(at) <= now.getTime();
}

/** Whether a message's text still says what set it. */
function isSaidIn(text = '', { text: what, statement = what }: Reminder): boolean {
  return formOf(text).includes(formOf(statement));
}

function isWaiting({ cameAt }: Pick<Reminder, 'cameAt'>): boolean {
  return cameAt === undefined;
}
