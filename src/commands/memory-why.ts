import type { CommandReply, MenuRequest, ShownAnswer, ShownPart } from '../core/commands.ts';
import type { MemorySource } from '../core/memory-source.ts';
import { inputOf } from '../core/model.ts';
import type { CommandButton } from '../core/reply.ts';
import { dataLine, type PartSize } from '../core/section.ts';
import { isSnowflake, messageReferenceIn } from '../core/snowflake.ts';
import { clipAtWord, toSingleLine, amount, dollars } from '../core/text.ts';
import { discordTime } from '../core/time.ts';
import { mayUse, pickReach } from '../core/visibility.ts';
import {
  mayUseItem,
  namesChannel,
  sourceOfItem,
  undated,
  type DurableItem,
  wordingOf,
} from '../memory/durable/document.ts';
import type { AnswerProvenance, SizedAnswer } from '../memory/provenance.ts';
import {
  brieflyQuoted,
  counted,
  historyLines,
  linesOf,
  linkTo,
  listedItem,
  ofAssistant,
  quoted,
  whereOf,
  present,
} from './answer-lines.ts';
import { correctingButtons, itemWithId, unknownId } from './memory-items.ts';
import type { MemoryCall } from './memory-ports.ts';

/** The item or answer named [K7], the answer replied to, or the newest here. */
export async function tellWhy(call: MemoryCall, id: string | undefined): Promise<CommandReply> {
  const { place, repliesTo, memory, speaker } = call;
  if (id === undefined) return whyAnswer(call, repliesTo?.id, [repliesTo?.channelId ?? place.channelId]);
  const item = await itemWithId(call, id);
  if (item !== undefined) return whyItem(call, item);
  const reference = messageReferenceIn(id);
  if (reference === undefined) return { text: unknownId(id) };
  if (reference.channelId !== undefined) return whyAnswer(call, reference.id, [reference.channelId]);
  const sessions = await memory.sessionLog.sessionsOfPerson(speaker.id);
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
  const { speaker, view, memory } = call;
  const { source } = item;
  const isGone = (await memory.goneChannels()).has(source.channelId);
  const session = { channelId: source.channelId, userId: speaker.id };
  // Somebody may have written the item by hand.
  const isFromMessage = !isGone && source.assistant === undefined && isSnowflake(source.channelId);
  const sentence = isFromMessage ? await memory.sessionLog.message(session, source.messageId) : undefined;
  const earlierItems = (await memory.durable.historiesOf(speaker.id)).get(item.id) ?? [];
  const mayQuote = namesChannel(item, view);
  const mayTellPlace = source.assistant === undefined && (source.guildId === undefined || mayQuote);
  return {
    text: linesOf(
      listedItem(item, call),
      `How: ${howBy[source.type]}${ofAssistant(source)}${source.heard === undefined ? '' : ', in a voice message that I heard'}`,
      Date.parse(item.createdAt) !== Date.parse(undated) &&
        `Since: ${discordTime(new Date(item.createdAt), 'f')}`,
      mayTellPlace && source.messageId !== '' && `Where: ${whereOf(source, isGone)}`,
      sentence !== undefined && mayQuote && `You said: ${quoted(sentence)}`,
      historyLines(call, earlierItems),
    ),
    buttons: correctingButtons(call, item),
  };
}

const howBy = {
  manual: 'you told me to remember it',
  discord: 'I noticed it while we talked, and stored it then',
  summary: 'I noticed it in what you had said',
  elsewhere: 'another assistant proposed it, and you said yes',
} as const;

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
async function findAnswer(
  { speaker, memory }: MemoryCall,
  channelIds: readonly string[],
  id: string | undefined,
): Promise<Found | undefined> {
  for (const channelId of new Set(channelIds.filter(isSnowflake))) {
    const answer = await memory.provenance.find({ channelId, userId: speaker.id }, id);
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
  for (const { title, entries } of await partsOf(call, channelId, answer)) {
    hidden += entries.filter(({ line }) => line === 'hidden').length;
    for (const { item } of entries) if (item !== undefined) items.add(item);
    // What may be told; what was forgotten is counted only.
    const named = [...namedIn(entries).map(({ line }) => line), ...goneIn(entries)];
    if (named.length > 0) lines.push(`${title}:`, ...named.map((line) => `- ${line}`));
  }
  return {
    text: linesOf(
      'From what I remember about you, I had this in view:',
      lines,
      hidden > 0 && `and ${hidden} that I don't name here`,
    ),
    buttons: [...items].flatMap((item): readonly CommandButton[] => {
      const label = clipAtWord(toSingleLine(item.text), labelMaxChars);
      if (items.size > mostWithThree) return [{ label, line: `memory why ${item.id}`, takes: 'nothing' }];
      return correctingButtons(call, item, label);
    }),
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
    parts.map(async ({ title, sources }) => ({ title, entries: await Promise.all(sources.map(tellOf)) })),
  );
}

/** The asker's own words in what an answer was made from, by layer, where they alone read it [Y2a]. */
async function ownWordsIn(call: MemoryCall, channelId: string, answer: AnswerProvenance) {
  const parts = await partsOf(call, channelId, answer);
  return Promise.all(
    parts.map(async ({ title, entries }) => {
      const texts = namedIn(entries).map(async ({ line, whole }) => (await whole?.()) ?? line);
      return { title, texts: [...(await Promise.all(texts)), ...goneIn(entries)] };
    }),
  );
}

/** Items that have three buttons each, which put them right [K7]; of more, each has one that tells of it, with these three. */
const mostWithThree = 5;
const labelMaxChars = 24;

/** A line, or that there is none: `hidden` where it may not be told, or `gone`; with an item that can be put right. */
interface Entry {
  readonly line: string;
  /** All that it says, if it is still there. */
  readonly whole?: (() => Promise<string | undefined>) | undefined;
  readonly item?: DurableItem | undefined;
}

function namedIn(entries: readonly Entry[]): readonly Entry[] {
  return entries.filter(({ line }) => line !== 'hidden' && line !== 'gone');
}

function goneIn(entries: readonly Entry[]): readonly string[] {
  const gone = entries.filter(({ line }) => line === 'gone').length;
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
  { title: 'Messages', isIn: ({ kind }) => kind === 'message' },
];

/** Tells what a source is by now. */
async function createView(
  { speaker, view: place, at, memory: { durable, rolling, goneChannels, sessionLog, notebook } }: MemoryCall,
  channelId: string,
  answer: AnswerProvenance,
): Promise<(source: MemorySource) => Promise<Entry>> {
  const mayName = mayUse({ ownerId: speaker.id, ...pickReach(answer) }, place, speaker.id);
  const [items, earlierItems, goneIds] = await Promise.all([
    durable.list(speaker.id),
    durable.historiesOf(speaker.id),
    goneChannels(),
  ]);

  /** An item by what it said then, if that is still known, and what it says by now. */
  function tellItem({ id, hash }: Extract<MemorySource, { kind: 'item' }>): Entry {
    const past = [...earlierItems].flatMap(([nowId, list]) => list.map((item) => ({ nowId, item })));
    const versions = [...items.map((item) => ({ nowId: item.id, item })), ...past];
    const then = versions.find(
      ({ nowId, item }) => (item.id === id || nowId === id) && sourceOfItem(item).hash === hash,
    );
    const now = items.find((item) => item.id === (then?.nowId ?? id));
    const known = then?.item ?? now;
    if (known === undefined) return { line: 'gone' };
    if (!mayUseItem(known, speaker.id, place)) return { line: 'hidden' };
    const text = then && wordingOf(then.item);
    const quote = text === undefined ? '' : `${brieflyQuoted(text)} · `;
    const change =
      then === undefined
        ? ' · said something else then'
        : then.item === now
          ? ''
          : ` · says something else by now: id ${dataLine(then.nowId)}`;
    return {
      line: `${quote}id ${dataLine(id)}${change}`,
      whole: async () => text,
      item: now !== undefined && mayUseItem(now, speaker.id, place) ? now : undefined,
    };
  }

  async function tellOther(source: Exclude<MemorySource, { kind: 'item' }>): Promise<Entry> {
    if (!mayName) return { line: 'hidden' };
    if ('channelId' in source && goneIds.has(source.channelId))
      return { line: 'in a channel that is deleted' };
    switch (source.kind) {
      case 'summary': {
        const text = await rolling.madeAt({ channelId, userId: speaker.id }, source.at, place, speaker.id);
        const when = `of ${discordTime(new Date(source.at), 'f')}`;
        return text === undefined
          ? { line: `one ${when}, which is no longer there` }
          : { line: `${brieflyQuoted(text)} ${when}`, whole: async () => text };
      }
      case 'exchange':
        return {
          line: `<#${source.channelId}>, ${discordTime(new Date(source.at), 'f')}`,
          whole: () => wordsOf(source),
        };
      case 'file': {
        const { path, line: number, bytes } = source;
        const where = number === undefined ? '' : `:${number}`;
        const size = bytes === undefined ? '' : ` (${counted(bytes, 'byte')})`;
        const line = `\`${dataLine(path).replaceAll('`', '')}${where}\`${size}`;
        return { line, whole: source.isListed === true ? undefined : () => noteAt(path, line) };
      }
      case 'message': {
        const when = source.at === undefined ? '' : `, ${discordTime(new Date(source.at), 'f')}`;
        const where = source.guildId === undefined ? 'in our DM' : `in <#${source.channelId}>`;
        return { line: `${where}${when}, ${linkTo(source)}`, whole: () => wordsOf(source) };
      }
    }
  }

  function wordsOf(source: { readonly channelId: string; readonly messageId: string }) {
    return sessionLog.message({ channelId: source.channelId, userId: speaker.id }, source.messageId);
  }

  /** The owners' workspace is not one's own. */
  async function noteAt(path: string, line: string): Promise<string | undefined> {
    const context = { speaker, place: { ...place, channelId }, now: new Date(at) };
    const opened = await notebook.open(path, context);
    if (opened.outcome === 'refused' || opened.file.queueKey === 'workspace') return undefined;
    return opened.content === undefined ? undefined : `${line}\n${opened.content}`;
  }

  return async (source) => (source.kind === 'item' ? tellItem(source) : tellOther(source));
}

const noAnswersYet =
  'I have not answered you since I was started, or nothing of it may be stored: I know this of my last 20 answers to you, and of none in a pause.';
const onPage = 'What I was given for my answers is on your page: `/memory page` links to it.';

/**
 * For the page: how large the prompts of the newest answers were, and what they took; of the one that is named, by a
 * message that it answers, also the person's own words in it [Y2a].
 */
export async function showAnswers(call: MemoryCall, id: string | undefined): Promise<CommandReply> {
  const { memory, speaker } = call;
  const gone = await memory.goneChannels();
  const all = await memory.provenance.sizesOf(speaker.id);
  if (id === undefined) {
    const answers = all.map((answer) => shownAnswer(answer, gone));
    return { text: answers.length === 0 ? noAnswersYet : onPage, data: { kind: 'answers', answers } };
  }
  const answer = all.find(({ messageIds }) => messageIds.includes(id));
  const answers = answer === undefined ? [] : [await withOwnWords(call, answer, gone)];
  return { text: onPage, data: { kind: 'answers', answers } };
}

/** With the message that was answered, and what of the asker's memory stood in the prompt, as `why` tells it. */
async function withOwnWords(
  call: MemoryCall,
  answer: SizedAnswer,
  gone: ReadonlySet<string>,
): Promise<ShownAnswer> {
  const { memory, speaker } = call;
  const shown = shownAnswer(answer, gone);
  const { channelId } = answer.place;
  const session = { channelId, userId: speaker.id };
  const provenance = gone.has(channelId) ? undefined : await memory.provenance.find(session, shown.id);
  if (provenance === undefined || provenance === 'unknown') return shown;
  const logged = await Promise.all(answer.messageIds.map((id) => memory.sessionLog.message(session, id)));
  const texts = logged.map((text) => text ?? 'It is no longer there.');
  const parts = await ownWordsIn(call, channelId, provenance);
  return {
    ...shown,
    own: [{ title: 'Your message', texts }, ...parts].filter((part) => part.texts.length > 0),
  };
}

function shownAnswer(answer: SizedAnswer, gone: ReadonlySet<string>): ShownAnswer {
  const { at, place, messageIds, usage, cost, maxChars } = answer;
  const id = messageIds.at(-1) ?? '';
  const where = whereOf({ ...place, messageId: id }, gone.has(place.channelId));
  const parts = shownParts(answer.parts);
  const inPrompt = parts.filter(({ name }) => name !== 'tools' && name !== 'tool_results');
  const input = inputOf(usage);
  const cached = input === 0 ? 0 : Math.round((100 * usage.cacheReadTokens) / input);
  return {
    id,
    title: `${discordTime(new Date(at), 'f')} ${where}`,
    took: present(
      `${amount(sumOf(inPrompt))} of ${amount(maxChars)} characters beside tools`,
      `${amount(input)} input tokens, ${cached}% from the cache`,
      `${amount(usage.outputTokens)} output tokens`,
      cost === undefined ? 'cost not known' : dollars(cost),
    ).join(' · '),
    parts,
  };
}

/** Parts of one name are one. */
function shownParts(parts: readonly PartSize[]): readonly ShownPart[] {
  return [...new Set(parts.map(({ name }) => name))].map((name) => {
    const same = parts.filter((part) => part.name === name);
    const budget = same.reduce((sum, part) => sum + (part.budget ?? Number.NaN), 0);
    return {
      name,
      title: titles[name] ?? `${name.slice(0, 1).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`,
      characters: sumOf(same),
      budget: Number.isNaN(budget) ? undefined : budget,
    };
  });
}

function sumOf(parts: readonly PartSize[]): number {
  return parts.reduce((sum, { characters }) => sum + characters, 0);
}

/** Where the name of a part says too little. */
const titles: Partial<Record<PartSize['name'], string>> = {
  soul: 'SOUL.md',
  user_profile: 'USER.md',
  notes: 'MEMORY.md',
  durable_items: 'Items',
  message: 'Your message',
  recent_elsewhere: 'Recent exchanges elsewhere',
};
