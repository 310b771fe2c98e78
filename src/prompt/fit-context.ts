import { ModelError } from '../core/errors.ts';
import { estimateTokens, type ToolDefinition } from '../core/model.ts';
import { buildPrompt, withoutToolWords, type Prompt, type PromptInput } from './build-prompt.ts';
import { promptRules, promptRulesWithoutTools, shortRules, shortRulesWithoutTools } from './rules.ts';

/** What a turn may offer its model, and how much that can take. */
export interface ContextNeeds {
  readonly tools: readonly ToolDefinition[];
  /** Names of tools that act on Discord. */
  readonly actions: ReadonlySet<string>;
  /** Of an answer. */
  readonly answerTokens: number;
  /** Absent where nothing is known to bound it. */
  readonly contextTokens?: number | undefined;
}

/** What fits a context: prompt, tools, tokens of the answer, and characters of all that tools give. */
export interface FittedContext {
  readonly prompt: Prompt;
  readonly tools: ReadonlySet<string>;
  readonly maxTokens: number;
  readonly resultsMaxChars?: number;
  /** What it has no room for, for `status`. */
  readonly leftOut: readonly string[];
}

/** The last tools to give way. */
const keptTools: ReadonlySet<string> = new Set(['remember_item', 'recall_memory']);

interface Level {
  readonly keeps: (name: string, actions: ReadonlySet<string>) => boolean;
  readonly rules: Required<Pick<PromptInput, 'rules' | 'rulesWithoutTools'>>;
  readonly leftOut: readonly string[];
}

const whole = { rules: promptRules, rulesWithoutTools: promptRulesWithoutTools };
const short = { rules: shortRules, rulesWithoutTools: shortRulesWithoutTools };

/** How tools and rules give way in a small context, step by step [M13]. */
const levels: readonly Level[] = [
  { rules: whole, keeps: () => true, leftOut: [] },
  { rules: whole, keeps: (name, actions) => !actions.has(name), leftOut: ['actions'] },
  { rules: short, keeps: (name) => keptTools.has(name), leftOut: ['most tools', 'most rules'] },
  { rules: short, keeps: () => false, leftOut: ['all tools', 'most rules'] },
];

/** Shares of a context: at most for an answer and for what tools give, at least for memory and history. */
const answerShare = 1 / 4;
const resultsShare = 1 / 8;
const memoryShare = 1 / 5;
/** At least so many for one token, by {@link estimateTokens}. */
const leastChars = 2;

/** @throws {ModelError} `too-large` where the message alone is too long. */
export function fitContext(
  input: Omit<PromptInput, 'rules' | 'rulesWithoutTools'>,
  { tools, actions, answerTokens, contextTokens }: ContextNeeds,
): FittedContext {
  const all = new Set(tools.map(({ name }) => name));
  if (contextTokens === undefined)
    return { prompt: buildPrompt({ ...input, ...whole }), tools: all, maxTokens: answerTokens, leftOut: [] };
  const maxTokens = Math.min(answerTokens, Math.floor(contextTokens * answerShare));
  for (const level of levels) {
    const kept = tools.filter(({ name }) => level.keeps(name, actions));
    const results = kept.length === 0 ? 0 : Math.floor(contextTokens * resultsShare);
    const room = contextTokens - maxTokens - results - estimateTokens(JSON.stringify(kept));
    const hasActions = kept.some(({ name }) => actions.has(name));
    const sections = input.sections.filter(({ name }) => hasActions || name !== 'discord_actions');
    const { rulesWithoutTools } = level.rules;
    const rest =
      kept.length === 0
        ? { ...input, rules: rulesWithoutTools, sections: sections.flatMap(withoutToolWords) }
        : { ...input, ...level.rules, sections };
    const least = tokensOf(buildPrompt({ ...rest, promptMaxChars: 0 }));
    const isLast = level === levels.at(-1);
    if (least + contextTokens * (isLast ? 0 : memoryShare) > room) continue;
    return {
      prompt: largestWithin(rest, room),
      tools: new Set(kept.map(({ name }) => name)),
      maxTokens,
      resultsMaxChars: results * leastChars,
      leftOut: level.leftOut,
    };
  }
  throw new ModelError('The message alone is larger than the context of the model', 'too-large');
}

/** The prompt of the most characters that takes at most so many tokens. */
function largestWithin(input: PromptInput, room: number): Prompt {
  let { promptMaxChars } = input;
  for (;;) {
    const prompt = buildPrompt({ ...input, promptMaxChars });
    const tokens = tokensOf(prompt);
    if (tokens <= room) return prompt;
    const characters = prompt.parts.reduce((sum, part) => sum + part.characters, 0);
    promptMaxChars = Math.floor(Math.min(promptMaxChars, characters) * Math.min(0.97, room / tokens));
  }
}

function tokensOf({ system, messages }: Prompt): number {
  let tokens = 0;
  for (const { content } of [{ content: system }, ...messages])
    for (const block of content) tokens += block.type === 'text' ? estimateTokens(block.text) : mediaTokens;
  return tokens;
}

/** Of a picture or a page, in common models. */
const mediaTokens = 1_000;
