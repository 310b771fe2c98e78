/** Where a sentence ends: what the bot stores are whole ones [M5a]. A title such as `Dr.` ends none. */
const sentenceEnd = /(?<=[.!?;])(?<!\b(?:Dr|Mr|Mrs|Ms|St|Prof)\.)\s+|\n+/iu;

function sentencesOf(text: string): readonly string[] {
  return text.split(sentenceEnd);
}

/** Words that may stand before a statement without being part of it. */
const opening =
  /^(?:(?:hi|hey|hello|well|oh|so|also|and|but|by the way|btw|fyi|actually|yes|no|ok|okay)\b[,:!]?\s+)+/iu;
/** What is true today only, or no statement about a person at all. */
const passing =
  /\?|\byou(?:r|rs|rself)?\b|^I(?:['’]m| am) (?:not|sorry|going|trying|looking|here|back|fine|ok|okay|good|sure|just|done|happy|tired|bored|hungry|late|sad|busy|kidding|in|on|at|so)\b|^I have (?:to|no|an?|some) ?(?:questions?|ideas?|problems?)?$|^I (?:can['’]?t|cannot) (?:wait|believe|see|find|hear|say|stop|understand)\b|^I (?:love|like|hate) (?:this|that|it|how|what|when)\b/iu;

/** The forms of statements, by the kind of item that each becomes. */
const statementForms = [
  ['project', /^I(?:['’]m| am) (?:working on|building|writing) \S/iu],
  ['constraint', /^I(?:['’]m| am) (?:allergic|intolerant)\b|^I (?:can['’]?t|cannot|never) \S/iu],
  [
    'preference',
    /^I (?:(?:really|always) )?(?:prefer|like|love|enjoy|hate|don['’]t like) \S|^my favou?rite .+? is \S/iu,
  ],
  ['tool', /^I (?:always )?use \S/iu],
  ['fact', /^I(?:['’]m| am) \S|^I (?:live|work|speak|study|have|own|play|come) \S|^call me \S/iu],
  ['fact', /^my (?:name|job|birthday|time ?zone|team|\S+ is called|\S+ is named)\b.+\S/iu],
] as const;

/** In order, word for word [M5a]; no questions, nor what passes by today; as many as a message may give [A2]. */
export function statementsIn(message: string) {
  return sentencesOf(message)
    .flatMap((part) => statementOf(part) ?? [])
    .slice(0, 3);
}

/** The part of a message as a statement of its speaker, if it is one. */
function statementOf(part: string) {
  const quote = withoutEnd(part.trim().replace(opening, ''));
  const [kind] = passing.test(quote) ? [] : (statementForms.find(([, form]) => form.test(quote)) ?? []);
  return kind === undefined ? undefined : { kind, quote };
}

function withoutEnd(sentence: string): string {
  return sentence.replace(/(?<![.!,;\s])[.!,;\s]+$/u, '');
}

const lead = String.raw`^(?:(?:<@[!&]?\d+>|hi|hey|hello|ok|okay|discoclaw|bot|please|can you|could you|also|and)[,:!]?\s+)*`;
const remember = new RegExp(
  String.raw`${lead}(?:rem+e?m?b?e?r|note|don['’]t forget)(?:(?:\s+that|\s*:)\s*|\s+(?=(?:I|I['’]m|my|the|we)\b))(\S[\s\S]*)$`,
  'iu',
);
/** `forget everything` names no item. */
const forget = new RegExp(
  String.raw`${lead}forget(?:\s+(?:that|about))?\s+(?!(?:everything|all|it|that|this|me)(?: you know)?(?: about me)?[^\p{L}\p{N}]*$)(\S[\s\S]*)$`,
  'iu',
);

/** The first wish of a message to remember or forget something, as the tool that does it. */
export function memoryWishIn(message: string) {
  for (const sentence of sentencesOf(message)) {
    const plain = withoutEnd(sentence.trim());
    const words = plain.replace(/(?<!\s)\s*\?$/u, '');
    if (words !== plain && !/\b(?:can|could) you\b/iu.test(plain)) continue;
    const [, remembered] = remember.exec(words) ?? [];
    if (remembered !== undefined) {
      const item = statementOf(remembered) ?? { kind: 'fact', quote: remembered };
      return { name: 'remember_item', input: item, command: `remember ${item.quote}` } as const;
    }
    const [, target] = forget.exec(words) ?? [];
    if (target !== undefined)
      return { name: 'forget_item', input: { target }, command: `forget ${target}` } as const;
  }
  return undefined;
}

const reminder = new RegExp(String.raw`${lead}remind me (\S[\s\S]*)$`, 'iu');

/** When and of what a message asks to be reminded, as pieces of it; `undefined` where it does not. */
export function reminderWishIn(message: string) {
  const rest = withoutEnd(reminder.exec(message.trim())?.[1] ?? '');
  const [when, what] = rest.startsWith('to ')
    ? rest
        .slice(3)
        .split(/ (?=(?:in|at|on|next|tomorrow|today|tonight)\b)([^]*)/iu)
        .slice(0, 2)
        .toReversed()
    : rest.split(/ to ([^]*)/iu);
  return when === undefined || what === undefined ? undefined : { when, what };
}

const turns: ReadonlyMap<string, string> = new Map([
  ['i am', 'you are'],
  ['i’m', 'you are'],
  ["i'm", 'you are'],
  ['i was', 'you were'],
  ['i', 'you'],
  ['me', 'you'],
  ['my', 'your'],
  ['mine', 'yours'],
  ['myself', 'yourself'],
]);

/** An item's text as said to the person it is about, such as `You prefer Rust`; in quotes where no rule fits. */
export function toSecondPerson(text: string): string {
  const plain = withoutEnd(remember.exec(text.trim())?.[1] ?? text.trim());
  if (!/^(?:I|I['’]m|my)\b/iu.test(plain)) return `“${plain}”`;
  const turned = plain.replace(
    /\b(?:I am|I['’]m|I was|I|me|my|mine|myself)\b/giu,
    (word) => turns.get(word.toLowerCase()) ?? word,
  );
  return turned.charAt(0).toUpperCase() + turned.slice(1);
}
