import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

import { z } from 'zod';

import { dataLine } from '../src/core/section.ts';
import { snowflakeAt } from '../src/core/snowflake.ts';
import { createMessageSource } from '../src/memory/recall/messages.ts';
import { createRecall, type Recall } from '../src/memory/recall/recall.ts';
import { createRecallTool } from '../src/memory/recall/tool.ts';
import type { SessionLog } from '../src/memory/log/session-log.ts';
import { median, print } from './bench/measured.ts';
import { depth, dmOf, timeZone, userIdOf, withLog } from './bench/recall-bench.ts';
import { readConversations, type Conversation, type Question } from './bench/recall-conversations.ts';
import { measuredOf, type Measured } from './bench/recall-evaluator.ts';
import { figuresOf, fitRecall } from './bench/recall-fit.ts';

const usage = `Measures how well recall finds messages; how fast it does, \`npm run bench -- recall\` tells.

npm run bench:recall -- FILE…                    conversations with questions and the messages that answer them
npm run bench:recall -- FILE… --wordings FILE    only the questions that FILE has other wordings of, alone and with these
npm run bench:recall -- FILE… --fit              fits the weights of the order, to all files and, for each file, to the others

FILE: [{ id, docs: [{ id, spk, ts, text, bot? }], qs: [{ q, cat, gold: [doc id, or several of which one is enough], upto? }] }]
A question with \`upto\` is asked when so many of the messages were said. FILE of wordings: lines of { id, wordings: [text] }. That in scripts/bench was written by a language model from the questions alone; of the public conversations it may know some.

R@k: the share of what a question needs among the first k messages that are returned. MRR: one divided by the place of the first such message.
given: the share of what a question needs that the model is given by as many results as it gets by default and a tool's text has room for: as a result, or whole as a line around one.`;

/** A question that was asked, beside what the model was given. */
interface Asked extends Measured {
  readonly given: number;
  readonly milliseconds: number;
}

/** Other wordings of questions, by the questions' ids. */
type Wordings = ReadonlyMap<string, readonly string[]>;

async function readWordings(path: string): Promise<Wordings> {
  const schema = z.object({ id: z.string(), wordings: z.array(z.string()).min(1) });
  const lines = (await readFile(path, 'utf8')).trim().split('\n');
  return new Map(
    lines.map((line) => schema.parse(JSON.parse(line))).map(({ id, wordings }) => [id, wordings]),
  );
}

/** Says a conversation message by message into the product's own log, and asks each question as soon as what it is asked after was said. */
async function askAll(
  { log, recall }: { readonly log: SessionLog; readonly recall: Recall },
  conversation: Conversation,
  index: number,
  queriesOf: (question: Question) => readonly string[],
): Promise<readonly Asked[]> {
  const userId = userIdOf(index);
  const place = dmOf(userId);
  const ids = new Map<string, string>();
  const asked: Asked[] = [];
  const tool = createRecallTool(recall, depth);
  const { signal } = new AbortController();
  for (const [at, { id: ofMessage, author, isBot, at: now, text }] of conversation.messages.entries()) {
    const id = snowflakeAt(now);
    ids.set(id, ofMessage);
    const context = {
      speaker: { id: userId, name: author, isOwner: false },
      place,
      now,
      messages: [{ id, text, at: now.toISOString(), attachments: [] }],
      startedAfter: undefined,
      hasThirdPartyText: false,
    };
    if (isBot)
      await log.recordReply({ ...context, messages: [] }, { ids: [id], text, at: now.toISOString() });
    else await log.recordUser(context);
    for (const question of conversation.questions.filter(({ upTo }) => upTo === at + 1)) {
      const queries = queriesOf(question);
      if (queries.length === 0) continue;
      const begun = performance.now();
      const asking = { ...context, messages: [] };
      const { text: result, sources = [] } = await tool.run({ queries }, asking, signal);
      const milliseconds = performance.now() - begun;
      const found = sources.map(({ source }) =>
        source.kind === 'message' ? (ids.get(source.messageId) ?? '') : '',
      );
      const given = givenOf(conversation, question, found, result);
      asked.push({ ...measuredOf(conversation, question, found), given, milliseconds });
    }
  }
  return asked;
}

/** The share of what the answer needs that the result shows: as what was found, or whole as a line around it. */
function givenOf(
  { messages }: Conversation,
  { gold }: Question,
  found: readonly string[],
  result: string,
): number {
  const isGiven = (id: string): boolean => {
    const message = messages.find((each) => each.id === id);
    if (found.includes(id) || message === undefined) return found.includes(id);
    const line = `${message.author}: ${dataLine(message.text)}`;
    return result.includes(line);
  };
  return gold.filter((some) => some.some(isGiven)).length / gold.length;
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
    await withLog(async (log) => {
      const recall = createRecall({ sources: [createMessageSource(log)], timeZone });
      const asked: Asked[] = [];
      for (const [index, conversation] of conversations.entries())
        asked.push(...(await askAll({ log, recall }, conversation, index, queriesOf)));
      print(`${title.padEnd(24)}    R@5   R@10    MRR  given  questions`);
      const tell = (name: string, isMeant: (one: Asked) => boolean) =>
        print(row(name, asked.filter(isMeant)));
      for (const kind of new Set(asked.map(({ question }) => question.kind)))
        tell(kind, ({ question }) => question.kind === kind);
      for (const file of new Set(conversations.map((conversation) => conversation.file)))
        tell(`all of ${file}`, ({ conversation }) => conversation.file === file);
      tell('several messages needed', ({ question: { gold } }) => gold.length > 1);
      tell('all', () => true);
      print(`a search: ${median(asked.map(({ milliseconds }) => milliseconds)).toFixed(2)} ms (median)\n`);
    });
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
