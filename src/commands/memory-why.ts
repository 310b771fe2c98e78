import type { CommandButton } from '../core/chat.ts';
import type { CommandReply, MenuRequest } from '../core/commands.ts';
import type { MemorySource } from '../core/memory-source.ts';
import { dataLine } from '../core/section.ts';
import { isSnowflake, messageReferenceIn } from '../core/snowflake.ts';
import { clipAtWord, toSingleLine } from '../core/text.ts';
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
  linesOf,
  linkTo,
  listedItem,
  quoted,
  shownTime,
} from './answer-lines.ts';
import { correctingButtons, itemWithId, unknownId } from './memory-items.ts';
import type { MemoryCall } from './memory-ports.ts';

/** The item or answer named [K7], the answer replied to, or the newest here. */
export async function tellWhy(call: MemoryCall, id: string | undefined): Promise<CommandReply> {
  const { place, repliesTo, ports, speaker } = call;
  if (id === undefined) return whyAnswer(call, repliesTo?.id, [repliesTo?.channelId ?? place.channelId]);
  const hasItems = ports.settings.durableEnabled;
  const item = hasItems ? await itemWithId(call, id) : undefined;
  if (item !== undefined) return whyItem(call, item);
  const reference = messageReferenceIn(id);
  if (reference === undefined)
    return {
      text: hasItems ? unknownId(id) : 'Durable memory is switched off on this bot, so there are no items.',
    };
  if (reference.channelId !== undefined) return whyAnswer(call, reference.id, [reference.channelId]);
  const sessions = await ports.sessionsOf(speaker.id);
  return whyAnswer(call, reference.id, [place.channelId, ...sessions.map(({ channelId }) => channelId)]);
}

/** The same from the menu of a message. */
export async function whyMessage(call: MenuRequest & MemoryCall): Promise<CommandReply> {
  const { author, id, answers, channelId } = call.message;
  if (author.kind !== 'self') return { text: noAnswer };
  const found = await findAnswer(call, [channelId], id);
  const known = found ?? (answers === undefined ? undefined : await findAnswer(call, [channelId], answers));
  return known === undefined ? { text: noAnswer } : tell(call, known);
}

/** Where an item comes from: how, the sentence with a link, when, and what it replaced. */
async function whyItem(call: MemoryCall, item: DurableItem): Promise<CommandReply> {
  const { speaker, view, ports } = call;
  const { source } = item;
  const isGone = (await ports.goneChannels()).has(source.channelId);
  const session = { channelId: source.channelId, userId: speaker.id };
  // Somebody may have written the item by hand.
  const isSaid = !isGone && isSnowflake(source.channelId);
  const sentence = isSaid ? await ports.logged(session, source.messageId) : undefined;
  const former = (await ports.durable.formerOf(speaker.id)).get(item.id) ?? [];
  const mayTellSaid = namesChannel(item, view);
  const mayTellPlace = source.guildId === undefined || mayTellSaid;
  return {
    text: linesOf(
      listedItem(item, call),
      `How: ${howBy[source.type]}${source.heard === undefined ? '' : ', in a voice message that I heard'}`,
      Date.parse(item.createdAt) !== Date.parse(undated) && `Since: ${shownTime(new Date(item.createdAt))}`,
      mayTellPlace && source.messageId !== '' && `Where: ${whereOf(source, isGone)}`,
      sentence !== undefined && mayTellSaid && `You said: ${quoted(sentence)}`,
      formerLines(call, former),
    ),
    buttons: correctingButtons(call, item, {
      edit: '✏️ Edit',
      hide: '🔒 Only in our DM',
      forget: '🗑️ Forget',
    }),
  };
}

const howBy = {
  manual: 'you told me to remember it',
  discord: 'I noticed it while we talked, and stored it then',
  summary: 'I noticed it in what you had said',
} as const;

function whereOf(source: DurableItem['source'], isGone: boolean): string {
  const place =
    source.guildId === undefined ? 'in our DM' : `in #${dataLine(source.channelName ?? 'a channel')}`;
  return isGone ? `${place}, which is deleted` : `${place}, ${linkTo(source)}`;
}

const noAnswer =
  'I cannot find that answer to you. Reply to one with `!memory why`, or choose “Why this answer?” in its menu, under Apps.';
const unknownAnswer =
  'I no longer know what I had in view for this answer: I keep that for my last 50 answers to you in a conversation.';
const nothingUsed = 'I used nothing that I remember about you: only this conversation.';
const noneYet = `I have not answered you here lately. ${noAnswer.slice(noAnswer.indexOf('Reply'))}`;

async function whyAnswer(
  call: MemoryCall,
  id: string | undefined,
  channelIds: readonly string[],
): Promise<CommandReply> {
  const found = await findAnswer(call, channelIds, id);
  if (found === undefined) return { text: id === undefined ? noneYet : noAnswer };
  return tell(call, found);
}

interface Found {
  readonly channelId: string;
  readonly answer: AnswerProvenance | 'unknown';
}

/** Among the asker's own conversations only. */
export async function findAnswer(
  { speaker, ports }: MemoryCall,
  channelIds: readonly string[],
  id: string | undefined,
): Promise<Found | undefined> {
  for (const channelId of new Set(channelIds.filter(isSnowflake))) {
    const answer = await ports.provenance.find({ channelId, userId: speaker.id }, id);
    if (answer !== undefined) return { channelId, answer };
  }
  return undefined;
}

/** What the prompt and tools showed of memory, as far as readers may be told [V2]. */
async function tell(call: MemoryCall, { channelId, answer }: Found): Promise<CommandReply> {
  if (answer === 'unknown') return { text: unknownAnswer };
  const { prompt, tools } = answer;
  if (prompt.length === 0 && tools.length === 0) return { text: nothingUsed };
  const lines: string[] = [];
  const items = new Set<DurableItem>();
  let hidden = 0;
  for (const { title, told } of await partsOf(call, channelId, answer)) {
    hidden += told.filter(({ line }) => line === 'hidden').length;
    for (const { item } of told) if (item !== undefined) items.add(item);
    const named = listed(told);
    if (named.length > 0) lines.push(`${title}:`, ...named);
  }
  return {
    text: linesOf(
      'From what I remember about you, I had this in view:',
      lines,
      hidden > 0 && `and ${hidden} that I don't name here`,
    ),
    buttons: buttonsFor(call, [...items]),
  };
}

/** What an answer was made from, by layer and tool. */
async function partsOf(call: MemoryCall, channelId: string, answer: AnswerProvenance) {
  const tellOf = await createView(call, channelId, answer);
  const parts = [
    ...parted.map(({ title, isIn }) => ({ title, sources: answer.prompt.filter(isIn) })),
    ...answer.tools.map(({ tool, sources }) => ({ title: `Read by \`${tool}\``, sources })),
  ];
  return Promise.all(
    parts.map(async ({ title, sources }) => ({ title, told: await Promise.all(sources.map(tellOf)) })),
  );
}

function isOwn({ kind }: MemorySource): boolean {
  return kind !== 'note';
}

/** The asker's own words in what an answer was made from, by layer, where they alone read it; what is not theirs is left out [Y2a]. */
export async function ownWordsIn(call: MemoryCall, channelId: string, answer: AnswerProvenance) {
  const own = {
    ...answer,
    prompt: answer.prompt.filter(isOwn),
    tools: answer.tools.map((read) => ({ ...read, sources: read.sources.filter(isOwn) })),
  };
  const parts = await partsOf(call, channelId, own);
  return Promise.all(
    parts.map(async ({ title, told }) => {
      const texts = namedIn(told).map(async ({ line, whole }) => (await whole?.()) ?? line);
      return { title, texts: [...(await Promise.all(texts)), ...goneIn(told)] };
    }),
  );
}

/** Items that have three buttons each; of more, each has one that tells of it, with these three. */
const mostWithThree = 5;
const labelMaxChars = 24;

/** What puts each item right [K7]. */
function buttonsFor(call: MemoryCall, items: readonly DurableItem[]): readonly CommandButton[] {
  return items.flatMap((item): readonly CommandButton[] => {
    const label = clipAtWord(toSingleLine(item.text), labelMaxChars);
    if (items.length > mostWithThree) return [{ label, line: `memory why ${item.id}`, takes: 'nothing' }];
    return correctingButtons(call, item, { edit: `✏️ ${label}`, hide: `🔒 ${label}`, forget: `🗑️ ${label}` });
  });
}

/** A line, or that there is none: `hidden` where it may not be told, or `gone`; with an item that can be put right. */
interface Told {
  readonly line: string;
  /** All that it says, if it is still there. */
  readonly whole?: (() => Promise<string | undefined>) | undefined;
  readonly item?: DurableItem | undefined;
}

/** What may be told; what was forgotten is counted only. */
function listed(told: readonly Told[]): readonly string[] {
  return [...namedIn(told).map(({ line }) => line), ...goneIn(told)].map((line) => `- ${line}`);
}

function namedIn(told: readonly Told[]): readonly Told[] {
  return told.filter(({ line }) => line !== 'hidden' && line !== 'gone');
}

function goneIn(told: readonly Told[]): readonly string[] {
  const gone = told.filter(({ line }) => line === 'gone').length;
  const were = gone === 1 ? 'was' : 'were';
  return gone === 0 ? [] : [`${counted(gone, 'item')} that ${were} forgotten since, or made way for others`];
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

/** Tells what a source is by now. */
async function createView(
  { speaker, view: place, at, ports: { durable, rolling, goneChannels, logged, notebook } }: MemoryCall,
  channelId: string,
  answer: AnswerProvenance,
): Promise<(source: MemorySource) => Promise<Told>> {
  const mayName = mayUse({ ownerId: speaker.id, ...pickReach(answer) }, place, speaker.id);
  const [items, former, goneIds] = await Promise.all([
    durable.list(speaker.id),
    durable.formerOf(speaker.id),
    goneChannels(),
  ]);

  /** An item by what it says by now, unless it said the same then. */
  function tellItem(source: Extract<MemorySource, { kind: 'item' }>): Told {
    const isShown = (item: DurableItem): boolean => sourceOfItem(item).hash === source.hash;
    const present = items.find(({ id }) => id === source.id);
    if (present !== undefined && isShown(present)) return named(present, present, wordingOf(present), '');
    for (const [presentId, list] of former) {
      const past = list.find((item) => (item.id === source.id || presentId === source.id) && isShown(item));
      const since = ` · says something else by now: id ${dataLine(presentId)}`;
      const now = items.find(({ id }) => id === presentId);
      if (past !== undefined) return named(past, now, wordingOf(past), since);
    }
    return present === undefined
      ? { line: 'gone' }
      : named(present, present, undefined, ' · said something else then');

    function named(
      item: DurableItem,
      now: DurableItem | undefined,
      text: string | undefined,
      since: string,
    ): Told {
      if (!mayUseItem(item, speaker.id, place)) return { line: 'hidden' };
      const line = `${text === undefined ? '' : `${brieflyQuoted(text)} · `}id ${dataLine(source.id)}${since}`;
      const whole = async () => text;
      return { line, whole, item: now !== undefined && mayUseItem(now, speaker.id, place) ? now : undefined };
    }
  }

  async function tellOther(source: Exclude<MemorySource, { kind: 'item' }>): Promise<Told> {
    if (!mayName) return { line: 'hidden' };
    if ('channelId' in source && goneIds.has(source.channelId))
      return { line: 'in a channel that is deleted' };
    switch (source.kind) {
      case 'summary': {
        const text = await rolling.madeAt({ channelId, userId: speaker.id }, source.at, place, speaker.id);
        const when = `of ${shownTime(new Date(source.at))}`;
        return text === undefined
          ? { line: `one ${when}, which is no longer there` }
          : { line: `${brieflyQuoted(text)} ${when}`, whole: async () => text };
      }
      case 'exchange':
        return {
          line: `<#${source.channelId}>, ${shownTime(new Date(source.at))}`,
          whole: () => wordsOf(source),
        };
      case 'file': {
        const { path, line: number, bytes } = source;
        const where = number === undefined ? '' : `:${number}`;
        const size = bytes === undefined ? '' : ` (${counted(bytes, 'byte')})`;
        const line = `\`${dataLine(path).replaceAll('`', '')}${where}\`${size}`;
        return { line, whole: source.isListed === true ? undefined : () => noteAt(path, line) };
      }
      case 'note':
        return { line: `in <#${source.channelId}>, ${linkTo(source)}` };
      case 'message': {
        const when = source.at === undefined ? '' : `, ${shownTime(new Date(source.at))}`;
        const where = source.guildId === undefined ? 'in our DM' : `in <#${source.channelId}>`;
        return { line: `${where}${when}, ${linkTo(source)}`, whole: () => wordsOf(source) };
      }
    }
  }

  function wordsOf(said: { readonly channelId: string; readonly messageId: string }) {
    return logged({ channelId: said.channelId, userId: speaker.id }, said.messageId);
  }

  /** The owners' workspace is not one's own. */
  async function noteAt(path: string, line: string): Promise<string | undefined> {
    const context = { speaker, place: { ...place, channelId }, now: new Date(at) };
    const opened = await notebook.open(path, context);
    if (opened.outcome === 'refused' || opened.file.queueKey === 'workspace') return undefined;
    return opened.content && `${line}\n${opened.content.text}`;
  }

  return async (source) => (source.kind === 'item' ? tellItem(source) : tellOther(source));
}
