import { recallOf } from './bench/recall-quality.ts';

const usage = `Measures how well recall finds messages; how fast it does, \`npm run bench -- recall\` tells.

npm run bench:recall -- FILE…   conversations with questions and the messages that answer them

FILE: [{ docs: [{ id, spk, ts, text, bot? }], qs: [{ q, gold: [doc id, or several of which one is enough], upto?, asker? }] }]
A question with \`upto\` is asked when so many of the messages were said. What is told is the share of what the answers need.`;

const files = process.argv.slice(2);
if (files.length === 0) console.log(usage);
for (const file of files) {
  const { name, tried, outcome } = await recallOf(file);
  console.log(`${name.padEnd(30)} ${tried}: ${outcome}`);
}
