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
  /(?<![.!;\n])[.!;\n]+(?=\s|$)|,\s+(?:and|but|so|because)\s+(?=(?:I|I['’]m|my|call me)\b)|(?<!\s)\s+(?:and|but|so|because)\s+(?=(?:I|I['’]m|my|call me)\b)|,\s+(?=(?:I|I['’]m|my)\b)/giu;
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
  if (quote.includes('?') || passing.test(quote)) return undefined;
  const rule = rules.find(([pattern]) => pattern.test(quote));
  return rule === undefined ? undefined : { kind: rule[1], text: asItem(quote), quote };
}

const thirdPerson: ReadonlyMap<string, string> = new Map([
  ['am', 'is'],
  ['have', 'has'],
  ['study', 'studies'],
  ...'prefer like love enjoy hate dislike use live work speak own play come'
    .split(' ')
    .map((verb): [string, string] => [verb, `${verb}s`]),
]);

/** `I prefer Rust` as `Prefers Rust`; other forms stay as they were said. */
function asItem(quote: string): string {
  const [, verb = '', rest = ''] = /^I(?:['’](?=m\b)|\s+)(\p{L}+)(\s.*)$/isu.exec(quote) ?? [];
  const form = verb.toLowerCase() === 'm' ? 'is' : thirdPerson.get(verb.toLowerCase());
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
const forget = new RegExp(String.raw`^${address}${polite}forget(?:\s+(?:that|about))?\s+(\S[\s\S]*)$`, 'iu');

/** The first wish of a message to remember or forget something. */
export function memoryWishIn(message: string): MemoryWish | undefined {
  for (const sentence of message.split(/(?<=[.!?])\s+|\n+/u)) {
    const wish = wishOf(sentence.trim());
    if (wish !== undefined) return wish;
  }
  return undefined;
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

/** Verbs that items are likely to begin with, as they stand in an item and as they are said to somebody. */
const verbs: ReadonlyMap<string, string> = new Map([
  ...'prefers likes loves hates dislikes enjoys uses lives works wants needs speaks plays owns drinks eats keeps writes learns knows avoids runs builds'
    .split(' ')
    .map((verb): [string, string] => [verb, verb.replace(/s$/u, '')]),
  ['studies', 'study'],
  ['is', 'are'],
  ['has', 'have'],
  ['was', 'were'],
]);

/** An item's text as said to the person it is about, such as `You prefer Rust`; `undefined` where no rule fits. */
export function toSecondPerson(text: string): string | undefined {
  const plain = text.trim().replace(/(?<![.!])[.!]+$/u, '');
  if (/^(?:I|I['’]m|my)\b/iu.test(plain)) return capitalized(turned(plain));
  const [, verb = '', rest = ''] = /^(?:the user |user )?(\p{L}+)(\s.*)$/isu.exec(plain) ?? [];
  const base = verbs.get(verb.toLowerCase());
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

/** Words that say nothing about what a question is about. */
const emptyTerms: ReadonlySet<string> = new Set(
  terms(`
    a an the this that these those i me my mine you your yours he him his she her it its we us our they them their
    am is are was were be been do does did have has had will would shall should can could may might must
    and or but if then than as so too also just not no yes to of in on at by for from with about into over up out
    who what which when where why how there here s t m d re ve ll
    know remember tell told say said ask think please thank thanks hello hi hey again still ever
    я ты мы вы он она они мой твой ваш это что кто как где когда почему какой и или но а же ли в на с к у о по за из не да нет
    знаешь помнишь скажи пожалуйста привет
  `),
);

/** The different terms of a text that can tell it from others, in any script. */
export function tellingTerms(text: string): ReadonlySet<string> {
  return new Set(terms(text).filter((term) => !emptyTerms.has(term)));
}
