import { createDates } from '../../src/memory/recall/dates.ts';
import type { Find } from '../../src/memory/recall/hits.ts';
import { readQuery, type RecallQuery } from '../../src/memory/recall/query.ts';
import { rank, type SourceSegments } from '../../src/memory/recall/rank.ts';
import { lookedAt, type Features } from '../../src/memory/recall/reorder.ts';
import { segmentOf, type RecallUnit, type TextReaders } from '../../src/memory/recall/segments.ts';
import { TermReader } from '../../src/memory/recall/words.ts';
import type { Conversation, Question } from './recall-conversations.ts';

/** After so long a pause another sitting begins, as in the messages' index. */
const pauseMs = 60 * 60 * 1000;
const reach = { visibility: 'dm', homeId: '1' } as const;
const view = { mayUse: () => true, excluded: new Set<string>() };

/** What was measured of one question; shares from 0 to 1. */
export interface Measured {
  readonly question: Question;
  readonly conversation: Conversation;
  readonly at5: number;
  readonly at10: number;
  readonly reciprocalRank: number;
}

/** What was found for a question, as ids of messages, best first, beside what its answer needs. */
export function measuredOf(
  conversation: Conversation,
  question: Question,
  found: readonly string[],
): Measured {
  const { gold } = question;
  const at = (k: number): number => {
    const first = new Set(found.slice(0, k));
    return gold.filter((some) => some.some((id) => first.has(id))).length / gold.length;
  };
  const every = new Set(gold.flat());
  const best = found.findIndex((id) => every.has(id));
  return {
    question,
    conversation,
    at5: at(5),
    at10: at(10),
    reciprocalRank: best === -1 || best >= 10 ? 0 : 1 / (best + 1),
  };
}

interface Asked {
  readonly conversation: Conversation;
  readonly question: Question;
  readonly query: RecallQuery;
  readonly sources: readonly SourceSegments[];
}

/** The hits of a question as they are found, best first, none that repeats another's words; and the features of those that are reordered. */
export interface Listed {
  readonly conversation: Conversation;
  readonly question: Question;
  readonly ids: readonly string[];
  readonly features: readonly Features[];
}

/** What each question finds among the conversation's messages, in memory. */
export async function listHits(conversations: readonly Conversation[]): Promise<readonly Listed[]> {
  const readers = { terms: new TermReader(), dates: createDates('UTC') };
  const listed: Listed[] = [];
  for (const asked of conversations.flatMap((conversation) => askedOf(conversation, readers))) {
    const { conversation, question, query, sources } = asked;
    const ranking = await rank(sources, query, view);
    const { hits, features } = await lookedAt(ranking, query);
    const shown = unrepeated(hits);
    listed.push({
      conversation,
      question,
      ids: shown.map(({ id }) => id),
      features: shown.flatMap(({ at }) => features[at] ?? []),
    });
  }
  return listed;
}

/** The ids of the messages and their places among the hits: of those that say the same only the first. */
function unrepeated(hits: readonly Find[]): readonly { readonly id: string; readonly at: number }[] {
  const said = new Set<string>();
  return hits.flatMap(({ unit: { text, author, reference } }, at) => {
    const words = `${author} ${text}`;
    if (said.has(words) || reference.kind !== 'message') return [];
    said.add(words);
    return [{ id: reference.messageId, at }];
  });
}

function askedOf(conversation: Conversation, readers: TextReaders): readonly Asked[] {
  const units: RecallUnit[] = [];
  let stretch = 0;
  let before = 0;
  for (const [index, { id, author, isBot, at, text }] of conversation.messages.entries()) {
    if (at.getTime() - before >= pauseMs) stretch += 1;
    before = at.getTime();
    const reference = { kind: 'message', channelId: '1', messageId: id, line: index + 1 } as const;
    const unit = { text, author, at: at.toISOString(), isBot, reach, stretch, reference };
    units.push({ ...unit, hasThirdPartyText: false });
  }
  const sourcesUpTo = new Map<number, readonly SourceSegments[]>();
  return conversation.questions.map((question) => {
    const { upTo, text } = question;
    const sources = sourcesUpTo.get(upTo) ?? [
      { source: 'messages', segments: [segmentOf(reach, units.slice(0, upTo), readers)] },
    ];
    sourcesUpTo.set(upTo, sources);
    const now = conversation.messages[upTo - 1]?.at ?? new Date(0);
    const authors = new Set(
      sources.flatMap(({ segments }) => segments.flatMap((segment) => [...segment.authors])),
    );
    return { conversation, question, query: readQuery(text, now, authors, readers), sources };
  });
}
