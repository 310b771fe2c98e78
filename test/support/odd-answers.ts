import fc from 'fast-check';

/** What is meant for people. */
const meant = [
  'Hello there.',
  'I know: tea & oolong.',
  '```ts\nconst a = "<x>";\n```',
  '`</think>` ends it',
  '- one\n- two',
  'お茶が好きです。',
  'Use `a` and [this](https://example.org).',
  'x < y and {z}',
];
const others = [
  '<think>private words</think>',
  '<thinking>private words {\n\nand `more</thinking>',
  '[THINK]private words[/THINK]',
  '<|im_end|>',
  '</s>',
  '<durable_items>',
  '</message>',
  '<|channel|>analysis<|message|>private words<|end|>',
];
const ends = [
  '',
  '\n\nalice: private words\nDiscoclaw: private words',
  '\n[Sat 2026-11-28 12:03] bob: private words',
  '\n<tool_call>{"name":"remember_item","arguments":{"quote":"private words"}}</tool_call>',
  '\n```json\n{"name":"remember_item","arguments":{"quote":"private words"}}\n```',
  '\nremember_item({"quote":"private words"})',
  '<|im_end|>\n<|im_start|>user\nprivate words',
];
const begins = ['', 'Discoclaw: ', '[Sat 2026-11-28 12:03] ', 'private words\n\nprivate words</think>\n'];

/** Stands in all that nobody may be shown. */
export const privateWords = 'private words';

/** Answers of odd models, with what of them people are to be shown, and what not. */
export const answers = fc
  .tuple(
    fc.constantFrom(...begins),
    fc.array(fc.oneof(fc.constantFrom(...meant), fc.constantFrom(...others)), { minLength: 1, maxLength: 6 }),
    fc.constantFrom(...ends),
  )
  // With nothing of an answer before it, a date may be that of the answer.
  .filter(([, pieces, end]) => !end.includes('bob') || pieces.some((piece) => meant.includes(piece)))
  .map(([begin, pieces, end]) => ({
    raw: begin + pieces.join('\n\n') + end,
    shown: pieces.filter((piece) => meant.includes(piece)),
    notShown: [privateWords, ...pieces.filter((piece) => others.includes(piece))],
    mayThinkAloud: begin.includes('</think>'),
    calls: end.includes('remember_item'),
  }));
