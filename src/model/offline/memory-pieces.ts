import type { SectionName } from '../../core/section.ts';
import { clipAtWord, flatten } from '../../core/text.ts';
import { memoryWishIn } from './memory-wish.ts';
import type { ReadRequest } from './read-request.ts';
import { parseRememberedLine, tellRemembered } from './remembered-line.ts';
import type { RememberedLine } from './remembered-line.ts';

/** Something in the prompt that may answer a question. */
export interface MemoryPiece {
  /** What a question is compared with. */
  readonly search: string;
  /** The piece as told to the speaker, with where it is from. */
  readonly told: string;
  /** Whether it describes the speaker, rather than a conversation. */
  readonly isProfile: boolean;
}

const itemSections: readonly SectionName[] = ['durable_items', 'matching_items', 'changes'];
const textSections: readonly {
  readonly name: SectionName;
  readonly origin: string;
  readonly isProfile: boolean;
}[] = [
  { name: 'user_profile', origin: 'From your profile', isProfile: true },
  { name: 'notes', origin: 'From your notes', isProfile: true },
  { name: 'overview', origin: 'From my notes on this conversation', isProfile: false },
  { name: 'conversation_summary', origin: 'From the summary of this conversation', isProfile: false },
  { name: 'recent_elsewhere', origin: 'From another channel', isProfile: false },
  { name: 'changes', origin: 'From another channel', isProfile: false },
];

/** The speaker's durable items in the prompt, each once. */
export function rememberedItems({ sections }: ReadRequest): readonly RememberedLine[] {
  const lines = new Set(itemSections.flatMap((name) => sections.get(name) ?? []));
  return [...lines].flatMap((line) => parseRememberedLine(line) ?? []);
}

/**
 * Everything in the prompt that may answer a question, what is surest first. Earlier questions answer nothing; what people asked to be remembered
 * is answered from the item, for as long as there is one.
 */
export function memoryPieces(request: ReadRequest): readonly MemoryPiece[] {
  const items = rememberedItems(request).map((item) => ({
    search: `${item.kind} ${item.text}`,
    told: tellRemembered(item),
    isProfile: false,
  }));
  const texts = textSections.flatMap(({ name, origin, isProfile }) =>
    (request.sections.get(name) ?? [])
      .filter((line) => parseRememberedLine(line) === undefined)
      .map((line) => line.replace(/^[-*\s]+/u, ''))
      .filter((line) => line !== '' && !line.includes('?'))
      .map((line) => ({ search: line, told: `${origin}: “${clipAtWord(line, 300)}”`, isProfile })),
  );
  const said = request.history.flatMap(({ name, text }) => {
    if (name === undefined || text.includes('?') || memoryWishIn(text) !== undefined) return [];
    const who = name === request.message.from ? 'Earlier you said' : `${name} said here`;
    return [{ search: text, told: `${who}: “${clipAtWord(flatten(text), 300)}”`, isProfile: false }];
  });
  return [...items, ...texts, ...said.toReversed()];
}
