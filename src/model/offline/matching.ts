import type { SectionName } from '../../core/section.ts';
import { clipAtWord, toSingleLine } from '../../core/text.ts';
import { clausesOf, memoryWishIn, toSecondPerson } from './phrases.ts';
import { parseRememberedLine, type ReadRequest } from './read-request.ts';

/** Begins every reply, so that nobody takes the stand-in for a language model [M2]. */
export const offlineLabel = '[offline model]';

/** The least share of a question's words that an answer has. */
export const leastShare = 0.25;

/** Something in the prompt that may answer a question; a `profile` describes the speaker. */
export interface MemoryPiece {
  readonly kind: 'item' | 'profile' | 'notes' | 'said';
  /** Compared with the question. */
  readonly search: string;
  /** For the speaker, with its origin. */
  readonly told: string;
}

const itemSections: readonly SectionName[] = ['durable_items', 'matching_items', 'changes'];
const textSections: readonly (readonly [SectionName, MemoryPiece['kind'], origin: string])[] = [
  ['user_profile', 'profile', 'From your profile'],
  ['notes', 'profile', 'From your notes'],
  ['overview', 'notes', 'From my notes on this conversation'],
  ['conversation_summary', 'notes', 'From the summary of this conversation'],
  ['recent_elsewhere', 'notes', 'From another channel'],
  ['channel_notes', 'notes', 'From a channel of this server'],
  ['changes', 'notes', 'From another channel'],
];

/** The speaker's durable items in the prompt, without duplicates. */
export function rememberedItems({ sections }: ReadRequest) {
  const lines = new Set(itemSections.flatMap((name) => sections.get(name) ?? []));
  return [...lines].flatMap((line) => parseRememberedLine(line) ?? []);
}

/** Everything in the prompt that may answer a question, the surest first; no questions, nor requests to remember. */
export function memoryPieces(request: ReadRequest): readonly MemoryPiece[] {
  const { sections, history, message } = request;
  const items = rememberedItems(request).flatMap(({ kind, text, channel, date }) => {
    const place = channel === undefined ? '' : ` in #${channel}`;
    const when = date === undefined ? '' : ` on ${date}`;
    return clausesOf(text).map((clause): MemoryPiece => {
      const told = `${toSecondPerson(clause) ?? `“${clause}”`} — you told me${place}${when}.`;
      return { kind: 'item', search: `${kind} ${clause}`, told };
    });
  });
  const texts = textSections.flatMap(([name, kind, origin]) =>
    (sections.get(name) ?? [])
      .map((line) => (parseRememberedLine(line) === undefined ? line.replace(/^[-*\s]+/u, '') : ''))
      .filter((line) => line !== '' && !line.includes('?'))
      .map((line): MemoryPiece => ({ kind, search: line, told: `${origin}: “${clipAtWord(line, 300)}”` })),
  );
  const said = history.flatMap(({ name, text }): readonly MemoryPiece[] => {
    if (name === undefined || text.includes('?') || memoryWishIn(text) !== undefined) return [];
    const who = name === message.from ? 'Earlier you said' : `${name} said here`;
    return [{ kind: 'said', search: text, told: `${who}: “${clipAtWord(toSingleLine(text), 300)}”` }];
  });
  return [...items, ...texts, ...said.toReversed()];
}

const passage =
  /^\[\d+\] Source: .*\n.*\n(?:Date: (?<date>[\d-]+)(?: .*)?\n)?Content: (?<content>.*)\nCitation: (?<citation>.*)(?:\nLink: (?<link>.*))?$/u;

/** A line each with its source [C3]. Of messages only the speaker's own, and no questions or wishes. */
export function recalledPassages(
  result: string,
  speaker: string,
  share: (text: string) => number,
): readonly string[] {
  return result.split('\n\n').flatMap((text) => {
    const { date, content = '', citation = '', link } = passage.exec(text)?.groups ?? {};
    const told = content.split(' | ').flatMap((part) => {
      const [, author, words = ''] = /^(?:([^:]{1,80}): )?(.*)$/u.exec(part) ?? [];
      const isTold = !citation.startsWith('messages') || author === speaker;
      return isTold && !part.includes('?') && memoryWishIn(words) === undefined ? [part] : [];
    });
    const source = link === undefined ? citation : `${citation}, <${link}>`;
    const day = date === undefined ? '' : `[${date}] `;
    return share(told.join(' ')) < leastShare ? [] : [`- ${day}${told.join(' | ')} (${source})`];
  });
}
