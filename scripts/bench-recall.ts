import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

import { z } from 'zod';

import { snowflakeAt } from '../src/core/snowflake.ts';
import { createMessageSource } from '../src/memory/recall/messages.ts';
import { createRecall, type Recall } from '../src/memory/recall/recall.ts';
import { rankingWeights, type RankingWeights } from '../src/memory/recall/score.ts';
import type { SessionLog } from '../src/memory/log/session-log.ts';
import { median, print } from './bench/measured.ts';
import { readConversations, sampleOf } from './bench/recall-conversations.ts';
import { fitRecall } from './bench/recall-fit.ts';
import { dmOf, heapMegabytes, search, timeZone, userIdOf, withLog } from './bench/recall-bench.ts';

const usage = `Measures how well recall finds messages; how fast it does, \`npm run bench -- recall\` tells.

npm run bench:recall -- FILE… [--perturb]    conversations with questions and the messages that answer them
npm run bench:recall -- FILE… --questions    120 of the questions, as many of each kind, always the same: lines of JSON without answers

FILE: [{ id, docs: [{ id, sess, spk, ts, text }], qs: [{ q, cat, gold: [doc id] }] }]
R@k: the share of a question's messages among the first k that are returned. --perturb: also with each weight 30 % lower and higher, and by halves.`;

const conversationsSchema = z.array(
  z.object({
    id: z.string(),
    docs: z.array(
      z.object({ id: z.string(), sess: z.number(), spk: z.string(), ts: z.string(), text: z.string() }),
    ),
    qs: z.array(z.object({ q: z.string(), cat: z.string(), gold: z.array(z.string()).min(1) })),
  }),
);

type Conversation = z.infer<typeof conversationsSchema>[number];
type Question = Conversation['qs'][number];

/** A conversation in the product's own log, and which message is which document. */
interface Logged {
  readonly conversation: Conversation;
  readonly userId: string;
  readonly documents: ReadonlyMap<string, string>;
}

/** What was measured of one question; shares from 0 to 1. */
interface Measured {
  readonly question: Question;
  readonly conversation: string;
  readonly at5: number;
  readonly at10: number;
  readonly at20: number;
  readonly hit10: number;
  readonly reciprocalRank: number;
  readonly milliseconds: number;
}

/** `1:56 pm on 8 May, 2023` or ISO 8601. */
function parseTime(text: string): Date {
  const [, clockTime, half, date] = /^(\d+:\d+) (am|pm) on (.*)$/u.exec(text) ?? [];
  return new Date(date === undefined ? text : `${date} ${clockTime} ${half} UTC`);
}

async function logConversation(log: SessionLog, conversation: Conversation, index: number): Promise<Logged> {
  const userId = userIdOf(index);
  const place = dmOf(userId);
  const documents = new Map<string, string>();
  let before = 0;
  for (const { id: documentId, spk, ts, text } of conversation.docs) {
    const time = Math.max(parseTime(ts).getTime(), before + 1000);
    before = time;
    const now = new Date(time);
    const id = snowflakeAt(now);
    documents.set(id, documentId);
    const speaker = { id: userId, name: spk, isOwner: false };
    await log.recordUser({
      speaker,
      place,
      now,
      messages: [{ id, text, at: now.toISOString(), attachments: [] }],
      hasThirdPartyText: false,
    });
  }
  return { conversation, userId, documents };
}

async function measure(recall: Recall, { conversation, userId, documents }: Logged): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const question of conversation.qs) {
    const start = performance.now();
    const passages = await search(recall, userId, question.q);
    const milliseconds = performance.now() - start;
    const gold = new Set(question.gold);
    const found = passages.map(({ unit: { reference } }) =>
      gold.has((reference.kind === 'message' && documents.get(reference.messageId)) || ''),
    );
    const at = (k: number) => found.slice(0, k).filter(Boolean).length / gold.size;
    measured.push({
      question,
      conversation: conversation.id,
      at5: at(5),
      at10: at(10),
      at20: at(20),
      hit10: at(10) > 0 ? 1 : 0,
      reciprocalRank: found.includes(true) ? 1 / (found.indexOf(true) + 1) : 0,
      milliseconds,
    });
  }
  return measured;
}

function percent(measured: readonly Measured[], value: (of: Measured) => number): string {
  const mean = measured.reduce((sum, one) => sum + value(one), 0) / measured.length;
  return (100 * mean).toFixed(1).padStart(6);
}

function row(name: string, measured: readonly Measured[]): string {
  const values = [
    percent(measured, ({ at5 }) => at5),
    percent(measured, ({ at10 }) => at10),
    percent(measured, ({ at20 }) => at20),
    percent(measured, ({ hit10 }) => hit10),
    percent(measured, ({ reciprocalRank }) => reciprocalRank),
  ];
  return `${name.padEnd(24)} ${values.join(' ')}  ${measured.length}`;
}

async function benchQuality(file: string, isPerturbed: boolean): Promise<void> {
  const conversations = conversationsSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  await withLog(async (log) => {
    const logged = await Promise.all(
      conversations.map((conversation, index) => logConversation(log, conversation, index)),
    );
    const measureAll = async (weights: RankingWeights): Promise<Measured[]> => {
      const recall = createRecall({ sources: [createMessageSource(log)], timeZone, weights });
      const measured: Measured[] = [];
      for (const one of logged) measured.push(...(await measure(recall, one)));
      return measured;
    };
    const heapBefore = await heapMegabytes();
    const start = performance.now();
    const recall = createRecall({ sources: [createMessageSource(log)], timeZone });
    for (const { userId } of logged) await search(recall, userId, 'x');
    const indexing = performance.now() - start;
    const measured = await measureAll(rankingWeights);
    print(`${'category'.padEnd(24)}    R@5   R@10   R@20 Hit@10    MRR  questions`);
    for (const cat of new Set(measured.map(({ question }) => question.cat))) {
      print(
        row(
          cat,
          measured.filter(({ question }) => question.cat === cat),
        ),
      );
    }
    for (const { id } of conversations) {
      print(
        row(
          id,
          measured.filter(({ conversation }) => conversation === id),
        ),
      );
    }
    print(row('overall', measured));
    print(`a query: ${median(measured.map(({ milliseconds }) => milliseconds)).toFixed(2)} ms (median)`);
    print(`indexing: ${indexing.toFixed(0)} ms, ${(await heapMegabytes()) - heapBefore} MB`);
    if (isPerturbed) await perturb(measureAll);
  });
}

async function perturb(measureAll: (weights: RankingWeights) => Promise<Measured[]>): Promise<void> {
  print('\neach weight 30 % lower and higher, over all and by halves');
  for (const [name, value] of Object.entries<number | readonly number[]>({ ...rankingWeights })) {
    for (const factor of [0, 0.7, 1.3]) {
      const changed = typeof value === 'number' ? value * factor : value.map((weight) => weight * factor);
      const measured = await measureAll({ ...rankingWeights, [name]: changed });
      const half = (rest: number) => measured.filter((_, index) => index % 2 === rest);
      const halves = [half(0), half(1)].map((part) => percent(part, ({ at10 }) => at10)).join(' ');
      print(`${row(`${name} × ${factor}`, measured)}  ${halves}`);
    }
  }
}

/** What wordings are written from: nobody who writes them sees an answer. */
async function printQuestions(files: readonly string[]): Promise<void> {
  for (const { id, kind, text } of sampleOf(await readConversations(files), 120))
    print(JSON.stringify({ id, kind, question: text }));
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    perturb: { type: 'boolean', default: false },
    questions: { type: 'boolean', default: false },
    fit: { type: 'boolean', default: false },
    'leave-out': { type: 'boolean', default: false },
  },
});
const [file] = positionals;
if (file === undefined) print(usage);
else if (values.questions) await printQuestions(positionals);
else if (values.fit) await fitRecall(await readConversations(positionals), values['leave-out']);
else await benchQuality(file, values.perturb);
