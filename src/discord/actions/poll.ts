import { z } from 'zod';

import { flatten } from '../../core/text.ts';
import { actionTool, postedBefore, postQuietly } from './action.ts';
import { permit, requireSameAudience } from './permit.ts';

const questionMaxChars = 300;
const answerMaxChars = 55;
const maxHours = 768;

/** Lets the model make a poll in the present channel. */
export const pollTool = actionTool({
  definition: {
    name: 'discord_poll',
    description: 'Make a poll in this channel, when the person asks for it.',
    inputSchema: {
      type: 'object',
      properties: {
        question: { type: 'string', description: `At most ${questionMaxChars} characters.` },
        answers: {
          type: 'array',
          items: { type: 'string' },
          minItems: 2,
          maxItems: 10,
          description: `2 to 10 answers of at most ${answerMaxChars} characters.`,
        },
        hours: {
          type: 'integer',
          minimum: 1,
          maximum: maxHours,
          description: 'How long it runs. Default: 24.',
        },
        multiselect: { type: 'boolean', description: 'Whether people may choose several. Default: false.' },
      },
      required: ['question', 'answers'],
      additionalProperties: false,
    },
  },
  inputSchema: z.object({
    question: line(questionMaxChars),
    answers: z.array(line(answerMaxChars)).min(2).max(10),
    hours: z.int().min(1).max(maxHours).default(24),
    multiselect: z.boolean().default(false),
  }),
  async act(
    { question, answers, hours, multiselect },
    { context, here, nextNonce, signal },
    { settings, clock, findChannel },
  ) {
    const poll = {
      question: { text: question },
      answers: answers.map((text) => ({ text })),
      duration: hours,
      allowMultiselect: multiselect,
    };
    const nonce = nextNonce();
    await permit('poll', here, context, settings);
    const before = await postedBefore(here, { poll }, context, clock);
    await requireSameAudience(here, context, findChannel);
    signal.throwIfAborted();
    const message = before ?? (await postQuietly(here, { poll }, nonce));
    return { text: 'The poll is there.', note: '📊 made a poll', ids: { messageId: message.id } };
  },
});

function line(maxChars: number) {
  return z.string().transform(flatten).pipe(z.string().min(1).max(maxChars));
}
