import { memoizeByObject } from '../../core/limits.ts';
import type { MemorySource } from '../../core/memory-source.ts';
import type { Place } from '../../core/place.ts';
import { dataLine, fitLines, type Section } from '../../core/section.ts';
import { compareSnowflakes } from '../../core/snowflake.ts';
import { stopTerms, terms } from '../../core/text.ts';
import { localDate } from '../../core/time.ts';
import { turnText, type TurnContext } from '../../core/turn-context.ts';
import type { ChannelNote, NotesDocument, NotesPlace } from './document.ts';

/** In a prompt; and characters of the rendered section. */
const mostNotes = 8;
const injectMaxChars = 2000;

const frame = {
  name: 'channel_notes',
  slot: 'last',
  title:
    'What people said in channels of this server that everybody who reads your answer can read, and that matches this message, best first (quoted data of other people; name who said it, and link it):',
  budget: injectMaxChars,
  hasThirdPartyText: true,
} as const;

export interface NoteSectionPorts {
  /** Where notes for a turn are looked for. */
  readonly documents: (context: TurnContext) => AsyncIterable<NotesDocument>;
  /** The channel as it is now, if its notes may be used in an answer to somebody in a place [B2]. */
  readonly isUsable: (channel: NotesPlace, place: Place, askerId: string) => Promise<Place | undefined>;
  /** Whether a note's author has paused. */
  readonly isPaused: (note: ChannelNote, channel: NotesPlace) => Promise<boolean>;
  /** IANA; days are local [N5]. */
  readonly timeZone: string;
}

interface Match {
  readonly note: ChannelNote;
  readonly channel: NotesPlace;
  readonly shared: readonly string[];
}

/** Notes that match a message and whose channels every reader of the answer can read now [B2]. */
export function createNoteSection(ports: NoteSectionPorts) {
  return async (context: TurnContext): Promise<readonly Section[]> => {
    const { place, speaker } = context;
    const wanted = contentWords(terms(turnText(context)));
    if (wanted.size === 0) return [];
    const matches = await matching(ports, context, wanted);
    if (matches.length === 0) return [];

    const places = new Map<string, Promise<Place | undefined>>();
    const lines: string[] = [];
    const sources = new Map<string, MemorySource>();
    for (const { note, channel } of matches) {
      if (lines.length >= mostNotes) break;
      const { channelId, guildId } = channel;
      const usable = places.get(channelId) ?? ports.isUsable(channel, place, speaker.id);
      places.set(channelId, usable);
      const now = await usable;
      if (now === undefined || (await ports.isPaused(note, channel))) continue;
      const line = lineOf(note, channel, now, ports.timeZone);
      lines.push(line);
      sources.set(line, { kind: 'note', guildId, channelId, messageId: note.messageId });
    }
    return lines.length === 0 ? [] : [{ ...frame, lines: fitLines(frame, lines), sources }];
  };
}

/** Those that share a word with the message: the rarest and most words first, then the newest. */
async function matching(
  { documents }: NoteSectionPorts,
  context: TurnContext,
  wanted: ReadonlySet<string>,
): Promise<readonly Match[]> {
  const found: Match[] = [];
  const frequency = new Map<string, number>();
  for await (const { notes, ...channel } of documents(context))
    for (const note of notes) {
      if (note.isForgotten !== undefined) continue;
      const shared = termsOf(note).filter((term) => wanted.has(term));
      if (shared.length > 0) found.push({ note, channel, shared });
      for (const term of shared) frequency.set(term, (frequency.get(term) ?? 0) + 1);
    }
  const weight = ({ shared }: Match): number =>
    shared.reduce((sum, term) => sum + 1 / (frequency.get(term) ?? 1), shared.length);
  const weighed = found.map((match) => ({ match, by: weight(match) }));
  return weighed
    .toSorted((a, b) => b.by - a.by || compareSnowflakes(b.match.note.messageId, a.match.note.messageId))
    .map(({ match }) => match);
}

const termsOf = memoizeByObject(({ text }: ChannelNote): readonly string[] => [...contentWords(terms(text))]);

function contentWords(found: readonly string[]): ReadonlySet<string> {
  return new Set(found.filter((term) => !stopTerms.has(term)));
}

function lineOf(
  { author, text, at, messageId }: ChannelNote,
  { guildId, channelId }: NotesPlace,
  { channelName = 'a channel' }: Place,
  timeZone: string,
): string {
  const day = localDate(new Date(at), timeZone);
  const link = `https://discord.com/channels/${guildId}/${channelId}/${messageId}`;
  return dataLine(`- ${day}, ${author} in #${channelName}: "${text}" (${link})`);
}
