import type { CommandReply, ShownItem, ShownResult } from '../core/commands.ts';
import { dataLine, renderSection } from '../core/section.ts';
import { clip, shownText } from '../core/text.ts';
import { sessionOf } from '../core/turn-context.ts';
import { discordLink } from '../core/snowflake.ts';
import { isOver } from '../memory/durable/document.ts';
import type { Reference } from '../memory/recall/segments.ts';
import { brieflyQuoted, counted, linesOf, listedItem, nameable, shownItem } from './answer-lines.ts';
import { restrictions, retentionText } from './memory-control.ts';
import { toReview } from './memory-review.ts';
import type { MemoryCall } from './memory-ports.ts';

/** What one layer has to show: a text, and how much of its budget a prompt here uses, in characters. */
interface LayerView {
  readonly text?: string | undefined;
  readonly usage?: { readonly name: string; readonly used: number; readonly budget: number };
}

/** Where none of it is used. */
export const switchedOffLine = 'Memory is switched off in this channel: none of this is used here.';

/** What each layer has, and how much of each budget is used [K3]. */
export async function showMemory(call: MemoryCall): Promise<CommandReply> {
  const { memory, privacyFacts, place } = call;
  const [items, summary, recent, wishes] = await Promise.all([
    viewItems(call),
    viewSummary(call),
    viewRecent(call),
    restrictions(call),
  ]);
  const usages = [items, summary, recent].flatMap(({ usage }) => usage ?? []);
  const used = usages.map((usage) => `${usage.name} ${usage.used} of ${usage.budget}`).join(' · ');
  const { retentionDays } = await privacyFacts();
  const parts = [
    items.text,
    summary.text,
    wishes.text,
    (await memory.placeSettings.isMemoryOff(place))
      ? switchedOffLine
      : used && `Characters used in a prompt here: ${used}`,
    retentionDays > 0 ? retentionText(retentionDays) : undefined,
  ];
  return {
    text: parts.filter(Boolean).join('\n\n'),
    data: { kind: 'memory', items: items.items, ...wishes.data },
  };
}

async function viewItems(call: MemoryCall): Promise<LayerView & { readonly items?: readonly ShownItem[] }> {
  const { speaker, place, memory, config } = call;
  if (!config.durable.enabled) return { text: 'Durable memory is switched off on this bot.' };
  const [items, { used, budget }, cards] = await Promise.all([
    memory.durable.list(speaker.id),
    memory.durable.usage(speaker.id, place),
    toReview(call),
  ]);
  const { named, hidden } = nameable(call, items);
  const over = named.filter((item) => isOver(item, call.today));
  return {
    text: linesOf(
      `Durable memory (${counted(named.length, 'item')}):`,
      named.filter((item) => !over.includes(item)).map((item) => listedItem(item, call)),
      over.length > 0 && 'Over:',
      over.map((item) => listedItem(item, call)),
      items.length === 0 && 'Nothing yet. `!memory remember <text>` adds something.',
      hidden > 0 && `${hidden} more in our DM: say \`!memory show\` there.`,
      cards.length > 0 && `${counted(cards.length, 'item')} to review: \`/memory review\``,
    ),
    usage: { name: 'durable items', used, budget },
    items: named.map((item) => shownItem(item, call)),
  };
}

async function viewSummary(call: MemoryCall): Promise<LayerView> {
  const { enabled, maxChars: budget } = call.config.summary;
  if (!enabled) return { text: 'The rolling summary is switched off on this bot.' };
  const summary = await call.memory.rolling.show(sessionOf(call), call.view, call.speaker.id);
  const used = Math.min(summary?.length ?? 0, budget);
  return {
    text: `Rolling summary:\n${summary ?? 'None for this conversation yet.'}`,
    usage: { name: 'rolling summary', used, budget },
  };
}

async function viewRecent({ speaker, place, work, at, memory, config }: MemoryCall): Promise<LayerView> {
  if (!config.shortTerm.enabled) return {};
  const turn = { speaker, place, messages: [], now: new Date(at), work, hasThirdPartyText: true };
  const sections = await memory.shortTerm.sections(turn);
  const used = sections.reduce((sum, section) => sum + renderSection(section).length, 0);
  return { usage: { name: 'recent exchanges', used, budget: config.shortTerm.injectMaxChars } };
}

/** Passages of at most 300 characters. */
const mostResults = 10;
const queryMaxChars = 1000;

/** What matches the literal text best, as far as the answer's readers may be told [C2][C3]. */
export async function searchMemory(
  call: MemoryCall,
  query: string,
  excluded: readonly string[] = [],
): Promise<CommandReply> {
  const { speaker, at, view: place, memory, config } = call;
  if (!config.recall.enabled) return { text: 'Searching is switched off on this bot.' };
  const passages = await memory.recall.search({
    queries: [clip(query, queryMaxChars)],
    scope: 'all',
    limit: mostResults,
    speaker,
    place,
    now: new Date(at),
    excluded,
    isOwnOnly: call.elsewhere !== undefined,
  });
  const heading =
    passages.length === 0
      ? `I found nothing about ${brieflyQuoted(query)}.`
      : `Found ${counted(passages.length, 'result')} for ${brieflyQuoted(query)}:`;
  const results = passages.map(({ unit, date, content }) => ({
    text: content,
    date,
    visibility: unit.reach.visibility,
    origin: originOf(unit.reference),
  }));
  const blocks = results.map(
    ({ text, date, visibility, origin }, index) =>
      `[${index + 1}] ${date === '' ? '' : `${date}: `}${shownText(text)}\n${originText(origin)} · ${visibility}`,
  );
  return {
    text: [heading, ...blocks, ...(place.audience === 'dm' ? [] : [elsewhere])].join('\n\n'),
    data: { kind: 'found', results },
  };
}

const elsewhere =
  'Here I search only what may be used here; `/memory search`, or this command in our DM, searches everything.';

type Origin = ShownResult['origin'];

function originOf(reference: Reference): Origin {
  switch (reference.kind) {
    case 'item':
      return { itemId: reference.id };
    case 'line':
      return { file: `${reference.path}:${reference.line}` };
    case 'message':
      return { link: discordLink(reference) };
  }
}

function originText(origin: Origin): string {
  if ('link' in origin) return `<${origin.link}>`;
  return 'itemId' in origin ? `id ${dataLine(origin.itemId)}` : `file ${dataLine(origin.file)}`;
}
