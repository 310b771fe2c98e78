import type { CommandReply, ShownItem } from '../core/commands.ts';
import { NewerVersionError, referenceTo, StoreError, withReference } from '../core/errors.ts';
import { dataLine } from '../core/section.ts';
import { toSingleLine, quoted, withoutFences } from '../core/text.ts';
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

/** As many as there is room for, in order, and how many are left out. */
export function asManyAsFit(texts: readonly string[], most: number, separator: string): string {
  let length = 0;
  const shown = texts.filter((text) => (length += text.length + separator.length) <= most);
  const more = texts.length - shown.length;
  return [...shown, ...(more === 0 ? [] : [`${more} more`])].join(separator);
}

/** A day as Discord shows it to each reader, in their own time zone and language. */
export function shownDay(date: Date): string {
  return `<t:${Math.floor(date.getTime() / 1000)}:d>`;
}

/** A moment, in the same way. */
export function shownTime(date: Date): string {
  return `<t:${Math.floor(date.getTime() / 1000)}:f>`;
}

/** An item as its owner sees it: the line of the prompt [D5], its id, and where it may be used. */
export function listedItem(item: DurableItem, { view, today }: Pick<MemoryCall, 'view' | 'today'>): string {
  const line = withoutFences(itemLine(item, view, { dateOf: shownDay, today }));
  return `${line} · ${idAndVisibility(item)}${item.pinned ? ' · pinned' : ''}`;
}

/** What an item corrected, as far as the answer may name it, each with the day until which it held [D6]. */
export function formerLines(call: MemoryCall, former: readonly DurableItem[]): readonly string[] {
  return nameable(call, former).named.map(
    (item) => `  before ${shownDay(new Date(item.updatedAt))}: ${withoutFences(dataLine(wordingOf(item)))}`,
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
  'Your memory was written by a newer version of me, so I neither read nor change it. The owner of this bot has to update me.';
const unknownFailure = 'Something went wrong on my side. Please try again.';

/** What people are told when memory could not be read. */
export function readFailure(error: unknown): string {
  if (error instanceof NewerVersionError) return newerVersion;
  if (error instanceof StoreError)
    return "I can't read this part of your memory right now. Please try again in a few minutes.";
  return unknownFailure;
}

/** The answer where memory could not be read, with the reference by which the log is searched. */
export function readFailureReply(
  error: unknown,
  what: string,
  { id, speaker, ports }: MemoryCall,
  explain = readFailure,
): CommandReply {
  const reference = referenceTo(id);
  ports.logger.error(what, { reference, userId: speaker.id, error });
  return { text: withReference(explain(error), reference) };
}

/** What people are told when memory could not be changed; a store that refused has kept what it had [S2]. */
export function writeFailure(error: unknown): string {
  if (error instanceof NewerVersionError) return newerVersion;
  if (error instanceof StoreError)
    return "I can't save right now, so nothing was changed. Please try again in a few minutes; if it stays like this, the owner of this bot should look at the disk.";
  return unknownFailure;
}

/** A link to a message; the brackets keep Discord from unfolding it. */
export function linkTo(message: {
  readonly guildId?: string | undefined;
  readonly channelId: string;
  readonly messageId: string;
}): string {
  return `<https://discord.com/channels/${message.guildId ?? '@me'}/${message.channelId}/${message.messageId}>`;
}

/** A link that opens a page in the asker's browser [Y1], where nobody else reads it. */
export async function replyWithLink(
  isForAskerOnly: boolean,
  texts: { readonly slash: string; readonly opens: string; readonly instead: string },
  link: () => Promise<string | undefined>,
): Promise<CommandReply> {
  const { slash, opens, instead } = texts;
  if (!isForAskerOnly) return { text: `The link is for you alone: use \`${slash}\`, or ask me in our DM.` };
  const url = await link();
  if (url === undefined) return { text: `This bot has no page to open in a browser; ${instead}.` };
  return {
    text: `This opens ${opens} in your browser. The link works once, within ten minutes.`,
    buttons: [{ label: 'Open my page', url }],
  };
}
