import { dataLine } from '../../src/core/section.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import { createMessageSource } from '../../src/memory/recall/messages.ts';
import { createRecall, type Recall } from '../../src/memory/recall/recall.ts';
import { createRecallTool } from '../../src/memory/recall/tool.ts';
import type { SessionLog } from '../../src/memory/log/session-log.ts';
import { depth, dmOf, timeZone, userIdOf, withLog } from './recall-bench.ts';
import type { Conversation, Question } from './recall-conversations.ts';
import { measuredOf, type Measured } from './recall-evaluator.ts';

/** A question that was asked, beside what the model was given. */
export interface Asked extends Measured {
  readonly given: number;
  readonly milliseconds: number;
}

/** All questions of all conversations, each with its queries, or none where it is not to be asked. */
export async function askAll(
  conversations: readonly Conversation[],
  queriesOf: (question: Question) => readonly string[],
): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  await withLog(async (log) => {
    const recall = createRecall({ sources: [createMessageSource(log)], timeZone });
    for (const [index, conversation] of conversations.entries())
      asked.push(...(await askAbout({ log, recall }, conversation, index, queriesOf)));
  });
  return asked;
}

/** Says a conversation message by message into the product's own log, and asks each question as soon as what it is asked after was said. */
async function askAbout(
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
