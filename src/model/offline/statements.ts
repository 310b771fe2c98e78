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
  /[.!;\n]+(?=\s|$)|,?\s+(?:and|but|so|because)\s+(?=(?:I|I['’]m|my|call me)\b)|,\s+(?=(?:I|I['’]m|my)\b)/giu;
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
export function statementOf(part: string): Statement | undefined {
  const quote = part
    .trim()
    .replace(opening, '')
    .replace(/[.!,;\s]+$/u, '');
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
  return text.charAt(0).toUpperCase() + text.slice(1);
}
