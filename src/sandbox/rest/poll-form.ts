import { PollLayoutType } from 'discord-api-types/v10';
import { z } from 'zod';

import type { Poll } from '../world/poll.ts';
import { knownEmoji } from '../world/reactions.ts';

const emojiSchema = z.object({
  name: z.string().refine((name) => knownEmoji(name) !== undefined, 'Invalid emoji'),
});

/** A poll as the bot hands it in, with the limits of Discord. */
export const pollSchema = z.object({
  question: z.object({ text: z.string().min(1).max(300) }),
  answers: z
    .array(
      z.object({
        poll_media: z.object({ text: z.string().min(1).max(55), emoji: emojiSchema.nullish() }),
      }),
    )
    .min(1)
    .max(10),
  /** Hours. */
  duration: z.int().min(1).max(768).default(24),
  allow_multiselect: z.boolean().default(false),
  layout_type: z.literal(PollLayoutType.Default).optional(),
});

export type PollForm = z.infer<typeof pollSchema>;

/** The poll that begins now. */
export function newPoll(form: PollForm, now: Date): Poll {
  return {
    question: form.question.text,
    answers: form.answers.map(({ poll_media: { text, emoji } }, index) => ({
      id: index + 1,
      text,
      ...(emoji === null || emoji === undefined ? {} : { emoji: emoji.name }),
    })),
    allowsSeveral: form.allow_multiselect,
    expiresAt: new Date(now.getTime() + form.duration * 3_600_000).toISOString(),
    closed: false,
    votes: new Map(),
  };
}
