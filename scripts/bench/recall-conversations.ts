import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

import { z } from 'zod';

const fileSchema = z.array(
  z.object({
    id: z.string(),
    docs: z.array(
      z.object({
        id: z.string(),
        spk: z.string(),
        ts: z.string(),
        text: z.string(),
        bot: z.boolean().default(false),
      }),
    ),
    qs: z.array(
      z.object({
        q: z.string(),
        cat: z.string(),
        gold: z.array(z.union([z.string(), z.array(z.string()).min(1)])).min(1),
        upto: z.int().min(1).optional(),
      }),
    ),
  }),
);

/** What is asked of a conversation. */
export interface Question {
  /** The file's name, the conversation's and the question's place in it from 0: `household/oak/3`. */
  readonly id: string;
  readonly kind: string;
  readonly text: string;
  /** What the answer needs: of each the ids of the messages that say it. */
  readonly gold: readonly (readonly string[])[];
  /** How many of the conversation's messages were said when it is asked. */
  readonly upTo: number;
}

export interface Conversation {
  /** With the file's name: `household/oak`. */
  readonly id: string;
  /** With its folder's name, since files of several folders may have one name. */
  readonly file: string;
  /** In order; no two at one time. */
  readonly messages: readonly {
    readonly id: string;
    readonly author: string;
    readonly isBot: boolean;
    readonly at: Date;
    readonly text: string;
  }[];
  readonly questions: readonly Question[];
}

/** Conversations of files as the bench's usage describes them. @throws {z.ZodError} */
export async function readConversations(files: readonly string[]): Promise<readonly Conversation[]> {
  const read = await Promise.all(
    files.map(async (path) => {
      const file = basename(path, '.json');
      const conversations = fileSchema.parse(JSON.parse(await readFile(path, 'utf8')));
      const shown = `${basename(dirname(path))}/${file}`;
      return conversations.map((conversation) => ({ ...toConversation(file, conversation), file: shown }));
    }),
  );
  return read.flat();
}

function toConversation(
  file: string,
  { id: name, docs, qs }: z.infer<typeof fileSchema>[number],
): Omit<Conversation, 'file'> {
  const id = `${file}/${name}`;
  let before = 0;
  return {
    id,
    messages: docs.map(({ id: ofMessage, spk, ts, text, bot }) => {
      before = Math.max(parseTime(ts), before + 1000);
      return { id: ofMessage, author: spk, isBot: bot, at: new Date(before), text };
    }),
    questions: qs.map(({ q, cat, gold, upto = docs.length }, index) => ({
      id: `${id}/${index}`,
      kind: cat,
      text: q,
      gold: gold.map((some) => (typeof some === 'string' ? [some] : some)),
      upTo: upto,
    })),
  };
}

/** `1:56 pm on 8 May, 2023` or ISO 8601, in UTC; milliseconds since the epoch. */
function parseTime(text: string): number {
  const [, clockTime, half, date] = /^(\d+:\d+) (am|pm) on (.*)$/u.exec(text) ?? [];
  if (date !== undefined) return Date.parse(`${date} ${clockTime} ${half} UTC`);
  return Date.parse(/(?:Z|[+-]\d\d:\d\d)$/u.test(text) || !text.includes('T') ? text : `${text}Z`);
}
