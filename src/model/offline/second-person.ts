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
  const plain = text.trim().replace(/[.!]+$/u, '');
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
