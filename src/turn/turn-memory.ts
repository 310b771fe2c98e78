import type { HistoryPort } from '../core/channels.ts';
import type { UsedMemory } from '../core/memory-source.ts';
import { sessionName, type Place, type SessionKey } from '../core/place.ts';
import { hasSecret } from '../core/secrets.ts';
import type { AnswerSize } from '../core/section.ts';
import { lruCache } from '../core/limits.ts';
import type { Clock } from '../core/time.ts';
import type { IncomingMessage } from '../core/message.ts';
import type { Tool } from '../core/tool.ts';
import type { TurnContext } from '../core/turn-context.ts';
import type { Work } from '../core/writes.ts';
import type { SessionLog } from '../memory/log/session-log.ts';
import type { Provenance } from '../memory/provenance.ts';
import type { OneTimeNotice, OneTimeNotices } from '../memory/settings/one-time-notices.ts';
import type { Consent, PersonSettingsStore } from '../memory/settings/person-settings.ts';
import { saveBestEffort, type PreparedReply } from './outbox.ts';
import { secretNote, type ReplyPorts } from './reply.ts';

/** What a turn's memory rests on. */
export interface TurnMemoryPorts extends Pick<ReplyPorts, 'outbox' | 'logger'> {
  /** What the owner has switched off where; neither rejects. */
  readonly settings: {
    readonly isMemoryOff: (place: Place) => Promise<boolean>;
    readonly areActionsOff: (place: Place) => Promise<boolean>;
  };
  /** What each person lets the bot keep [K9]. */
  readonly people: Pick<PersonSettingsStore, 'consent' | 'mayStore' | 'mode'>;
  readonly history: HistoryPort;
  readonly oneTimeNotices: Pick<OneTimeNotices, 'begin'>;
  readonly log: Pick<SessionLog, 'recordUser' | 'recordReply'>;
  readonly provenance: Pick<Provenance, 'record' | 'sent'>;
  readonly clock: Clock;
}

/** The tools of a turn. */
export interface TurnTools {
  readonly memory: readonly Tool[];
  /** For reading Discord, even where memory is off [B4]. */
  readonly reading: readonly Tool[];
  /** None where acting on Discord is off altogether. */
  readonly actions: readonly Tool[];
}

export type TurnMemory = Awaited<ReturnType<typeof openMemory>>;

/**
 * What a turn writes to memory, the question first, while the prompt is being made; nothing where memory is
 * off or paused. Also holds the lines that tell the person about it.
 */
export async function openMemory(turn: TurnContext, bot: TurnMemoryPorts) {
  const { log, outbox, logger, provenance, clock } = bot;
  const policy = await decidePolicy(turn, bot);
  const { isStored, consent, mayStoreNow } = policy;
  const isBot = turn.speaker.isBot !== undefined;
  const hasSecrets = turn.messages.some(({ text }) => hasSecret(text));
  let oneTime: OneTimeNotice | undefined;
  let isRecorded = false;
  const record = async (): Promise<void> => {
    await log.recordUser(turn, consent.mode);
    isRecorded = true;
  };
  const recorded = isStored ? saveBestEffort(logger, 'the message', record) : Promise.resolve();
  return {
    /** Resolves when the words are on disk, or cannot be; never rejects. */
    recorded,
    policy,
    /** What the speaker is told that memory does not keep [K14]. */
    secretNotes(answer: string): readonly string[] {
      return isStored && !isBot && (hasSecrets || hasSecret(answer)) ? [secretNote] : [];
    },
    /** What the speaker is told once, under a whole answer [K12][S5]. Never rejects. */
    async oneTimeNotice(): Promise<OneTimeNotice | undefined> {
      oneTime = isBot ? undefined : await bot.oneTimeNotices.begin(turn.work);
      return oneTime;
    },
    /** Notes what the answer is made from, before it is sent [K7]. Never rejects. */
    async recordUsed(used: UsedMemory, size: AnswerSize | undefined): Promise<void> {
      if (isBot) return;
      await saveBestEffort(logger, 'what an answer is made from', async () =>
        provenance.record(turn, used, await mayStoreNow(), size),
      );
    },
    async recordReply(
      ids: readonly string[],
      { text, thirdPartyMark }: Pick<PreparedReply, 'text' | 'thirdPartyMark'>,
    ): Promise<void> {
      if (!isBot) provenance.sent(turn, ids);
      if (!(await mayStoreNow())) return;
      const at = clock().toISOString();
      await saveBestEffort(logger, 'the reply', async () => {
        // The disk may have refused the question.
        if (!isRecorded) await record();
        const isKept = await log.recordReply(turn, { ids, text, at, thirdPartyMark });
        // What it answers was forgotten while it was made [K4].
        if (!isKept) await outbox.hide(turn.place.channelId, ids);
      });
    },
    async close(): Promise<void> {
      await recorded;
      oneTime?.release();
    },
  };
}

/** Writes down the words of an `/ask` before it waits for its turn, which then finds them there [EW2]. Never rejects. */
export async function recordAsked(message: IncomingMessage, work: Work, bot: TurnMemoryPorts): Promise<void> {
  const { author, isOwner, place } = message;
  const speaker = { id: author.id, name: author.name, isOwner };
  const turn = { speaker, place, messages: [message], now: bot.clock(), work, hasThirdPartyText: true };
  await (await openMemory(turn, bot)).close();
}

/**
 * What may be kept and done in a turn, by the owner's settings and the person's own [K9]: decided once, and asked
 * again where something is written or done, since it may have changed. Never rejects.
 */
async function decidePolicy(turn: TurnContext, { settings, people, history }: TurnMemoryPorts) {
  const { place, speaker } = turn;
  const isBot = speaker.isBot !== undefined;
  // What holds where an `/ask` was given holds for it too [EW2].
  const places = [place, ...turn.messages.flatMap(({ askedIn }) => askedIn ?? [])];
  const anywhere = async (ask: (of: Place) => Promise<boolean>): Promise<boolean> =>
    (await Promise.all(places.map(ask))).includes(true);
  const isMemoryOffNow = () => anywhere(settings.isMemoryOff);
  const areActionsOffNow = () => anywhere(settings.areActionsOff);
  const mayStore = async () =>
    !(await anywhere(async ({ channelId }) => !(await people.mayStore({ channelId, userId: speaker.id }))));
  const consentIn = (of: Place): Promise<Consent> => {
    const turnThere = { ...turn, place: of };
    return people.consent(turnThere, () => earlierTimes(turnThere, history));
  };
  const [isMemoryOff, areActionsOff, consent] = await Promise.all([
    isMemoryOffNow(),
    areActionsOffNow(),
    // Of another bot nothing is kept in any case.
    isBot
      ? Promise.resolve<Consent>({ isStored: true, mode: 'auto' })
      : Promise.all(places.map(consentIn)).then(narrowest),
  ]);
  const isStored = !isMemoryOff && consent.isStored;

  /** Why a memory tool does nothing by now, by the person's wish. */
  async function storingRefusal({ stores }: Tool): Promise<string | undefined> {
    // Another bot has no settings, and each tool knows what it may not do for it.
    if (stores === undefined || isBot) return undefined;
    if (consent.isUnreadable === true) return unreadableRefusal;
    if (!consent.isStored || !(await mayStore())) return pausedRefusal;
    if (stores === 'wishes') return undefined;
    const mode = await people.mode(speaker.id);
    if (mode === 'ask' && stores === 'notes') return unaskedRefusal;
    return mode === 'off' ? unnoticedRefusal : undefined;
  }

  const memoryRefusal = async (tool: Tool): Promise<string | undefined> =>
    (await isMemoryOffNow()) ? 'Memory is switched off in this channel.' : storingRefusal(tool);

  const actionRefusal = async (): Promise<string | undefined> =>
    (await areActionsOffNow()) ? 'Not done: actions are switched off in this place.' : undefined;

  return {
    isMemoryOff,
    areActionsOff,
    consent,
    /** Whether the question is logged; without it the log gets no reply, even if that is allowed meanwhile. */
    isStored,
    mayStoreNow: async (): Promise<boolean> =>
      isStored && !(await isMemoryOffNow()) && (isBot || (await mayStore())),
    /** Each refuses once it was switched off, also where what it offered is accepted. */
    tools: ({ memory, reading, actions }: TurnTools): readonly Tool[] => [
      ...(isMemoryOff ? [] : memory.map((tool) => refusedWhere(() => memoryRefusal(tool), tool))),
      ...reading,
      ...(areActionsOff ? [] : actions.map((tool) => refusedWhere(actionRefusal, tool))),
    ],
  };
}

/** The first is the conversation's own. */
function narrowest([own, ...others]: readonly Consent[]): Consent {
  if (own === undefined) throw new RangeError('A turn has a place');
  const narrower = others.find(({ isStored }) => !isStored);
  return own.isStored && narrower !== undefined ? { ...narrower, wasPaused: own.wasPaused } : own;
}

function refusedWhere(refusalNow: () => Promise<string | undefined>, tool: Tool): Tool {
  return {
    ...tool,
    async run(input, context, signal) {
      const refused = await refusalNow();
      if (refused !== undefined) return { ok: false, text: refused };
      const outcome = await tool.run(input, context, signal);
      const { offer } = outcome;
      if (offer === undefined) return outcome;
      const carryOut = async (pressed: AbortSignal) => (await refusalNow()) ?? offer.carryOut(pressed);
      return { ...outcome, offer: { ...offer, carryOut } };
    },
  };
}

const unreadableRefusal =
  'Not stored: memory cannot be read or written right now. Say that you cannot save anything at the moment.';
const pausedRefusal =
  'Not stored: the person has paused their memory. Only they can end that, with `!memory resume`.';
const unaskedRefusal =
  'Not stored: the person wants to be asked first, and notes cannot be asked about. What they say of themselves can be proposed with `remember_item`.';
const unnoticedRefusal =
  'Not stored: the person wants nothing to be noticed. Only they can have something stored, with `!memory remember`.';

/** All that history keeps. */
const earlierMessages = 100;

/** When the speaker wrote here before, as far as history tells. */
async function earlierTimes(
  { place, speaker }: TurnContext,
  history: HistoryPort,
): Promise<readonly string[]> {
  const earlier = await history.recent(place.channelId, earlierMessages);
  return earlier.flatMap(({ author, at }) => (author.id === speaker.id ? [at] : []));
}

/** A conversation that falls out is told once more. */
const keptSessions = 1000;

export type PauseNotes = ReturnType<typeof createPauseNotes>;

/** The small line about a pause [K9], once a pause and conversation, or about unreadable settings. */
export function createPauseNotes() {
  const lastPauses = lruCache<string, string>(keptSessions);
  return {
    take(
      session: SessionKey,
      { pause, isUnreadable }: Pick<Consent, 'pause' | 'isUnreadable'>,
    ): readonly string[] {
      // Told each time, as nobody knows when it ends.
      if (isUnreadable === true) return [cannotSave];
      const name = sessionName(session);
      if (pause === undefined || lastPauses.get(name) === pause.since) return [];
      lastPauses.set(name, pause.since);
      return [
        pause.scope === 'here'
          ? 'Paused: this conversation is off the record until `!memory resume` or 30 minutes of quiet'
          : 'Paused: nothing of this is stored until `!memory resume`',
      ];
    },
  };
}

const cannotSave = "I can't save right now, so nothing of this is remembered";
