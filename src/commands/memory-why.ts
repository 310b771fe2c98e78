import type { CommandContext, CommandReply, MenuRequest } from '../core/commands.ts';
import type { MemorySource } from '../core/memory-source.ts';
import { dataLine } from '../core/section.ts';
import { isSnowflake, messageReferenceIn } from '../core/snowflake.ts';
import { mayUse, pickReach } from '../core/visibility.ts';
import {
  mayUseItem,
  namesChannel,
  sourceOfItem,
  undated,
  type DurableItem,
  wordingOf,
} from '../memory/durable/document.ts';
import type { AnswerProvenance } from '../memory/provenance.ts';
import {
  brieflyQuoted,
  counted,
  formerLines,
  listedItem,
  quoted,
  readingPlace,
  shownTime,
} from './answer-lines.ts';
import { itemWithId, unknownId } from './memory-items.ts';
import type { MemoryCommandPorts } from './memory-ports.ts';

/** Where an item comes from, or what an answer was made from [K7]: the one that is named, that the command replies to, or the newest here. */
export async function tellWhy(
  context: CommandContext,
  id: string | undefined,
  ports: MemoryCommandPorts,
): Promise<CommandReply> {
  if (id === undefined) {
    const { repliesTo } = context;
    return whyAnswer(context, repliesTo, [repliesTo?.channelId ?? context.place.channelId], ports);
  }
  const item = ports.settings.durableEnabled ? await itemWithId(context, id, ports.durable) : undefined;
  if (item !== undefined) return whyItem(context, item, ports);
  const reference = messageReferenceIn(id);
  if (reference === undefined)
    return ports.settings.durableEnabled
      ? { text: unknownId(id) }
      : { text: 'Durable memory is switched off on this bot, so there are no items.' };
  const here = [context.place.channelId];
  const channels =
    reference.channelId === undefined
      ? [...here, ...(await ports.sessionsOf(context.speaker.id)).map(({ channelId }) => channelId)]
      : [reference.channelId];
  return whyAnswer(context, reference, [...new Set(channels)], ports);
}

/** The same from the menu of a message. */
export async function whyMessage(request: MenuRequest, ports: MemoryCommandPorts): Promise<CommandReply> {
  const { author, id, answers, channelId } = request.message;
  if (author.kind !== 'self') return { text: noAnswer };
  const found = await find(request, [channelId], id, ports);
  const known =
    found ?? (answers === undefined ? undefined : await find(request, [channelId], answers, ports));
  return known === undefined ? { text: noAnswer } : tell(request, known, ports);
}

/** Where an item comes from: how, the sentence with a link, when, and what it replaced. */
async function whyItem(
  context: CommandContext,
  item: DurableItem,
  { durable, logged, goneChannels }: MemoryCommandPorts,
): Promise<CommandReply> {
  const { speaker } = context;
  const view = readingPlace(context);
  const { source } = item;
  const isGone = (await goneChannels()).has(source.channelId);
  const sentence = isGone
    ? undefined
    : await logged({ channelId: source.channelId, userId: speaker.id }, source.messageId);
  const former = (await durable.formerOf(speaker.id)).get(item.id) ?? [];
  const mayTellSaid = namesChannel(item, view);
  const mayTellPlace = source.guildId === undefined || mayTellSaid;
  return {
    text: [
      listedItem(item, view),
      `How: ${howBy[source.type]}`,
      ...(Date.parse(item.createdAt) === Date.parse(undated)
        ? []
        : [`Since: ${shownTime(new Date(item.createdAt))}`]),
      ...(mayTellPlace && source.messageId !== '' ? [`Where: ${whereOf(source, isGone)}`] : []),
      ...(sentence === undefined || !mayTellSaid ? [] : [`You said: ${quoted(sentence)}`]),
      ...formerLines(former, speaker.id, view),
    ].join('\n'),
  };
}

const howBy = {
  manual: 'you told me to remember it',
  discord: 'I noticed it while we talked, and stored it then',
  summary: 'I noticed it in what you had said',
} as const;

function whereOf(
  { guildId, channelId, channelName, messageId }: DurableItem['source'],
  isGone: boolean,
): string {
  const place = guildId === undefined ? 'in our DM' : `in #${dataLine(channelName ?? 'a channel')}`;
  return isGone ? `${place}, which is deleted` : `${place}, ${linkTo({ guildId, channelId, messageId })}`;
}

function linkTo({
  guildId = '@me',
  channelId,
  messageId,
}: {
  readonly guildId?: string | undefined;
  readonly channelId: string;
  readonly messageId: string;
}): string {
  // The brackets keep Discord from unfolding the link.
  return `<https://discord.com/channels/${guildId}/${channelId}/${messageId}>`;
}

const noAnswer =
  'I cannot find that answer to you. Reply to one with `!memory why`, or choose “Why this answer?” in its menu, under Apps.';
const unknownAnswer =
  'I no longer know what I had in view for this answer: I keep that for my last 50 answers to you in a conversation.';
const nothingUsed = 'I used nothing that I remember about you: only this conversation.';
const noneYet = `I have not answered you here lately. ${noAnswer.slice(noAnswer.indexOf('Reply'))}`;

async function whyAnswer(
  context: CommandContext,
  reference: { readonly id: string } | undefined,
  channelIds: readonly string[],
  ports: MemoryCommandPorts,
): Promise<CommandReply> {
  const found = await find(context, channelIds, reference?.id, ports);
  if (found === undefined) return { text: reference === undefined ? noneYet : noAnswer };
  return tell(context, found, ports);
}

type Found = { readonly channelId: string; readonly answer: AnswerProvenance | 'unknown' };

/** Among the asker's own conversations only. */
async function find(
  { speaker }: Pick<CommandContext, 'speaker'>,
  channelIds: readonly string[],
  id: string | undefined,
  { provenance }: MemoryCommandPorts,
): Promise<Found | undefined> {
  for (const channelId of channelIds.filter(isSnowflake)) {
    const answer = await provenance.find({ channelId, userId: speaker.id }, id);
    if (answer !== undefined) return { channelId, answer };
  }
  return undefined;
}

/** Lines that may be told here, and of how much may only be told that there is more. */
interface Told {
  readonly lines: readonly string[];
  readonly hidden: number;
}

/** What of memory stood in the prompt of an answer, and what tools read on the way to it, as far as those who read this may be told [V2]. */
async function tell(
  context: CommandContext,
  { channelId, answer }: Found,
  ports: MemoryCommandPorts,
): Promise<CommandReply> {
  if (answer === 'unknown') return { text: unknownAnswer };
  const { prompt, tools } = answer;
  if (prompt.length === 0 && tools.length === 0) return { text: nothingUsed };
  const view = await createView(context, { channelId, answer }, ports);
  const parts: Told[] = [];
  for (const { title, isIn } of parted) {
    const told = await view(prompt.filter(isIn));
    parts.push({ ...told, lines: told.lines.length === 0 ? [] : [`${title}:`, ...told.lines] });
  }
  for (const { tool, sources } of tools) {
    const told = await view(sources);
    parts.push({ ...told, lines: told.lines.length === 0 ? [] : [`Read by \`${tool}\`:`, ...told.lines] });
  }
  const hidden = parts.reduce((sum, part) => sum + part.hidden, 0);
  const more = hidden === 0 ? [] : [`and ${hidden} that I don't name here`];
  return {
    text: [
      'From what I remember about you, I had this in view:',
      ...parts.flatMap(({ lines }) => lines),
      ...more,
    ].join('\n'),
  };
}

/** The layers in a prompt, in the order in which they are told. */
const parted: readonly { readonly title: string; readonly isIn: (source: MemorySource) => boolean }[] = [
  { title: 'Items', isIn: ({ kind }) => kind === 'item' },
  { title: 'Summary of the conversation', isIn: ({ kind }) => kind === 'summary' },
  { title: 'Recent exchanges elsewhere', isIn: ({ kind }) => kind === 'exchange' },
  { title: 'Notes', isIn: (source) => source.kind === 'file' && source.isListed === undefined },
  { title: 'Notes by name only', isIn: (source) => source.kind === 'file' && source.isListed === true },
  { title: "Channels' notes", isIn: ({ kind }) => kind === 'note' },
  { title: 'Messages', isIn: ({ kind }) => kind === 'message' },
];

/** Says of sources what they are by now: an item that was forgotten since is counted, and nothing brings its words back. */
async function createView(
  context: CommandContext,
  { channelId, answer }: { readonly channelId: string; readonly answer: AnswerProvenance },
  { durable, rolling, goneChannels }: MemoryCommandPorts,
): Promise<(sources: readonly MemorySource[]) => Promise<Told>> {
  const { speaker } = context;
  const place = readingPlace(context);
  const mayName = mayUse({ ownerId: speaker.id, ...pickReach(answer) }, place, speaker.id);
  const [items, former, goneIds] = await Promise.all([
    durable.list(speaker.id),
    durable.formerOf(speaker.id),
    goneChannels(),
  ]);
  const whatIsGone = 'in a channel that is deleted';

  /** The item as it was shown; `undefined` where nothing is known of it any more. */
  function itemOf(source: Extract<MemorySource, { kind: 'item' }>) {
    const present = items.find(({ id }) => id === source.id);
    if (present !== undefined && sourceOfItem(present).hash === source.hash)
      return { item: present, text: wordingOf(present), since: '' };
    const past = [...former].flatMap(([presentId, list]) => list.map((item) => ({ presentId, item })));
    const shown = past.find(
      ({ presentId, item }) =>
        (item.id === source.id || presentId === source.id) && sourceOfItem(item).hash === source.hash,
    );
    if (shown !== undefined) {
      const { presentId, item } = shown;
      return {
        item,
        text: wordingOf(item),
        since: ` · says something else by now: id ${dataLine(presentId)}`,
      };
    }
    return present && { item: present, text: undefined, since: ' · said something else then' };
  }

  async function lineOf(source: MemorySource): Promise<string> {
    if (source.kind === 'item') {
      const found = itemOf(source);
      if (found === undefined) return 'gone';
      if (!mayUseItem(found.item, speaker.id, place)) return 'hidden';
      const text = found.text === undefined ? '' : `${brieflyQuoted(found.text)} · `;
      return `${text}id ${dataLine(source.id)}${found.since}`;
    }
    if (!mayName) return 'hidden';
    switch (source.kind) {
      case 'summary': {
        const text = await rolling.madeAt({ channelId, userId: speaker.id }, source.at, place, speaker.id);
        const when = `of ${shownTime(new Date(source.at))}`;
        return text === undefined
          ? `one ${when}, which is no longer there`
          : `${brieflyQuoted(text)} ${when}`;
      }
      case 'exchange':
        if (goneIds.has(source.channelId)) return whatIsGone;
        return `<#${source.channelId}>, ${shownTime(new Date(source.at))}`;
      case 'file': {
        const { path, line, bytes } = source;
        const where = line === undefined ? '' : `:${line}`;
        const size = bytes === undefined ? '' : ` (${counted(bytes, 'byte')})`;
        return `\`${dataLine(path).replaceAll('`', '')}${where}\`${size}`;
      }
      case 'note':
        if (goneIds.has(source.channelId)) return whatIsGone;
        return `in <#${source.channelId}>, ${linkTo(source)}`;
      case 'message': {
        if (goneIds.has(source.channelId)) return whatIsGone;
        const when = source.at === undefined ? '' : `, ${shownTime(new Date(source.at))}`;
        const where = source.guildId === undefined ? 'in our DM' : `in <#${source.channelId}>`;
        return `${where}${when}, ${linkTo(source)}`;
      }
    }
  }

  return async (sources) => {
    const told = await Promise.all(sources.map(lineOf));
    const gone = told.filter((line) => line === 'gone').length;
    return {
      lines: [
        ...told.filter((line) => line !== 'hidden' && line !== 'gone').map((line) => `- ${line}`),
        ...(gone === 0
          ? []
          : [
              `- ${counted(gone, 'item')} that ${gone === 1 ? 'was' : 'were'} forgotten since, or made way for others`,
            ]),
      ],
      hidden: told.filter((line) => line === 'hidden').length,
    };
  };
}
