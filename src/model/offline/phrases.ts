import { stopTerms } from '../../core/stop-words.ts';
import { terms } from '../../core/text.ts';

/** Something that a person says about themselves. */
export interface Statement {
  readonly kind: 'fact' | 'preference' | 'project' | 'constraint' | 'tool';
  /** As an item says it, with no word of meaning that the quote lacks [M5a]: `Prefers Rust`. */
  readonly text: string;
  /** Word for word from the message. */
  readonly quote: string;
}

/** Where one statement about the speaker ends and another begins. */
const nextStatement =
  /(?<![.!;\n]|\b(?:Dr|Mr|Mrs|Ms|St|Prof))[.!;\n]+(?=\s|$)|,\s+(?:and|but|so|because)\s+(?=(?:I|I['’]m|my|call me)\b)|(?<!\s)\s+(?:and|but|so|because)\s+(?=(?:I|I['’]m|my|call me)\b)|,\s+(?=(?:I|I['’]m|my)\b)/giu;
/** Words that may stand before a statement without being part of it. */
const opening =
  /^(?:(?:hi|hey|hello|well|oh|so|also|and|but|by the way|btw|fyi|actually|yes|no|ok|okay)\b[,:!]?\s+)+/iu;
/** What is true today only, or no statement about a person at all. */
const passing =
  /^I(?:['’]m| am) (?:not sure|sorry|afraid|going|trying|wondering|asking|looking|here|back|fine|ok|okay|good|sure|just|curious|confused|done|happy to|about to)\b/iu;

const rules: readonly (readonly [RegExp, Statement['kind']])[] = [
  [/^I(?:['’]m| am) (?:working on|building|writing|making) \S/iu, 'project'],
  [/^I(?:['’]m| am) (?:allergic|intolerant|not allowed)\b/iu, 'constraint'],
  [/^I (?:can['’]?t|cannot|must not|never) \S/iu, 'constraint'],
  [
    /^I (?:really |always |usually |mostly )?(?:prefer|like|love|enjoy|hate|dislike|(?:don['’]t|do not) like) \S/iu,
    'preference',
  ],
  [/^my favou?rite .+? (?:is|are) \S/iu, 'preference'],
  [/^I (?:always |usually |mostly )?use \S/iu, 'tool'],
  [/^I(?:['’]m| am) \S/iu, 'fact'],
  [/^I (?:live|work|speak|study|have|own|play|come) \S/iu, 'fact'],
  [/^my (?:name|job|hobby|birthday|time ?zone|pronouns|role|team|company) (?:is|are) \S/iu, 'fact'],
  [/^my \S+(?: \S+)? (?:is|are) (?:called|named) \S/iu, 'fact'],
  [/^call me \S/iu, 'fact'],
];

/** What a person says about themselves in a message, in order. Questions and what passes by today are none. */
export function statementsIn(message: string): readonly Statement[] {
  return message.split(nextStatement).flatMap((part) => {
    const statement = statementOf(part);
    return statement === undefined ? [] : [statement];
  });
}

/** The part of a message as a statement of its speaker, if it is one. */
function statementOf(part: string): Statement | undefined {
  const quote = part
    .trim()
    .replace(opening, '')
    .replace(/(?<![.!,;\s])[.!,;\s]+$/u, '');
  if (/\?|\byou(?:r|rs|rself)?\b/iu.test(quote) || passing.test(quote)) return undefined;
  const rule = rules.find(([pattern]) => pattern.test(quote));
  return rule === undefined ? undefined : { kind: rule[1], text: asItem(quote), quote };
}

/** Verbs as people say them of themselves, and as they stand in an item. */
const itemForms: ReadonlyMap<string, string> = new Map([
  ['am', 'is'],
  ['m', 'is'],
  ['have', 'has'],
  ['study', 'studies'],
  ...'prefer like love enjoy hate dislike use live work speak own play come want need drink eat keep write learn know avoid run build'
    .split(' ')
    .map((verb): [string, string] => [verb, `${verb}s`]),
]);

/** `I prefer Rust` as `Prefers Rust`; other forms stay as they were said. */
function asItem(quote: string): string {
  const [, verb = '', rest = ''] = /^I(?:['’](?=m\b)|\s+)(\p{L}+)(\s.*)$/isu.exec(quote) ?? [];
  const form = itemForms.get(verb.toLowerCase());
  const text = form === undefined || /\b(?:I|my|me)\b/iu.test(rest) ? quote : `${form}${rest}`;
  return capitalized(text);
}

/** What a message asks to be done with memory. */
export type MemoryWish =
  | { readonly wish: 'remember'; readonly kind: string; readonly text: string; readonly quote: string }
  | { readonly wish: 'forget'; readonly about: string };

const address = String.raw`(?:(?:<@[!&]?\d+>|hi|hey|hello|ok|okay|discoclaw|bot)[,:!]?\s+)*`;
const polite = String.raw`(?:(?:please|kindly|can you|could you|would you|also|and)[,:]?\s+)*`;
const remember = new RegExp(
  String.raw`^${address}${polite}(?:remember|note|keep in mind|don['’]t forget|do not forget)(?:(?:\s+that|\s*:)\s*|\s+(?=(?:I|I['’]m|my|the|we)\b))(\S[\s\S]*)$`,
  'iu',
);
/** What names no item is no wish for the tool that forgets items: `forget everything`. */
const forget = new RegExp(
  String.raw`^${address}${polite}forget(?:\s+(?:that|about))?\s+(?!(?:everything|all|anything|it|that|this|me)\b(?:\s+(?:you\s+know|about\s+me))*\W*$)(\S[\s\S]*)$`,
  'iu',
);
/** The word as it is often mistyped. */
const mistyped = /\b(?:rem+eber|remmember|rem+ber|rememebr|remebmer|rememer|remembr|rembember)\b/iu;

/** The first wish of a message to remember or forget something. */
export function memoryWishIn(message: string): MemoryWish | undefined {
  for (const sentence of sentencesOf(message)) {
    const wish = wishOf(sentence.replace(mistyped, 'remember'));
    if (wish !== undefined) return wish;
  }
  return undefined;
}

/** A title such as `Dr.` ends none. */
export function sentencesOf(message: string): readonly string[] {
  return message
    .split(/(?<=[.!?])(?<!\b(?:Dr|Mr|Mrs|Ms|St|Prof)\.)\s+|\n+/u)
    .map((sentence) => sentence.trim());
}

function wishOf(sentence: string): MemoryWish | undefined {
  const plain = sentence.replace(/(?<![.!\s])[.!\s]+$/u, '');
  if (
    plain.endsWith('?') &&
    !/^\W*(?:can|could|would) you\b/iu.test(plain.replace(/^(?:<@[!&]?\d+>\s*)+/u, ''))
  ) {
    return undefined;
  }
  const words = plain.replace(/(?<!\s)\s*\?$/u, '');
  const [, said] = remember.exec(words) ?? [];
  if (said !== undefined) {
    const statement = statementOf(said);
    return { wish: 'remember', ...(statement ?? { kind: 'fact', text: capitalized(said), quote: said }) };
  }
  const [, about] = forget.exec(words) ?? [];
  return about === undefined ? undefined : { wish: 'forget', about };
}

/** Verbs that items begin with, as they are said to somebody. */
const saidForms: ReadonlyMap<string, string> = new Map([
  ...[...itemForms].map(([verb, form]): [string, string] => [form, verb]),
  ['is', 'are'],
  ['was', 'were'],
]);

/** An item's text as said to the person it is about, such as `You prefer Rust`; `undefined` where no rule fits. */
export function toSecondPerson(text: string): string | undefined {
  const plain = text.trim().replace(/(?<![.!])[.!]+$/u, '');
  if (/^(?:I|I['’]m|my)\b/iu.test(plain)) return capitalized(turned(plain));
  const [, verb = '', rest = ''] = /^(?:the user |user )?(\p{L}+)(\s.*)$/isu.exec(plain) ?? [];
  const base = saidForms.get(verb.toLowerCase());
  return base === undefined ? undefined : `You ${base}${turned(rest)}`;
}

function turned(text: string): string {
  return text
    .replace(/\bI['’]m\b|\bI am\b/giu, 'you are')
    .replace(/\bI was\b/giu, 'you were')
    .replace(/\bI\b/gu, 'you')
    .replace(/\bmy\b/giu, 'your')
    .replace(/\bmine\b/giu, 'yours')
    .replace(/\b(?:me|myself)\b/giu, 'you');
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Words of talk, which say nothing of what is talked about, beside those that say nothing anywhere. */
const talk = new Set(
  terms(`
    know remember tell told say said ask think please thank thanks hello hi hey again still ever again thing something anything
    знаешь помнишь скажи пожалуйста привет
  `),
);

/** Whether a term, as `terms` gives it, can tell one text from others, in any script. */
export function isTelling(term: string): boolean {
  return !stopTerms.has(term) && !talk.has(term);
}
