import * as fc from 'fast-check';

/** What a reader of Markdown, who knows nothing of the splitter, makes of a text. */
export function read(text: string): { isBalanced: boolean; content: string } {
  let open = '';
  let content = '';
  for (const line of text.split('\n')) {
    const marker = /^[ \t]*(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    const after = line.trim().slice(marker.length);
    if (open === '' && marker !== '' && !(marker.startsWith('`') && after.includes('`'))) open = marker;
    else if (open !== '' && marker.startsWith(open) && after === '') open = '';
    else content += line.replaceAll(/\s/gu, '');
  }
  return { isBalanced: open === '', content };
}

const word = fc.oneof(
  fc.stringMatching(/^[a-z]{1,12}$/),
  fc.constantFrom(
    'naïve',
    '日本語',
    '👩‍👩‍👧',
    'Ω',
    '`code`',
    '**bold**',
    '<@123>',
    '$&',
    '—',
    '```inline```',
    '# no title',
  ),
);
const sentence = fc
  .tuple(fc.array(word, { minLength: 1, maxLength: 14 }), fc.constantFrom('.', '!', '?', '。', ''))
  .map(([words, end]) => words.join(' ') + end);
const paragraph = fc.array(sentence, { minLength: 1, maxLength: 5 }).map((sentences) => sentences.join(' '));
const codeLine = fc.oneof(
  fc
    .string({ unit: 'grapheme', maxLength: 60 })
    .map((text) => text.replaceAll(/[\r\n\u2028\u2029\v\f\u0085]/gu, '')),
  fc.constantFrom('', '    indented', '\tif (x) {', '`', '~~', 'x '.repeat(200), 'y'.repeat(300)),
);
const fenceBlock = fc
  .record({
    mark: fc.constantFrom('`', '~'),
    length: fc.integer({ min: 3, max: 5 }),
    language: fc.constantFrom('', 'js', 'typescript', ' c++'),
    indent: fc.constantFrom('', '  '),
    lines: fc.array(codeLine, { maxLength: 12 }),
    isClosed: fc.boolean(),
  })
  .map(({ mark, length, language, indent, lines, isClosed }) => {
    const marker = mark.repeat(length);
    return [`${indent}${marker}${language}`, ...lines, ...(isClosed ? [indent + marker] : [])].join('\n');
  });
/** Texts as models write them: prose, lists of odd words, and code fences of all kinds, closed or not. */
export const markdown = fc
  .array(
    fc.oneof(
      paragraph,
      fenceBlock,
      word.map((text) => text.repeat(60)),
    ),
    { maxLength: 6 },
  )
  .chain((blocks) => fc.constantFrom('\n', '\n\n', '\n \n\n').map((glue) => blocks.join(glue)));
