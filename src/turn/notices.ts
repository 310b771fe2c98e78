import type { CommandButton } from '../core/chat.ts';
import { growingCache } from '../core/limits.ts';
import { usesMemory, type UsedMemory } from '../core/memory-source.ts';
import { hasMoreReaders, sessionName } from '../core/place.ts';
import { counted } from '../core/text.ts';
import type { Clock } from '../core/time.ts';
import type { LateNotice, MemoryNotice } from '../core/tool.ts';
import { sessionOf, type TurnContext } from '../core/turn-context.ts';
import type { PersonSettingsStore } from '../memory/settings/person-settings.ts';
import { lineUnder, newestOf, sendLine, type Question, type ReplyPorts } from './reply.ts';

/** What stands under an answer of what became of memory: lines without the sign of small print, and buttons. */
interface ToldOfMemory {
  readonly lines: readonly string[];
  readonly buttons: readonly CommandButton[];
}

export type MemoryNotices = ReturnType<typeof createMemoryNotices>;

/** Tells under an answer what became of the speaker's memory in a turn, from what was done and never from what the model says [K6][K13]. */
export function createMemoryNotices(ports: {
  readonly people: Pick<PersonSettingsStore, 'latest'>;
  /** Where there are none, there are no buttons either: they would give commands. */
  readonly commandsEnabled: boolean;
}) {
  const { people, commandsEnabled } = ports;
  /** Conversations that have been told that the model has no tools. */
  const warned = growingCache<string, true>(keptAnswers);

  /** Once a conversation: the model may sound as if it had stored something [M9]. */
  function warningFor(turn: TurnContext): readonly string[] {
    const session = sessionName(sessionOf(turn));
    if (warned.has(session)) return [];
    warned.set(session, true);
    return [commandsEnabled ? `${cannotStore} · ${storeYourself}` : cannotStore];
  }

  return {
    /**
     * `mayName` is asked, where there are words to show, whether nobody reads along who does not read the answer; `hadNoTools` is whether the model could store
     * nothing. Never rejects.
     */
    async under(
      turn: TurnContext,
      notices: readonly MemoryNotice[],
      { hadNoTools = false, mayName }: UnderOptions,
    ): Promise<ToldOfMemory> {
      if (turn.speaker.isBot !== undefined) return nothing;
      const isMuted =
        notices.some(({ isQuiet }) => isQuiet) && (await people.latest(turn.speaker.id)).notices === 'off';
      const told = distinct(notices.filter(({ isQuiet }) => !isMuted || isQuiet === undefined));
      const done = told.length === 0 ? nothing : listed(told, await mayName());
      const panel = hadNoTools ? [{ label: 'Memory', line: 'memory panel', takes: 'nothing' as const }] : [];
      const buttons = [...done.buttons, ...panel].slice(0, mostButtons);
      return {
        lines: [...done.lines, ...(hadNoTools ? warningFor(turn) : [])],
        buttons: commandsEnabled ? buttons : [],
      };
    },
    /**
     * The *Why* button under an answer [K7]; none if no memory was used, or the person wants no notices. Never
     * rejects.
     */
    async why(
      { userId, isBot, messageIds }: Pick<Question, 'userId' | 'isBot' | 'messageIds'>,
      used: UsedMemory,
    ): Promise<readonly CommandButton[]> {
      if (!commandsEnabled || isBot !== undefined || !usesMemory(used)) return [];
      if ((await people.latest(userId)).notices === 'off') return [];
      return [{ label: 'Why', line: `memory why ${newestOf({ messageIds })}`, takes: 'nothing' }];
    },
  };
}

/** How long after an answer what was stored of its question is told, though more was said since; milliseconds. */
const lateForMs = 2 * 60_000;
/** How long what was stored waits for the answer to its message; longer than an answer takes, in milliseconds. */
const earlyForMs = 10 * 60_000;
/** Answers that are remembered for that. */
const keptAnswers = 1000;

/**
 * Says under an answer what was stored after it: until the next answer in the conversation, for two minutes at most
 * [K6]. Work after an earlier turn may finish while the next message is being answered; its notices wait for that
 * answer, and only what still holds is shown [G5].
 */
export function createLateNotices(
  ports: Pick<ReplyPorts, 'journal' | 'replies' | 'presentPlace' | 'logger'> & {
    readonly memoryNotices: MemoryNotices;
    /** Whether what a notice names is there yet, in the words that it has. Rejects with `StoreError`. */
    readonly isNamed: (late: LateNotice) => Promise<boolean>;
    readonly clock: Clock;
  },
) {
  const { memoryNotices, isNamed, presentPlace, clock, logger } = ports;
  const byMessage = growingCache<string, { readonly turn: TurnContext; readonly at: number }>(keptAnswers);
  const newest = growingCache<string, TurnContext>(keptAnswers);
  /** By message, of which this process knows no answer yet. */
  const early = growingCache<string, readonly LateNotice[]>(keptAnswers, { maxAge: earlyForMs });
  /** By message, how many were told under its answer. */
  const told = growingCache<string, number>(keptAnswers);

  async function tellUnder(turn: TurnContext, stored: readonly LateNotice[]): Promise<void> {
    const { speaker, place, messages } = turn;
    const readers = turn.saidIn ?? place;
    const mayName = !hasMoreReaders(readers, await presentPlace(readers));
    // Last, since Discord may be asked for the readers.
    const named = await stillNamed(stored);
    const notices = named.map(({ notice }) => notice);
    const { lines, buttons } = await memoryNotices.under(turn, notices, {
      mayName: () => Promise.resolve(mayName),
    });
    const line = lineUnder(undefined, [], lines);
    if (line === undefined) return;
    const question = { messageIds: messages.map(({ id }) => id), userId: speaker.id, place };
    const later = (told.get(newestOf(question)) ?? 0) + 1;
    told.set(newestOf(question), later);
    const stillHolds = async () => (await stillNamed(named)).length === named.length;
    if (!(await sendLine(ports, question, line, true, { buttons, later, stillHolds })))
      await tellUnder(turn, named);
  }

  async function stillNamed(stored: readonly LateNotice[]): Promise<readonly LateNotice[]> {
    const named: LateNotice[] = [];
    for (const late of stored) if (await isNamed(late)) named.push(late);
    return named;
  }

  /** Resolves with those of which this process knows no answer. Never rejects. */
  async function tell(stored: readonly LateNotice[]): Promise<readonly LateNotice[]> {
    const now = clock().getTime();
    const turns = new Map<TurnContext, LateNotice[]>();
    const unknown: LateNotice[] = [];
    for (const late of stored) {
      const { messageId, userId } = late;
      const { turn, at = 0 } = byMessage.get(messageId) ?? {};
      if (turn === undefined) early.set(messageId, [...(early.get(messageId) ?? []), late]);
      if (turn?.speaker.id !== userId) {
        unknown.push(late);
        continue;
      }
      if (now - at > lateForMs && newest.get(sessionName(sessionOf(turn))) !== turn) continue;
      turns.set(turn, [...(turns.get(turn) ?? []), late]);
    }
    for (const [turn, notices] of turns)
      try {
        await tellUnder(turn, notices);
      } catch (error) {
        logger.warn('a late memory notice could not be sent', { ...sessionOf(turn), error });
      }
    return unknown;
  }

  return {
    tell,
    /** A turn has its answer. */
    answered(this: void, turn: TurnContext): void {
      const at = clock().getTime();
      for (const { id } of turn.messages) byMessage.set(id, { turn, at });
      newest.set(sessionName(sessionOf(turn)), turn);
      const waiting = turn.messages.flatMap(({ id }) => early.get(id) ?? []);
      for (const { id } of turn.messages) early.delete(id);
      if (waiting.length > 0) void tell(waiting);
    },
  };
}

interface UnderOptions {
  readonly hadNoTools?: boolean;
  readonly mayName: () => Promise<boolean>;
}

const cannotStore = 'The model that I use has no tools: saying it in plain words stores and changes nothing';
const storeYourself = '`!memory remember <text>` stores it';

const nothing: ToldOfMemory = { lines: [], buttons: [] };
/** Changes that are told one by one; of more there is the number. */
const mostTold = 8;
/** Discord's limit. */
const mostButtons = 25;

/** A file that was written twice is told once. */
function distinct(notices: readonly MemoryNotice[]): readonly MemoryNotice[] {
  return [...new Map(notices.map((each) => [`${each.line}\n${linesOf(each)}`, each])).values()];
}

function linesOf({ buttons }: MemoryNotice): string {
  return buttons.map(({ line = '' }) => line).join('\n');
}

/** One line a change; where there are several, they and their buttons are numbered. */
function listed(notices: readonly MemoryNotice[], namesWords: boolean): ToldOfMemory {
  const said = ({ line, bareLine }: MemoryNotice): string => (namesWords ? line : bareLine);
  const [first, second] = notices;
  if (first !== undefined && second === undefined) return { lines: [said(first)], buttons: first.buttons };
  const shown = notices.slice(0, mostTold);
  const more = notices.length - shown.length;
  return {
    lines: [
      ...shown.map((each, index) => `${index + 1}. ${said(each)}`),
      ...(more === 0
        ? []
        : [`… and ${counted(more, 'more change')}: \`!memory show\` lists what there is now`]),
    ],
    buttons: shown.flatMap(({ buttons }, index) =>
      buttons.map((button) => ({
        ...button,
        label: `${button.label} ${index + 1}`,
        takes: 'itself' as const,
      })),
    ),
  };
}
