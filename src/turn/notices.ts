import type { CommandButton, FooterParts, ReplyPort } from '../core/reply.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import { lruCache } from '../core/limits.ts';
import type { UsedMemory } from '../core/memory-source.ts';
import { hasMoreReaders, sessionName } from '../core/place.ts';
import { counted } from '../core/text.ts';
import type { LateNotice, MemoryNotice } from '../core/tool.ts';
import { sessionOf, type TurnContext } from '../core/turn-context.ts';
import type { PersonSettingsStore } from '../memory/settings/person-settings.ts';
import { newestOf } from './outbox.ts';
import type { Question, ReplyPorts } from './reply.ts';

/** Conversations and answers that are remembered for telling. */
const remembered = 1000;

export type MemoryNotices = ReturnType<typeof createMemoryNotices>;

/** Tells in an answer's footer what was done with the speaker's memory, whatever the model says [K6][K13]. */
export function createMemoryNotices(ports: {
  readonly people: Pick<PersonSettingsStore, 'latest'>;
  /** Where there are none, there are no buttons either: they would give commands. */
  readonly commandsEnabled: boolean;
}) {
  const { people, commandsEnabled } = ports;
  /** Conversations that have been told that the model has no tools. */
  const warned = lruCache<string, true>(remembered);

  /** Once a conversation: the model may sound as if it had stored something [M9]. */
  function warningFor(turn: TurnContext): readonly string[] {
    const session = sessionName(sessionOf(turn));
    if (warned.has(session)) return [];
    warned.set(session, true);
    return [commandsEnabled ? `${cannotStore} · ${storeYourself}` : cannotStore];
  }

  return {
    /**
     * Adds notices to a footer, below what it tells. `mayName` says whether all readers may see the words; `hadNoTools` whether the
     * model could store nothing. Never rejects.
     */
    async under(
      turn: TurnContext,
      notices: readonly MemoryNotice[],
      { present = nothing, hadNoTools = false, mayName }: UnderOptions,
    ): Promise<FooterParts> {
      if (turn.speaker.isBot !== undefined) return present;
      const isMuted =
        notices.some(({ isQuiet }) => isQuiet) && (await people.latest(turn.speaker.id)).notices === 'off';
      const visible = notices.filter(({ isQuiet }) => !isMuted || isQuiet === undefined);
      const namesWords = visible.length > 0 && (await mayName());
      const lines = [...present.lines, ...linesOf(visible, namesWords)];
      const shown = visible.map(({ buttons: named, bareButtons: bare = named }) =>
        namesWords ? named : bare,
      );
      const buttons = withButtons([present.buttons, ...shown]);
      const panel = { label: 'Memory', line: 'memory panel', takes: 'nothing' as const };
      return {
        lines: hadNoTools ? [...lines, ...warningFor(turn)] : lines,
        buttons: commandsEnabled ? [...buttons, ...(hadNoTools ? [panel] : [])] : [],
      };
    },
    /**
     * The *Why* button under an answer [K7]; none if no memory was used, or the person wants no notices. Never
     * rejects.
     */
    async why(
      { userId, isBot, messageIds }: Pick<Question, 'userId' | 'isBot' | 'messageIds'>,
      { prompt, tools }: UsedMemory,
    ): Promise<readonly CommandButton[]> {
      if (!commandsEnabled || isBot !== undefined || prompt.length + tools.length === 0) return [];
      if ((await people.latest(userId)).notices === 'off') return [];
      return [{ label: whyLabel, line: `memory why ${newestOf({ messageIds })}`, takes: 'nothing' }];
    },
  };
}

export type LateNotices = ReturnType<typeof createLateNotices>;

/**
 * Says in an answer what was stored after it, by an edit that notifies nobody [K6]. What has no answer yet, or one
 * that can no longer be edited, stands in the conversation's next answer, if it still holds then [G5].
 */
export function createLateNotices({
  memoryNotices,
  isNamed,
  replies,
  presentPlace,
  logger,
}: Pick<ReplyPorts, 'presentPlace' | 'logger'> & {
  readonly replies: Pick<ReplyPort, 'amend'>;
  readonly memoryNotices: Pick<MemoryNotices, 'under'>;
  /** Whether what a notice names still exists, in the words that it has. Rejects with `StoreError`. */
  readonly isNamed: (late: LateNotice) => Promise<boolean>;
}) {
  /** By each message answered. */
  const answers = lruCache<string, Answer>(remembered);
  /** What an answer tells that is still to come: by the message that it answers, or by session. */
  const waiting = lruCache<string, readonly LateNotice[]>(remembered);
  const inOrder = createKeyedQueue();

  function keep(key: string, stored: readonly LateNotice[]): void {
    waiting.set(key, [...(waiting.get(key) ?? []), ...stored]);
  }

  function waitingFor(turn: TurnContext): readonly LateNotice[] {
    const found = keysOf(turn).flatMap((key) => waiting.get(key) ?? []);
    return found.filter(({ userId }) => userId === turn.speaker.id);
  }

  async function stillNamed(stored: readonly LateNotice[]): Promise<readonly LateNotice[]> {
    const named: LateNotice[] = [];
    for (const late of stored) if (await isNamed(late)) named.push(late);
    return named;
  }

  /** Never rejects. */
  async function add(answer: Answer, stored: readonly LateNotice[]): Promise<void> {
    const { turn, lastId, buttons } = answer;
    const { speaker, place } = turn;
    const readers = turn.originalPlace ?? place;
    let before: readonly string[] = [];
    let named = stored;
    const amend = async (change: (lines: readonly string[]) => Promise<FooterParts | undefined>) => {
      let parts: FooterParts | undefined;
      const isEdited = await replies.amend(place.channelId, lastId, async (lines) => {
        parts = await change(lines);
        return parts && { ...parts, buttons: { personId: speaker.id, buttons: parts.buttons } };
      });
      if (isEdited && parts !== undefined) answer.buttons = parts.buttons;
      return isEdited;
    };
    try {
      const mayName = async (): Promise<boolean> => !hasMoreReaders(readers, await presentPlace(readers));
      const isEdited = await amend(async (lines) => {
        before = lines;
        named = await stillNamed(stored);
        if (named.length === 0) return undefined;
        const notices = named.map(({ notice }) => notice);
        const present = { lines, buttons };
        return memoryNotices.under(turn, notices, { present, mayName });
      });
      if (!isEdited) return keep(sessionName(sessionOf(turn)), named);
      const left = await stillNamed(named);
      if (left.length === named.length) return;
      // What ended it came while it was posted.
      await amend(() => Promise.resolve({ lines: before, buttons }));
      if (left.length > 0) await add(answer, left);
    } catch (error) {
      logger.warn('a late memory notice could not be sent', { ...sessionOf(turn), error });
    }
  }

  return {
    /** Resolves with those of which this process knows no answer. Never rejects. */
    async tell(this: void, stored: readonly LateNotice[]): Promise<readonly LateNotice[]> {
      const known = new Map<Answer, LateNotice[]>();
      const unknown: LateNotice[] = [];
      for (const late of stored) {
        const answer = answers.get(late.messageId);
        if (answer?.turn.speaker.id === late.userId) known.set(answer, [...(known.get(answer) ?? []), late]);
        else unknown.push(late);
      }
      for (const late of unknown) if (!answers.has(late.messageId)) keep(late.messageId, [late]);
      for (const [answer, notices] of known) await inOrder.run(answer.lastId, () => add(answer, notices));
      return unknown;
    },
    /** Words of an erased person are kept no longer [K11]. */
    evict(this: void, personId: string): void {
      for (const [key, { turn }] of Array.from(answers))
        if (turn.speaker.id === personId) answers.delete(key);
      for (const [key, stored] of Array.from(waiting)) {
        const others = stored.filter(({ userId }) => userId !== personId);
        if (others.length < stored.length) waiting.set(key, others);
      }
    },
    /** What the next answer of a conversation tells. Never rejects. */
    async waiting(turn: TurnContext): Promise<readonly LateNotice[]> {
      try {
        return await stillNamed(waitingFor(turn));
      } catch (error) {
        logger.warn('a late memory notice could not be sent', { ...sessionOf(turn), error });
        return [];
      }
    },
    /** A turn has its answer, in these messages, with these buttons, which tells these notices. */
    answered(
      turn: TurnContext,
      messageIds: readonly string[],
      buttons: readonly CommandButton[],
      shownNotices: readonly LateNotice[],
    ): void {
      const lastId = messageIds.at(-1);
      if (lastId === undefined) return;
      const answer = { turn, lastId, buttons };
      for (const { id } of turn.messages) answers.set(id, answer);
      const rest = waitingFor(turn).filter((late) => !shownNotices.includes(late));
      for (const key of keysOf(turn)) waiting.delete(key);
      if (rest.length > 0) void inOrder.run(lastId, () => add(answer, rest));
    },
  };
}

function keysOf(turn: TurnContext): readonly string[] {
  return [...turn.messages.map(({ id }) => id), sessionName(sessionOf(turn))];
}

interface Answer {
  readonly turn: TurnContext;
  /** Its last message, and the buttons that it was given. */
  readonly lastId: string;
  buttons: readonly CommandButton[];
}

interface UnderOptions {
  /** Default: nothing. */
  readonly present?: FooterParts;
  readonly hadNoTools?: boolean;
  readonly mayName: () => Promise<boolean>;
}

/** An icon, so that it takes little room. */
const whyLabel = '❔';
const cannotStore = 'The model that I use has no tools: saying it in plain words stores and changes nothing';
const storeYourself = '`!memory remember <text>` stores it';

const nothing: FooterParts = { lines: [], buttons: [] };
/** Lines of memory with words in them, in characters; of more, each says only how much it was. */
const namedMaxChars = 600;
/** Lines of one answer's notices; of more changes there is the number. */
const mostLines = 8;

/** What there may be several of is one line that counts them. */
const countedKinds = [
  { begins: '💾 Remembered', several: (count: number) => `💾 Remembered ${count} things` },
  { begins: '💭 May I remember', several: (count: number) => `💭 May I remember ${count} things?` },
];

/** That something went for it is told with each. */
function countedKindOf({ line }: MemoryNotice) {
  if (line.includes('Let go to make room')) return undefined;
  return countedKinds.find(({ begins }) => line.startsWith(begins));
}

function linesOf(notices: readonly MemoryNotice[], namesWords: boolean): readonly string[] {
  const isLong = notices.reduce((sum, { line }) => sum + line.length, 0) > namedMaxChars;
  const all = notices.map((notice) => {
    const kind = countedKindOf(notice);
    const count = notices.filter((each) => countedKindOf(each) === kind).length;
    if (kind !== undefined && count > 1) return kind.several(count);
    return namesWords && !isLong ? notice.line : notice.bareLine;
  });
  const lines = [...new Set(all)];
  const more = lines.length - mostLines;
  if (more <= 0) return lines;
  return [
    ...lines.slice(0, mostLines),
    `… and ${counted(more, 'more change')}: \`!memory show\` lists what there is now`,
  ];
}

/** The buttons of several changes: one, which lists what can be undone to the person alone; so have several proposals. */
function withButtons(groups: readonly (readonly CommandButton[])[]): readonly CommandButton[] {
  const all = groups.flat();
  const undoIds = all.flatMap(({ line = '' }) =>
    line.startsWith(undoLine) ? line.slice(undoLine.length).split(',') : [],
  );
  const hasProposals = all.filter(({ line = '' }) => /^memory (?:accept |proposals$)/u.test(line)).length > 1;
  const isListed = ({ line = '' }: CommandButton): boolean =>
    (undoIds.length > 1 && /^memory (?:undo|hide) /u.test(line)) ||
    (hasProposals && /^memory (?:accept|decline|proposals)\b/u.test(line));
  const isTaking = (button: CommandButton): boolean => button.takes !== 'nothing' && !isListed(button);
  const isAlone = groups.filter((buttons) => buttons.some(isTaking)).length < 2;
  // Those that stay under the answer come last.
  const rest = all
    .filter((button) => !isListed(button))
    .toSorted((a, b) => Number(a.takes === 'nothing') - Number(b.takes === 'nothing'));
  return [
    ...(undoIds.length > 1 ? [listing('Undo', undoLine + undoIds.slice(-mostUndone).join(','))] : []),
    ...(hasProposals ? [listing('Show', 'memory proposals')] : []),
    ...rest.map((button) =>
      isAlone || !isTaking(button) ? button : { ...button, takes: 'itself' as const },
    ),
  ].slice(0, mostButtons);
}

const undoLine = 'memory undo ';
/** As many ids as a button can hold. */
const mostUndone = 6;
/** Discord's limit. */
const mostButtons = 25;

function listing(label: string, line: string): CommandButton {
  return { label, line, takes: 'nothing' };
}
