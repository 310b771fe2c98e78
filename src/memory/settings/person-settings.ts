import { z } from 'zod';

import { unconditional, type SessionWork, type Work, type Writes } from '../../core/writes.ts';
import { limits } from '../../core/limits.ts';
import { writtenAt } from '../../core/message.ts';
import type { Logger } from '../../core/logger.ts';
import type { SessionKey } from '../../core/place.ts';
import { assertSnowflake, idSchema } from '../../core/snowflake.ts';
import type { DocumentKind, SetAside, Store } from '../../core/store.ts';
import type { Clock } from '../../core/time.ts';
import { timeZoneNamed } from '../../core/time-zone.ts';
import { sessionWorkOf, type TurnContext } from '../../core/turn-context.ts';
import { createErasures } from './erasures.ts';
import type { MemoryLayer } from '../layer.ts';

/** What is noticed of a person [K9]; `ask`: after their yes. */
export const captureModes = ['auto', 'ask', 'off'] as const;
export type CaptureMode = (typeof captureModes)[number];

/** A pause of one conversation ends after so long without a message of the person [K9]. */
const quietMs = 30 * 60_000;

const timeSchema = z.string().refine((text) => !Number.isNaN(Date.parse(text)), 'not a date');

const pastPauseSchema = z.object({
  from: timeSchema,
  until: timeSchema,
  /** Absent where it held everywhere. */
  channelId: idSchema.optional(),
});

/** `users/<userId>/settings.json`, which people may edit by hand. Times are ISO 8601, by Discord's clock. */
const documentSchema = z.object({
  version: z.literal(1),
  mode: z.enum(captureModes).optional(),
  /** Whether the person gets notices about what was noticed [K6]. */
  notices: z.enum(['on', 'off']).optional(),
  /** An IANA name; one that nobody knows counts as none. */
  timeZone: z.string().transform(timeZoneNamed).optional().catch(undefined),
  /** Since when everything is paused. */
  pausedAt: timeSchema.optional(),
  /** Conversations off the record, by channel or thread, and when the person last wrote there. */
  pausedHere: z.record(idSchema, z.object({ since: timeSchema, lastMessageAt: timeSchema })).optional(),
  /** Oldest first: what was said in them is not stored later either. */
  pastPauses: z.array(pastPauseSchema).readonly().optional(),
  /** When the person had the first words [K12]; absent for never. */
  greetedAt: timeSchema.optional(),
  /** Unreadable files of theirs that they were not told of yet, oldest first [S5]. */
  setAside: z
    .array(z.object({ key: z.string(), at: timeSchema, copyFrom: timeSchema.optional() }))
    .readonly()
    .optional(),
});

type StoredSettings = Readonly<z.infer<typeof documentSchema>>;
export interface PersonSettings extends StoredSettings {
  /** When they had everything erased [K11]: what was said before is not used. Not in this file. */
  readonly erasedAt?: string | undefined;
}
type PastPause = Readonly<z.infer<typeof pastPauseSchema>>;

export const settingsKind: DocumentKind<StoredSettings> = { version: 1, schema: documentSchema };

const unset: PersonSettings = { version: 1 };
const epoch = new Date(0).toISOString();
/** Used where settings cannot be read: nothing is stored. */
const unreadable: PersonSettings = { version: 1, mode: 'off', pausedAt: epoch, greetedAt: epoch };

export interface Pause {
  readonly scope: 'everywhere' | 'here';
  /** ISO 8601. */
  readonly since: string;
}

/** What a person lets the bot keep of a turn [K9]. */
export interface Consent {
  /** Whether words of the turn and its answer may be written down at all. */
  readonly isStored: boolean;
  /** What may be noticed in them. */
  readonly mode: CaptureMode;
  /** The pause to tell the person about. */
  readonly pause?: Pause | undefined;
  /** Their settings cannot be read, so nothing is stored. */
  readonly isUnreadable?: true;
  /** Whether something was said here at a moment, ISO 8601, in a past pause or before an erasing. */
  readonly wasPaused?: ((at: string) => boolean) | undefined;
}

/** How many of their newest set-aside files a person is shown. */
const mostSetAside = 3;

export type PersonSettingsStore = ReturnType<typeof createPersonSettings>;

/** What each person wants of their memory [K9][K6]. Edits by hand count from the next turn on [S5]. */
export function createPersonSettings(ports: {
  readonly store: Store;
  /** The users' write queue [S3]; none of its jobs may call what changes settings. */
  readonly writes: Writes;
  /** Default: `auto`. */
  readonly defaultMode?: CaptureMode;
  /** Of those who have set none; IANA. Default: UTC. */
  readonly timeZone?: string;
  readonly clock: Clock;
  readonly logger: Logger;
}) {
  const { store, writes, defaultMode = 'auto', timeZone = 'UTC', clock, logger } = ports;
  const erasures = createErasures(store);

  /** Rejects with `StoreError`; `undefined` where nothing was ever set. */
  async function get(userId: string): Promise<PersonSettings | undefined> {
    const [stored, erasedAt] = await Promise.all([
      store.read(keyOf(userId), settingsKind),
      erasures.at(userId),
    ]);
    return erasedAt === undefined ? stored : { ...(stored ?? unset), erasedAt };
  }

  async function read(userId: string): Promise<PersonSettings> {
    try {
      return (await get(userId)) ?? unset;
    } catch (error) {
      logger.error("a person's settings cannot be read, so nothing of theirs is stored", { userId, error });
      return unreadable;
    }
  }

  async function change(
    work: Work,
    operation: (settings: StoredSettings) => PersonSettings,
  ): Promise<PersonSettings> {
    const changed = await writes.run(work, () =>
      // A damaged file must not bring back what a setting stopped.
      store.update(keyOf(work.userId), settingsKind, (before) => operation(before ?? unset), { erase: true }),
    );
    return changed ?? unset;
  }

  async function prolong(session: SessionWork, at: string): Promise<void> {
    const { channelId } = session;
    try {
      await change(session, (settings) => {
        const here = settings.pausedHere?.[channelId];
        if (here === undefined || Date.parse(here.lastMessageAt) >= Date.parse(at)) return settings;
        return prolonged(settings, channelId, at);
      });
    } catch (error) {
      logger.error('an off-the-record conversation could not be saved', { ...session, error });
    }
  }

  const layer: MemoryLayer = {
    name: 'settings',
    sections: () => Promise.resolve([]),
    async delete(deletion) {
      if (deletion.kind === 'person') await store.remove(keyOf(deletion.userId));
    },
    async *export(userId) {
      const settings = await get(userId);
      if (settings !== undefined)
        yield { path: 'settings.json', text: JSON.stringify(settings, undefined, 2) };
    },
  };

  return {
    layer,
    get,
    /** Never rejects: where unknown, all is paused. */
    latest: read,
    /**
     * What may be kept of a turn. `earlier` gives the times of the person's earlier messages there, in case they
     * kept a pause open unseen. Never rejects.
     */
    async consent(turn: TurnContext, earlier: () => Promise<readonly string[]>): Promise<Consent> {
      const session = sessionWorkOf(turn);
      const { channelId } = session;
      const at = turn.messages.at(-1)?.at ?? turn.now.toISOString();
      const present = await read(session.userId);
      if (present === unreadable)
        return { isStored: false, mode: 'off', isUnreadable: true, wasPaused: () => true };
      const settings = withoutLapsed(await withEarlier(present, channelId, at, earlier), Date.parse(at));
      const pause = openPause(settings, channelId);
      if (pause?.scope === 'here') await prolong(session, at);
      const wasPaused = (time: string) => wasPausedAt(settings, channelId, time);
      return {
        isStored: pause === undefined && !turn.messages.flatMap(writtenAt).some(wasPaused),
        mode: settings.mode ?? defaultMode,
        pause,
        wasPaused:
          settings.pastPauses === undefined && settings.erasedAt === undefined ? undefined : wasPaused,
      };
    },
    /** Whether words said at a moment may be written down now. Never rejects. */
    async mayStore({ userId, channelId }: SessionKey, sentAt: Date = clock()): Promise<boolean> {
      const settings = withoutLapsed(await read(userId), clock().getTime());
      return (
        openPause(settings, channelId) === undefined &&
        !wasPausedAt(settings, channelId, sentAt.toISOString())
      );
    },
    /** What may be noticed in what the person says. Never rejects. */
    mode: async (userId: string): Promise<CaptureMode> => (await read(userId)).mode ?? defaultMode,
    /** The person's zone, an IANA name. Never rejects. */
    timeZoneOf: async (userId: string): Promise<string> => (await read(userId)).timeZone ?? timeZone,
    /** By which clock a moment is read, and how to set it [RM2]. Never rejects. */
    async shownClock(this: void, userId: string): Promise<string> {
      const { timeZone: own } = await read(userId);
      const zone = own ?? `${timeZone}, which is mine`;
      return `By the clock in ${zone}; \`!memory timezone <city>\` sets yours.`;
    },
    /** Whether what was said by or to them at a moment, ISO 8601, was erased since [K11]. Never rejects. */
    async erasedBy(userId: string, ifUnknown = false): Promise<(at: string) => boolean> {
      const settings = await read(userId);
      return (at) => (settings === unreadable ? ifUnknown : wasErasedAt(settings, at));
    },
    /**
     * Whether others in a channel may be told what the person said there at a moment, ISO 8601 [B4]. `times` is
     * when they wrote there. Never rejects.
     */
    async mayRetell(
      { userId, channelId }: SessionKey,
      times: readonly string[],
    ): Promise<(at: string) => boolean> {
      const now = clock().getTime();
      const newest = new Date(now).toISOString();
      const present = await withEarlier(await read(userId), channelId, newest, async () => times);
      const settings = withoutLapsed(present, now);
      if (openPause(settings, channelId) !== undefined) return () => false;
      return (at) => !wasPausedAt(settings, channelId, at);
    },
    /** Notes a file of theirs that was set aside, unless they are erased meanwhile. Rejects with `StoreError`. */
    async noteSetAside(userId: string, file: SetAside): Promise<void> {
      await change(await writes.begin(userId), (settings) => ({
        ...settings,
        setAside: [...(settings.setAside ?? []), file].slice(-mostSetAside),
      }));
    },
    /** They were told of these. Rejects with `StoreError`. */
    async dropSetAside(userId: string, shown: readonly SetAside[]): Promise<void> {
      // Somebody erased since has no settings.
      const isLeft = ({ key, at }: SetAside) => !shown.some((each) => each.key === key && each.at === at);
      const left = (settings?: StoredSettings) =>
        settings && { ...settings, setAside: settings.setAside?.filter(isLeft) };
      await writes.run(unconditional(userId), () =>
        store.update(keyOf(userId), settingsKind, left, { erase: true }),
      );
    },
    /** Rejects with `StoreError`, as what follows does. */
    set: (work: Work, values: Partial<Pick<PersonSettings, 'mode' | 'notices' | 'timeZone' | 'greetedAt'>>) =>
      change(work, (settings) => ({ ...settings, ...values })),
    /** Pauses everything, or one conversation, from a moment on. Resolves with what then holds there. */
    async pause(session: SessionWork, scope: Pause['scope'], at: string): Promise<Pause | undefined> {
      const { channelId } = session;
      const changed = await change(session, (before) => {
        const settings = withoutLapsed(before, Date.parse(at));
        if (openPause(settings, scope === 'here' ? channelId : '') !== undefined) return settings;
        return scope === 'everywhere' ? { ...settings, pausedAt: at } : prolonged(settings, channelId, at);
      });
      return openPause(changed, channelId);
    },
    /** Ends the pause of everything and of this conversation. Resolves with the wider one. */
    async resume(session: SessionWork, at: string): Promise<Pause | undefined> {
      const { channelId } = session;
      let ended: Pause | undefined;
      await change(session, (before) => {
        const settings = withoutLapsed(before, Date.parse(at));
        ended = openPause(settings, channelId);
        return resumed(settings, channelId, at);
      });
      return ended;
    },
    /** The pause that holds in a conversation. Rejects with `StoreError`. */
    async pauseIn({ userId, channelId }: SessionKey, at: string): Promise<Pause | undefined> {
      return openPause(withoutLapsed((await get(userId)) ?? unset, Date.parse(at)), channelId);
    },
  };
}

function keyOf(userId: string): string {
  return `users/${assertSnowflake(userId)}/settings.json`;
}

/** By settings that are settled. */
function openPause({ pausedAt, pausedHere }: PersonSettings, channelId: string): Pause | undefined {
  if (pausedAt !== undefined) return { scope: 'everywhere', since: pausedAt };
  const here = pausedHere?.[channelId];
  return here === undefined ? undefined : { scope: 'here', since: here.since };
}

function wasErasedAt({ erasedAt }: PersonSettings, at: string): boolean {
  return erasedAt !== undefined && Date.parse(at) <= Date.parse(erasedAt);
}

/** What was said before an erasing counts as said in a past pause. */
function wasPausedAt(settings: PersonSettings, channelId: string, at: string): boolean {
  const time = Date.parse(at);
  if (wasErasedAt(settings, at)) return true;
  return (settings.pastPauses ?? []).some(
    (past) =>
      (past.channelId ?? channelId) === channelId &&
      Date.parse(past.from) <= time &&
      time < Date.parse(past.until),
  );
}

/** Ends the pauses that quiet has ended by `now`, in milliseconds since the epoch. */
function withoutLapsed(settings: PersonSettings, now: number): PersonSettings {
  const ended = Object.entries(settings.pausedHere ?? {}).filter(
    ([, { lastMessageAt }]) => now - Date.parse(lastMessageAt) >= quietMs,
  );
  return ended.reduce(
    (before, [channelId, { lastMessageAt }]) =>
      withoutHere(before, channelId, new Date(Date.parse(lastMessageAt) + quietMs).toISOString()),
    settings,
  );
}

function resumed(settings: PersonSettings, channelId: string, at: string): PersonSettings {
  const { pausedAt, ...rest } = withoutHere(settings, channelId, at);
  if (pausedAt === undefined) return rest;
  return { ...rest, pastPauses: withPast(rest.pastPauses, { from: pausedAt, until: at }) };
}

/** After the pause of one conversation. */
function withoutHere(settings: PersonSettings, channelId: string, until: string): PersonSettings {
  const { [channelId]: here, ...others } = settings.pausedHere ?? {};
  if (here === undefined) return settings;
  return {
    ...settings,
    pausedHere: Object.keys(others).length === 0 ? undefined : others,
    pastPauses: withPast(settings.pastPauses, { from: here.since, until, channelId }),
  };
}

/** Of too many the two oldest become one, which leaves out rather too much than too little. */
function withPast(pauses: readonly PastPause[] = [], added: PastPause): readonly PastPause[] {
  const [first, second, ...rest] = [...pauses, added];
  if (first === undefined || second === undefined || rest.length + 2 <= limits.pastPauses)
    return [...pauses, added];
  const times = [first, second].flatMap(({ from, until }) => [Date.parse(from), Date.parse(until)]);
  const both = {
    from: new Date(Math.min(...times)).toISOString(),
    until: new Date(Math.max(...times)).toISOString(),
    channelId: first.channelId === second.channelId ? first.channelId : undefined,
  };
  return [both, ...rest];
}

/** Prolonged by what the person wrote off the record, each message within the time that the one before gave. */
async function withEarlier(
  settings: PersonSettings,
  channelId: string,
  at: string,
  earlier: () => Promise<readonly string[]>,
): Promise<PersonSettings> {
  const here = settings.pausedHere?.[channelId];
  if (here === undefined || Date.parse(at) - Date.parse(here.lastMessageAt) < quietMs) return settings;
  let last = Date.parse(here.lastMessageAt);
  for (const time of (await earlier()).map(Date.parse).toSorted((a, b) => a - b))
    if (time > last && time - last < quietMs) last = time;
  return prolonged(settings, channelId, new Date(last).toISOString());
}

function prolonged<Settings extends StoredSettings>(
  settings: Settings,
  channelId: string,
  lastMessageAt: string,
): Settings {
  const since = settings.pausedHere?.[channelId]?.since ?? lastMessageAt;
  return { ...settings, pausedHere: { ...settings.pausedHere, [channelId]: { since, lastMessageAt } } };
}
