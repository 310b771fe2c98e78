import type { CommandReply, ShownFound, ShownItem, ShownMemory } from '../core/commands.ts';
import { dataLine, renderSection } from '../core/section.ts';
import { clip } from '../core/text.ts';
import { sessionOf } from '../core/turn-context.ts';
import { isOver } from '../memory/durable/document.ts';
import type { Reference } from '../memory/recall/segments.ts';
import {
  brieflyQuoted,
  counted,
  linesOf,
  linkTo,
  listedItem,
  nameable,
  readFailureReply,
  shownItem,
  withoutFences,
} from './answer-lines.ts';
import { restrictions, retentionText } from './memory-control.ts';
import { toReview } from './memory-review.ts';
import type { MemoryCall } from './memory-ports.ts';

/** What one layer has to show: a text, and how much of its budget a prompt here uses, in characters. */
interface LayerView {
  readonly text?: string | undefined;
  readonly usage?: BudgetUsage;
  /** How many cards of the review wait here [K16]. */
  readonly waiting?: number;
  readonly items?: readonly ShownItem[];
  readonly restrictions?: Pick<ShownMemory, 'mode' | 'pause'>;
}

export interface BudgetUsage {
  readonly name: string;
  readonly used: number;
  readonly budget: number;
}

/** Where none of it is used. */
export const switchedOffLine = 'Memory is switched off in this channel: none of this is used here.';

/** What each layer has, and how much of each budget is used [K3]. */
export async function showMemory(call: MemoryCall): Promise<CommandReply> {
  const { ports, place } = call;
  const views = await viewLayers(call);
  const usages = views.flatMap(({ usage }) => usage ?? []);
  const used = usages.map((usage) => `${usage.name} ${usage.used} of ${usage.budget}`).join(' · ');
  const { retentionDays } = await ports.privacyFacts();
  const parts = [
    ...views.map(({ text }) => text),
    (await ports.isMemoryOff(place)) ? switchedOffLine : used && `Characters used in a prompt here: ${used}`,
    retentionDays > 0 ? retentionText(retentionDays) : undefined,
  ];
  return { text: parts.filter(Boolean).join('\n\n'), data: dataOf(views, ports.settings) };
}

/** `undefined` where part of it could not be read. */
function dataOf(
  views: readonly LayerView[],
  { durableEnabled }: Pick<MemoryCall['ports']['settings'], 'durableEnabled'>,
): ShownMemory | undefined {
  const { items } = views.find((view) => view.items !== undefined) ?? {};
  const { restrictions: own } = views.find((view) => view.restrictions !== undefined) ?? {};
  return own === undefined || (items === undefined && durableEnabled)
    ? undefined
    : { kind: 'memory', ...own, items };
}

/** Each layer as it is shown. Never rejects: where one cannot be read, its text says so. */
export function viewLayers(call: MemoryCall): Promise<readonly LayerView[]> {
  const views = [viewItems, viewSummary, viewRecent, viewRestrictions];
  return Promise.all(
    views.map((view) =>
      view(call).catch((error: unknown): LayerView =>
        readFailureReply(error, 'a memory layer could not be shown', call),
      ),
    ),
  );
}

async function viewItems(call: MemoryCall): Promise<LayerView> {
  const { speaker, place, ports } = call;
  if (!ports.settings.durableEnabled) return { text: 'Durable memory is switched off on this bot.' };
  const [items, { used, budget }, { cards }] = await Promise.all([
    ports.durable.list(speaker.id),
    ports.durable.usage(speaker.id, place),
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
    waiting: cards.length,
    items: named.map((item) => shownItem(item, call)),
  };
}

async function viewSummary(call: MemoryCall): Promise<LayerView> {
  const { summaryEnabled, summaryMaxChars: budget } = call.ports.settings;
  if (!summaryEnabled) return { text: 'The rolling summary is switched off on this bot.' };
  const summary = await call.ports.rolling.show(sessionOf(call), call.view, call.speaker.id);
  const used = Math.min(summary?.length ?? 0, budget);
  return {
    text: `Rolling summary:\n${summary ?? 'None for this conversation yet.'}`,
    usage: { name: 'rolling summary', used, budget },
  };
}

async function viewRecent({ speaker, place, work, at, ports }: MemoryCall): Promise<LayerView> {
  if (!ports.settings.shortTermEnabled) return {};
  const { startedAfter } = work;
  const turn = { speaker, place, messages: [], now: new Date(at), startedAfter, hasThirdPartyText: true };
  const sections = await ports.shortTerm.sections(turn);
  const used = sections.reduce((sum, section) => sum + renderSection(section).length, 0);
  return { usage: { name: 'recent exchanges', used, budget: ports.settings.shortTermMaxChars } };
}

async function viewRestrictions(call: MemoryCall): Promise<LayerView> {
  const { text, ...own } = await restrictions(call);
  return { text, restrictions: own };
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
  const { speaker, at, view: place, ports } = call;
  if (!ports.settings.recallEnabled) return { text: 'Searching is switched off on this bot.' };
  try {
    const passages = await ports.recall.search({
      queries: [clip(query, queryMaxChars)],
      scope: 'all',
      limit: mostResults,
      speaker,
      place,
      now: new Date(at),
      excluded,
    });
    const heading =
      passages.length === 0
        ? `I found nothing about ${brieflyQuoted(query)}.`
        : `Found ${counted(passages.length, 'result')} for ${brieflyQuoted(query)}:`;
    const results = passages.map(({ unit, date, content }) => ({
      text: withoutFences(content),
      date,
      visibility: unit.reach.visibility,
      origin: originOf(unit.reference),
    }));
    const blocks = results.map(
      ({ text, date, visibility, origin }, index) =>
        `[${index + 1}] ${date === '' ? '' : `${date}: `}${text}\n${originText(origin)} · ${visibility}`,
    );
    return {
      text: [heading, ...blocks, ...(place.audience === 'dm' ? [] : [elsewhere])].join('\n\n'),
      data: { kind: 'found', results },
    };
  } catch (error) {
    return readFailureReply(error, 'memory could not be searched', call);
  }
}

const elsewhere =
  'Here I search only what may be used here; `/memory search`, or this command in our DM, searches everything.';

type Origin = ShownFound['results'][number]['origin'];

function originOf(reference: Reference): Origin {
  switch (reference.kind) {
    case 'item':
      return { itemId: reference.id };
    case 'line':
      return { file: `${reference.path}:${reference.line}` };
    case 'message':
      return { link: linkTo(reference).slice(1, -1) };
  }
}

function originText(origin: Origin): string {
  if ('link' in origin) return `<${origin.link}>`;
  return 'itemId' in origin ? `id ${dataLine(origin.itemId)}` : `file ${dataLine(origin.file)}`;
}
