import type { CommandReply, ShownItem } from '../core/commands.ts';
import { NewerVersionError, StoreError } from '../core/errors.ts';
import { quoted, shownText, toSingleLine } from '../core/text.ts';
import { discordTime } from '../core/time.ts';
import { discordLink } from '../core/snowflake.ts';
import {
  isOver,
  itemLine,
  mayUseItem,
  namesChannel,
  undated,
  type DurableItem,
  wordingOf,
} from '../memory/durable/document.ts';
import type { MemoryCall } from './memory-ports.ts';

export { counted, quoted, withoutFences } from '../core/text.ts';

/** What stands in an answer, or is left out of it. */
type Part<Piece> = Piece | false | undefined | readonly Piece[];

/** The pieces of an answer that are not left out. */
export function present<Piece extends string | object>(...parts: readonly Part<Piece>[]): readonly Piece[] {
  return parts.flatMap<Piece>((part) => (part === false || part === undefined ? [] : part));
}

export function linesOf(...lines: readonly Part<string>[]): string {
  return present(...lines).join('\n');
}

/** What people wrote as one line of an answer [D8]. */
export function shownLine(text: string, maxChars?: number): string {
  return shownText(toSingleLine(text), maxChars);
}

/** An item as its owner sees it: the line of the prompt [D5], its id, and where it may be used. */
export function listedItem(item: DurableItem, { view, today }: Pick<MemoryCall, 'view' | 'today'>): string {
  const line = itemLine(item, view, { dateOf: (date) => discordTime(date, 'd'), today, words: shownLine });
  return `${line} · ${idAndVisibility(item)}${item.pinned ? ' · pinned' : ''}`;
}

/** What an item corrected, as far as the answer may name it, each with the day until which it held [D6]. */
export function historyLines(call: MemoryCall, earlierItems: readonly DurableItem[]): readonly string[] {
  return nameable(call, earlierItems).named.map(
    (item) => `  before ${discordTime(new Date(item.updatedAt), 'd')}: ${shownLine(wordingOf(item))}`,
  );
}

/** Without a record of its server or readers, an item stays in the DM until it is shared or said again [V1] [V2a]. */
function isOnlyInDm({ visibility, source }: DurableItem): boolean {
  return (
    (visibility === 'here' && source.readers === undefined) ||
    (visibility === 'server' && source.guildId === undefined)
  );
}

export function idAndVisibility(item: DurableItem): string {
  const where = isOnlyInDm(item) ? `${item.visibility}, but used in our DM only` : item.visibility;
  return `id ${toSingleLine(item.id)} · ${where}`;
}

/** By which token another assistant proposed it [EW3]; empty where none did. */
export function ofAssistant({ assistant }: DurableItem['source']): string {
  return assistant === undefined ? '' : ` · proposed by ${quoted(assistant)}`;
}

/** What {@link listedItem} says, as data. */
export function shownItem(item: DurableItem, { view, today }: Pick<MemoryCall, 'view' | 'today'>): ShownItem {
  const { id, kind, text, question, visibility, source, updatedAt, when, pinned } = item;
  return {
    id,
    kind,
    text,
    question,
    visibility: isOnlyInDm(item) ? 'dm' : visibility,
    source: source.type,
    channelName: namesChannel(item, view) ? source.channelName : undefined,
    updatedAt: Date.parse(updatedAt) === Date.parse(undated) ? undefined : updatedAt,
    when,
    isOver: isOver(item, today),
    isAhead: when !== undefined && when >= today,
    isPinned: pinned,
  };
}

/** Under an answer about an item that was remembered in public, or shared: how far that goes [V1]. */
export function everywhereLine({ id, visibility }: DurableItem): string | false {
  return (
    visibility === 'everywhere' &&
    `-# I may use it in every server that we share; \`!memory hide ${id}\` keeps it to our DM.`
  );
}

/** The asker's items that the answer may name, and how many it may only count [V2]. */
export function nameable({ speaker, view }: MemoryCall, items: readonly DurableItem[]) {
  const named = items.filter((item) => mayUseItem(item, speaker.id, view));
  return { named, hidden: items.length - named.length };
}

const briefMaxChars = 100;

/** What the asker has just said themselves: only enough of it to be recognised. */
export function brieflyQuoted(text: string): string {
  return quoted(text, briefMaxChars);
}

const newerVersion =
  'This was written by a newer version of me, so I neither read nor change it. The owner of this bot has to update me.';

/** What people are told where a command failed. What a store refused may stand there all the same [S2]. */
export function failureText(error: unknown): string {
  if (error instanceof NewerVersionError) return newerVersion;
  if (error instanceof StoreError)
    return "I can't read or save your memory right now, so this may not have worked. Please try again in a few minutes; if it stays like this, the owner of this bot should look at the disk.";
  return 'Something went wrong on my side. Please try again.';
}

/** A link to a message; the brackets keep Discord from unfolding it. */
export function linkTo(message: Parameters<typeof discordLink>[0]): string {
  return `<${discordLink(message)}>`;
}

/** Where a message stands, with a link unless its channel is gone. */
export function whereOf(
  message: Parameters<typeof discordLink>[0] & { readonly channelName?: string | undefined },
  isGone: boolean,
): string {
  const { guildId, channelName = 'a channel' } = message;
  const place = guildId === undefined ? 'in our DM' : `in #${shownLine(channelName)}`;
  return `${place}, ${isGone ? 'which is deleted' : linkTo(message)}`;
}

/** A link that opens a page in the asker's browser [Y1], where nobody else reads it; `undefined` where there is none. */
export function linkReply(url: string | undefined, opens: string, instead: string): CommandReply {
  if (url === undefined) return { text: `This bot has no page to open in a browser; ${instead}.` };
  return {
    text: `This opens ${opens} in your browser. The link works once, within ten minutes.`,
    buttons: [{ label: 'Open my page', url }],
  };
}
