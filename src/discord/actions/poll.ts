import { z } from 'zod';

import { actionTool, line, postOnce } from './action.ts';
import { permit, requireSameAudience } from './permit.ts';

const questionMaxChars = 300;
const answerMaxChars = 55;
const maxHours = 768;

export const pollTool = actionTool({
  name: 'discord_poll',
  description: 'Make a poll in this channel, when the person asks for it.',
  input: z.object({
    question: line(questionMaxChars).describe(`At most ${questionMaxChars} characters.`),
    answers: z
      .array(line(answerMaxChars))
      .min(2)
      .max(10)
      .describe(`2 to 10 answers of at most ${answerMaxChars} characters.`),
    hours: z.int().min(1).max(maxHours).default(24).describe('How long it runs. Default: 24.'),
    multiselect: z.boolean().default(false).describe('Whether people may choose several. Default: false.'),
  }),
  async plan(
    { question, answers, hours, multiselect },
    { context, here, nextNonce, signal },
    { settings, clock, places },
  ) {
    const poll = {
      question: { text: question },
      answers: answers.map((text) => ({ text })),
      duration: hours,
      allowMultiselect: multiselect,
    };
    const nonce = nextNonce();
    return {
      async permit() {
        await permit('poll', here, context, settings);
        await requireSameAudience(here, context, places);
      },
      show: async () => ({
        what: `Make a poll for ${hours} hours, ${multiselect ? 'with several answers each' : 'with one answer each'}:`,
        words: [question, ...answers.map((answer) => `- ${answer}`)].join('\n'),
      }),
      async act() {
        const check = async () => {
          await requireSameAudience(here, context, places);
          signal.throwIfAborted();
        };
        const { messageId } = await postOnce(here, { poll }, nonce, { context, clock, check });
        return { text: 'The poll is there.', note: '📊 made a poll', ids: { messageId } };
      },
    };
  },
});
