import { z } from 'zod';

import { flatten } from '../../core/text.ts';
import type { Tool } from '../../core/tool.ts';
import { actionTool, type ActionOptions } from './action-tool.ts';
import { permit } from './permit.ts';
import { postedBefore, postQuietly } from './post-once.ts';
import { requireSameAudience } from './present-audience.ts';

const questionMaxChars = 300;
const answerMaxChars = 55;
const maxHours = 768;

const definition = {
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
} as const;

function line(maxChars: number) {
  return z.string().transform(flatten).pipe(z.string().min(1).max(maxChars));
}

const inputSchema = z.object({
  question: line(questionMaxChars),
  answers: z.array(line(answerMaxChars)).min(2).max(10),
  hours: z.int().min(1).max(maxHours).default(24),
  multiselect: z.boolean().default(false),
});

/** Lets the model make a poll in the present channel. */
export function createPollTool(options: ActionOptions): Tool {
  return actionTool(
    {
      definition,
      inputSchema,
      async act({ question, answers, hours, multiselect }, { context, here, nextNonce, throwIfOver }) {
        const poll = {
          question: { text: question },
          answers: answers.map((text) => ({ text })),
          duration: hours,
          allowMultiselect: multiselect,
        };
        const nonce = nextNonce();
        await permit('poll', here, context, options.settings);
        const before = await postedBefore(here, { poll }, context, options.clock);
        await requireSameAudience(here, context, options.findChannel);
        throwIfOver();
        const message = before ?? (await postQuietly(here, { poll }, nonce));
        return { text: 'The poll is there.', note: '📊 made a poll', ids: { messageId: message.id } };
      },
    },
    options,
  );
}
