/** Pieces of which texts are made that parsers, expressions and Unicode find hard. */
export const shapes: Readonly<Record<string, string>> = {
  spaces: ' ',
  'line breaks': '\n',
  'carriage returns': '\r',
  'line separators': '\u2028',
  'open tags': '<',
  'tags and spaces': `<${' '.repeat(30_000)}`,
  'closing tags': '</',
  'look-alike tags': '</message>\n<message from="x">\n',
  backticks: '`',
  'mixed fences': '```js\nx\n~~~\n',
  'nested quotes': '> > > ',
  'quoted lines': '> a\n',
  'one long word': 'a',
  'endings of words': 'nesses',
  emoji: '😀',
  'families of emoji': '👨‍👩‍👧‍👦',
  'combining marks': '\u0301\u0323',
  ligatures: '\ufdfa',
  'right to left': 'שלום ',
  'lone surrogates': '\ud800',
  'marks of markdown': '*_~',
  addresses: 'https://example.com/a ',
  digits: '1',
  'Chinese characters': '漢字',
  'words without spaces': 'ภาษาไทย',
  JSON: '{"a":[',
  'at signs': '@',
  'number signs': '# ',
  'commas and "and"': 'I like tea, and ',
  sentences: 'I am. ',
  mentions: '<@100000000000000001> ',
  comments: '<!--',
  questions: 'Is it so? ',
};

/** A text of one shape; what Discord would trim away stands between two letters. */
export function shaped(shape: string, length: number): string {
  const piece = shapes[shape] ?? shape;
  return `x${piece.repeat(Math.ceil(length / piece.length)).slice(0, length - 2)}x`;
}

/** What sentences, quotations, lists, code and questions are told by, and what Unicode makes hard. */
const pieces = [
  'a', 'I', 'Ab', 'J', '1', 'no', 'prof', '猫', 'ไทย', 'नम', 'مر', 'ß', 'İ', 'Σ', 'e\u0301', '😀', '가', 'I like tea',
  '"a"', '“a”', '«a»', '~~a~~', '`a`', '@a', ':a:', "a'b", '- a', '1. a', '(a)', 'xD',
]; // prettier-ignore
const ends = ['. ', '.', '! ', '? ', '?', ',\n', '\n', ':\n'];

/** More than two hundred, no two alike. */
export const manyShapes: readonly string[] = [
  ...Object.keys(shapes),
  ...pieces.flatMap((piece) => ends.map((end) => piece + end)),
];
