import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

import { z } from 'zod';

import { dataLine } from '../../src/core/section.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import type { TurnMessage } from '../../src/core/turn-context.ts';
import type { SessionLog } from '../../src/memory/log/session-log.ts';
import { createMessageSource } from '../../src/memory/recall/sources.ts';
import { createRecall, type Recall } from '../../src/memory/recall/recall.ts';
import { createRecallTool } from '../../src/memory/recall/tool.ts';
import { dmOf, openLog, timeZone, userIdOf } from './memory.ts';

const docSchema = z.object({
  id: z.string(),
  spk: z.string(),
  ts: z.string(),
  text: z.string(),
  bot: z.boolean().default(false),
});
const questionSchema = z.object({
  q: z.string(),
  asker: z.string().default(''),
  gold: z.array(z.union([z.string(), z.array(z.string()).min(1)])).min(1),
  upto: z.int().min(1).optional(),
});
const fileSchema = z.array(z.object({ docs: z.array(docSchema), qs: z.array(questionSchema) }));

type Conversation = Awaited<ReturnType<typeof readConversations>>['conversations'][number];
type Question = Conversation['questions'][number];

/** Of a file its conversations, no two messages of one at one time, and its name with its folder's. @throws {z.ZodError} */
export async function readConversations(path: string) {
  const read = fileSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  const conversations = read.map(({ docs, qs }) => {
    let before = 0;
    return {
      messages: docs.map(({ id, spk, ts, text, bot }) => {
        before = Math.max(parseTime(ts), before + 1000);
        return { id, author: spk, isBot: bot, at: new Date(before), text };
      }),
      questions: qs.map(({ q, asker, gold, upto = docs.length }) => ({
        text: q,
        asker,
        /** What the answer needs: of each the ids of the messages that say it. */
        gold: gold.map((some) => (typeof some === 'string' ? [some] : some)),
        /** How many of the conversation's messages were said when it is asked. */
        upTo: upto,
      })),
    };
  });
  return { name: `${basename(dirname(path))}/${basename(path, '.json')}`, conversations };
}

/** `1:56 pm on 8 May, 2023` or ISO 8601, in UTC; milliseconds since the epoch. */
function parseTime(text: string): number {
  const [, clockTime, half, date] = /^(\d+:\d+) (am|pm) on (.*)$/u.exec(text) ?? [];
  if (date !== undefined) return Date.parse(`${date} ${clockTime} ${half} UTC`);
  return Date.parse(/(?:Z|[+-]\d\d:\d\d)$/u.test(text) || !text.includes('T') ? text : `${text}Z`);
}

/** Of the questions of a file, in percent: what their answers need among the first ten messages found, and in what the model is given. */
export async function recallOf(path: string) {
  const { name, conversations } = await readConversations(path);
  const folder = await mkdtemp(join(tmpdir(), 'bench-recall-'));
  const { log, store } = await openLog(folder);
  const recall = createRecall({ sources: [createMessageSource(log)], timeZone });
  const asked: { readonly atTen: number; readonly given: number }[] = [];
  for (const [index, conversation] of conversations.entries())
    asked.push(...(await askAbout(log, recall, conversation, userIdOf(index))));
  await store.close();
  await rm(folder, { recursive: true });
  const percent = (key: 'atTen' | 'given'): string =>
    ((100 * asked.reduce((sum, one) => sum + one[key], 0)) / Math.max(1, asked.length)).toFixed(1);
  return {
    name,
    tried: `${asked.length} questions about ${conversations.length} conversations`,
    outcome: `${percent('atTen')} % among the first ten messages, ${percent('given')} % in what the model is given`,
  };
}

/** Says a conversation message by message into the product's own log, and asks each question as soon as what it is asked after was said. */
async function askAbout(log: SessionLog, recall: Recall, conversation: Conversation, userId: string) {
  const place = dmOf(userId);
  const ids = new Map<string, string>();
  const asked = [];
  // As many results as the model is given where it does not say how many.
  const tool = createRecallTool(recall, 20);
  const { signal } = new AbortController();
  // A reply is logged with what it answers.
  let answered: readonly TurnMessage[] = [];
  for (const [at, { id: ofMessage, author, isBot, at: now, text }] of conversation.messages.entries()) {
    const id = snowflakeAt(now);
    ids.set(id, ofMessage);
    const context = {
      speaker: { id: userId, name: author, isOwner: false },
      place,
      now,
      messages: isBot ? answered : [{ id, text, at: now.toISOString(), attachments: [] }],
      work: { userId },
      hasThirdPartyText: false,
    };
    answered = context.messages;
    if (isBot) await log.recordReply(context, { ids: [id], text, at: now.toISOString() });
    else await log.recordUser(context);
    for (const question of conversation.questions.filter(({ upTo }) => upTo === at + 1)) {
      const asking = { ...context, messages: [] };
      const { text: result, sources = [] } = await tool.run({ queries: [question.text] }, asking, signal);
      const found = sources.map(({ source }) =>
        source.kind === 'message' ? (ids.get(source.messageId) ?? '') : '',
      );
      const firstTen = new Set(found.slice(0, 10));
      asked.push({
        atTen: shareOf(question, (wanted) => firstTen.has(wanted)),
        // As what was found, or whole as a line around it.
        given: shareOf(question, (wanted) => {
          const message = conversation.messages.find((each) => each.id === wanted);
          const line = message && `${message.author}: ${dataLine(message.text)}`;
          return found.includes(wanted) || (line !== undefined && result.includes(line));
        }),
      });
    }
  }
  return asked;
}

/** How much of what an answer needs is there, from 0 to 1. */
function shareOf({ gold }: Question, isThere: (messageId: string) => boolean): number {
  return gold.filter((some) => some.some(isThere)).length / gold.length;
}
