/** Where a sentence ends: what the bot stores are whole ones [M5a]. */
const sentenceEnd = /(?<![.!;\n])(?<!\b(?:Dr|Mr|Mrs|Ms|St|Prof))[.!;\n]+(?=\s|$)/giu;
/** The parts of a sentence that each say something of the speaker. */
export function clausesOf(sentence: string): readonly string[] {
  return sentence.split(
    /(?:,\s+|(?<![,\s])\s+)(?:and|but|so|because)\s+(?=(?:I|I['’]m|my)\b)|,\s+(?=(?:I|I['’]m|my)\b)/iu,
  );
}

/** Words that may stand before a statement without being part of it. */
const opening =
  /^(?:(?:hi|hey|hello|well|oh|so|also|and|but|by the way|btw|fyi|actually|yes|no|ok|okay)\b[,:!]?\s+)+/iu;
/** What is true today only, or no statement about a person at all. */
const passing =
  /\?|\byou(?:r|rs|rself)?\b|^I(?:['’]m| am) (?:not sure|sorry|afraid|going|trying|wondering|asking|looking|here|back|fine|ok|okay|good|sure|just|curious|confused|done|happy|about to|tired|bored|hungry|late|testing|sad|angry|busy|joking|kidding|new|in|on|at|off|so)\b|^I have (?:to|no|an?|some|another)?\s?(?:questions?|ideas?|problems?)?$|^I (?:can['’]?t|cannot) (?:wait|believe|see|find|hear|remember|say|stop|get|figure|understand|think)\b|^I (?:really )?(?:like|love|hate) (?:this|that|it|how|what|when)\b/iu;

/** The forms of statements, by the kind of item that each becomes. */
const rules = [
  ['project', /^I(?:['’]m| am) (?:working on|building|writing|making) \S/iu],
  [
    'constraint',
    /^I(?:['’]m| am) (?:allergic|intolerant|not allowed)\b|^I (?:can['’]?t|cannot|must not|never) \S/iu,
  ],
  [
    'preference',
    /^I (?:(?:really|always|usually|mostly) )?(?:prefer|like|love|enjoy|hate|dislike|(?:don['’]t|do not) like) \S/iu,
  ],
  ['preference', /^my favou?rite .+? (?:is|are) \S/iu],
  ['tool', /^I (?:(?:always|usually|mostly) )?use \S/iu],
  ['fact', /^I(?:['’]m| am) \S|^I (?:live|work|speak|study|have|own|play|come) \S|^call me \S/iu],
  ['fact', /^my (?:name|job|hobby|birthday|time ?zone|pronouns|role|team|company) (?:is|are) \S/iu],
  ['fact', /^my \S+(?: \S+)? (?:is|are) (?:called|named) \S/iu],
] as const;

/** In order, word for word [M5a]; no questions, nor what passes by today. */
export function statementsIn(message: string) {
  const statements = message.split(sentenceEnd).flatMap((part) => statementOf(part) ?? []);
  // As many as an extraction takes from one message [A2].
  return statements.slice(0, 3);
}

/** The part of a message as a statement of its speaker, if it is one. */
function statementOf(part: string) {
  const said = part.trim().replace(opening, '');
  const quote = said.replace(/(?<![.!,;\s])[.!,;\s]+$/u, '');
  const [kind] = passing.test(quote) ? [] : (rules.find(([, pattern]) => pattern.test(quote)) ?? []);
  return kind === undefined ? undefined : { kind, quote };
}

const address = String.raw`(?:(?:<@[!&]?\d+>|hi|hey|hello|ok|okay|discoclaw|bot)[,:!]?\s+)*`;
const polite = String.raw`(?:(?:please|kindly|can you|could you|would you|also|and)[,:]?\s+)*`;
const remember = new RegExp(
  String.raw`^${address}${polite}(?:remember|note|keep in mind|don['’]t forget|do not forget)(?:(?:\s+that|\s*:)\s*|\s+(?=(?:I|I['’]m|my|the|we)\b))(\S[\s\S]*)$`,
  'iu',
);
/** Names no item, so the tool that forgets items is not meant: `forget everything`. */
const forget = new RegExp(
  String.raw`^${address}${polite}forget(?:\s+(?:that|about))?\s+(?!(?:everything|all|anything|it|that|this|me)\b(?:\s+(?:you\s+know|about\s+me))*\W*$)(\S[\s\S]*)$`,
  'iu',
);
/** The word as it is often mistyped. */
const mistyped = /\b(?:rem+eber|remmember|rem+ber|rememebr|remebmer|rememer|remembr|rembember)\b/iu;

/** The first wish of a message to remember or forget something, as the tool that does it. */
export function memoryWishIn(message: string) {
  // A title such as `Dr.` ends no sentence.
  for (const sentence of message.split(/(?<=[.!?])(?<!\b(?:Dr|Mr|Mrs|Ms|St|Prof)\.)\s+|\n+/u)) {
    const wish = wishOf(sentence.trim().replace(mistyped, 'remember'));
    if (wish !== undefined) return wish;
  }
  return undefined;
}

function wishOf(sentence: string) {
  const plain = sentence.replace(/(?<![.!\s])[.!\s]+$/u, '');
  const asked = plain.replace(/^(?:<@[!&]?\d+>\s*)+/u, '');
  if (plain.endsWith('?') && !/^\W*(?:can|could|would) you\b/iu.test(asked)) return undefined;
  const words = plain.replace(/(?<!\s)\s*\?$/u, '');
  const [, said] = remember.exec(words) ?? [];
  if (said !== undefined) {
    const item = statementOf(said) ?? { kind: 'fact', quote: said };
    return { name: 'remember_item', input: item, command: `remember ${item.quote}` } as const;
  }
  const [, target] = forget.exec(words) ?? [];
  if (target === undefined) return undefined;
  return { name: 'forget_item', input: { target }, command: `forget ${target}` } as const;
}

/** What somebody asks of their memory, as the action of `memory_control` [K13]; the stand-in knows English only. */
const actions = [
  [
    'undo',
    /\b(?:undo|forget|unremember|take back|don['’]t want you to remember) (?:this|that|it|what (?:I|you) just|(?:the|my|your) last)\b/iu,
  ],
  [
    'pause_here',
    /\boff the record\b|\b(?:don['’]t|do not) (?:remember|store|keep|save) (?:this|that|it)\b/iu,
  ],
  ['pause', /\b(?:stop|quit|pause) (?:remembering|storing|recording|tracking|taking notes|your memory)\b/iu],
  ['resume', /\bresume\b|\b(?:start|begin|may|can) remember(?:ing)?\b.*\bagain\b/iu],
  ['mode_ask', /\bask me (?:first )?before you (?:remember|store|keep|save)\b/iu],
  ['mode_off', /\bstop noticing\b/iu],
  [
    'notices_off',
    /\b(?:turn|switch) (?:off (?:the |your )?notices|(?:the |your )?notices off)\b|\bno more notices\b/iu,
  ],
  ['notices_on', /\b(?:turn|switch) (?:on (?:the |your )?notices|(?:the |your )?notices on)\b/iu],
  ['export', /\b(?:send|give|export|download|get)(?: me)?(?: all| a copy of)? my (?:data|memories)\b/iu],
  [
    'erase',
    /\b(?:delete|erase|forget|wipe) (?:everything|all)(?: that)?(?: you \w+)? about me\b|\b(?:delete|erase|wipe) (?:all )?my (?:data|memories)\b/iu,
  ],
] as const;

/** What a message that is one short sentence asks of memory. */
export function actionIn(message: string): string | undefined {
  const isQuestion =
    /\?\s*$/u.test(message) && !/^\W*(?:can|could|may|would|will) (?:I|you)\b/iu.test(message);
  if (message.length > 100 || isQuestion) return undefined;
  return actions.find(([, pattern]) => pattern.test(message))?.[0];
}

/** Verbs that items of few words begin with, as they are said to somebody. */
const saidForms: ReadonlyMap<string, string> = new Map([
  ['is', 'are'],
  ['was', 'were'],
  ['has', 'have'],
  ['studies', 'study'],
  ...'prefer like love enjoy hate dislike use live work speak own play come want need drink eat keep write learn know avoid run build'
    .split(' ')
    .map((verb): [string, string] => [`${verb}s`, verb]),
]);

/** An item's text as said to the person it is about, such as `You prefer Rust`; `undefined` where no rule fits. */
export function toSecondPerson(text: string): string | undefined {
  const plain = (remember.exec(text.trim().replace(mistyped, 'remember'))?.[1] ?? text)
    .trim()
    .replace(/(?<![.!])[.!]+$/u, '');
  if (/^(?:I|I['’]m|my)\b/iu.test(plain)) return capitalized(turned(plain));
  const [, verb = '', rest = ''] = /^(?:the user |user )?(\p{L}+)(\s.*)$/isu.exec(plain) ?? [];
  const base = saidForms.get(verb.toLowerCase());
  return base === undefined ? undefined : `You ${base}${turned(rest)}`;
}

function turned(text: string): string {
  const persons = text.replace(/\b(?:I['’]m|I am)\b/giu, 'you are').replace(/\bI was\b/giu, 'you were');
  return persons.replace(/\b(?:my(?:self)?|mine|I|me)\b/giu, (word) => toYou[word.toLowerCase()] ?? word);
}

const toYou: Readonly<Record<string, string>> = {
  my: 'your',
  mine: 'yours',
  i: 'you',
  me: 'you',
  myself: 'you',
};

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
