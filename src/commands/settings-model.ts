import type { CommandContext, CommandReply } from '../core/commands.ts';
import { dataLine } from '../core/section.ts';
import { nearestNames } from '../core/text.ts';
import { asManyAsFit, linesOf } from './answer-lines.ts';

/** `/settings model` as data [M10]. */
export const modelSubcommand = {
  description: "The model that answers: show my server's models, choose one (for my owner)",
  isAnywhere: true,
  options: {
    name: {
      kind: 'word',
      description: 'A model of my server, or default for the configured one',
      isOptional: true,
    },
  },
  misuse: '`model` takes the name of a model, or `default` for the configured one.',
} as const;

export interface ModelChoice {
  readonly configured: string;
  /** There is only the offline stand-in. */
  readonly isOffline: boolean;
  /** Never rejects. */
  readonly current: () => Promise<string>;
  /** The ids of the models that the server lists. Never rejects. */
  readonly list: () => Promise<readonly string[]>;
  /** The id that a name stands for. */
  readonly idOf: (name: string) => string;
  /** What to do before it can be chosen, if anything [L2]. */
  readonly problemWith: (name: string) => string | undefined;
  /** `undefined` for the configured one. Rejects with `StoreError`. */
  readonly choose: (name: string | undefined) => Promise<void>;
}

const listMaxChars = 1500;

/** For the bot's owner, anywhere: what is chosen answers from the next turn on. */
export async function answerModel(
  name: string | undefined,
  { speaker }: CommandContext,
  modelChoice: ModelChoice,
): Promise<CommandReply> {
  const { configured, idOf } = modelChoice;
  if (!speaker.isOwner) return { text: 'Only my owner can choose the model that answers.' };
  if (modelChoice.isOffline) return { text: 'I have no language model yet: `npm run setup` sets one up.' };
  if (name?.toLowerCase() === 'default') {
    await modelChoice.choose(undefined);
    return { text: `Done: I answer with ${dataLine(configured)} again, as configured.` };
  }
  const ids = await modelChoice.list();
  if (name === undefined) {
    const current = await modelChoice.current();
    const origin = current === configured ? 'as configured' : `configured is ${dataLine(configured)}`;
    return {
      text: linesOf(
        `I answer with ${dataLine(current)} (${origin}).`,
        ids.length === 0
          ? noList
          : `My model's server has: ${asManyAsFit(ids.map(dataLine), listMaxChars, ', ')}`,
        'Choose one with `!settings model <name>`; `default` goes back to the configured one.',
      ),
    };
  }
  if (ids.length > 0 && !ids.includes(idOf(name)))
    return {
      text: `My model's server has no ${dataLine(name)}, so nothing was changed. Did you mean ${dataLine(nearestNames(name, ids))}?`,
    };
  const problem = modelChoice.problemWith(name);
  if (problem !== undefined) return { text: `Nothing was changed: ${dataLine(problem)}.` };
  await modelChoice.choose(name);
  return {
    text: linesOf(
      `Done: from the next message on I answer with ${dataLine(name)}, everywhere. Summaries and notes keep their model.`,
      ids.length === 0 && `${noList} So I could not check the name.`,
    ),
  };
}

const noList = "My model's server gives me no list of its models.";
