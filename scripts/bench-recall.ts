import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

import { z } from 'zod';

import { median, print } from './bench/measured.ts';
import { askAll, type Asked } from './bench/recall-asked.ts';
import { readConversations, type Question } from './bench/recall-conversations.ts';
import { figuresOf, fitRecall } from './bench/recall-fit.ts';

const usage = `Measures how well recall finds messages; how fast it does, \`npm run bench -- recall\` tells.

npm run bench:recall -- FILE…                    conversations with questions and the messages that answer them
npm run bench:recall -- FILE… --wordings FILE    only the questions that FILE has other wordings of, alone and with these
npm run bench:recall -- FILE… --fit              fits the weights of the order, to all files and, for each file, to the others

FILE: [{ id, docs: [{ id, spk, ts, text, bot? }], qs: [{ q, cat, gold: [doc id, or several of which one is enough], upto? }] }]
A question with \`upto\` is asked when so many of the messages were said. FILE of wordings: lines of { id, wordings: [text] }. That in scripts/bench was written by a language model from the questions alone; of the public conversations it may know some.

R@k: the share of what a question needs among the first k messages that are returned. MRR: one divided by the place of the first such message.
given: the share of what a question needs that the model is given by as many results as it gets by default and a tool's text has room for: as a result, or whole as a line around one.`;

/** Other wordings of questions, by the questions' ids. */
type Wordings = ReadonlyMap<string, readonly string[]>;

async function readWordings(path: string): Promise<Wordings> {
  const schema = z.object({ id: z.string(), wordings: z.array(z.string()).min(1) });
  const lines = (await readFile(path, 'utf8')).trim().split('\n');
  return new Map(
    lines.map((line) => schema.parse(JSON.parse(line))).map(({ id, wordings }) => [id, wordings]),
  );
}

function row(name: string, asked: readonly Asked[]): string {
  const { at5, at10, reciprocalRank } = figuresOf(asked);
  const given = (100 * asked.reduce((sum, one) => sum + one.given, 0)) / asked.length;
  const values = [at5, at10, reciprocalRank, given].map((value) => value.toFixed(1).padStart(6)).join(' ');
  return `${name.padEnd(24)} ${values}  ${asked.length}`;
}

async function benchQuality(files: readonly string[], wordings: Wordings | undefined): Promise<void> {
  const conversations = await readConversations(files);
  const kinds: readonly (readonly [string, (question: Question) => readonly string[]])[] =
    wordings === undefined
      ? [['questions as they are', ({ text }) => [text]]]
      : [
          ['questions as they are', ({ id, text }) => (wordings.has(id) ? [text] : [])],
          ['other wordings alone', ({ id }) => wordings.get(id) ?? []],
          [
            'the question and the others',
            ({ id, text }) => (wordings.has(id) ? [text, ...(wordings.get(id) ?? [])] : []),
          ],
        ];
  for (const [title, queriesOf] of kinds) {
    const asked = await askAll(conversations, queriesOf);
    print(`${title.padEnd(24)}    R@5   R@10    MRR  given  questions`);
    const tell = (name: string, isMeant: (one: Asked) => boolean) => print(row(name, asked.filter(isMeant)));
    for (const kind of new Set(asked.map(({ question }) => question.kind)))
      tell(kind, ({ question }) => question.kind === kind);
    for (const file of new Set(conversations.map((conversation) => conversation.file)))
      tell(`all of ${file}`, ({ conversation }) => conversation.file === file);
    tell('several messages needed', ({ question: { gold } }) => gold.length > 1);
    tell('all', () => true);
    print(`a search: ${median(asked.map(({ milliseconds }) => milliseconds)).toFixed(2)} ms (median)\n`);
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    fit: { type: 'boolean', default: false },
    wordings: { type: 'string' },
  },
});
if (positionals.length === 0) print(usage);
else if (values.fit) await fitRecall(await readConversations(positionals));
else {
  const wordings = values.wordings === undefined ? undefined : await readWordings(values.wordings);
  await benchQuality(positionals, wordings);
}
