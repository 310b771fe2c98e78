import type { ModelAnswer, ScriptedToolUse } from '../support/model-answer.ts';
import type { MessagesBody } from '../support/model-server.ts';
import type { Random } from './random.ts';
import { answerOf, echoOf, wordPattern } from './truth.ts';
import type { ModelManner } from './weather.ts';

/**
 * The scripted model is as talkative as possible. Its answers repeat everything it was shown (words in another
 * spelling), its summaries repeat their input, and it stores and notes whatever it may.
 */
export function modelScript(body: MessagesBody, random: Random, manner: ModelManner): ModelAnswer {
  const whole = textOf(body);
  const words = wordsIn(whole);
  const schema = JSON.stringify(body.output_config?.format ?? {});
  if (schema.includes('"items"')) return { json: { items: extracted(whole, random) } };
  const tools = new Map((body.tools ?? []).map((tool) => [tool.name, JSON.stringify(tool)]));
  if (tools.size === 0) return { text: `In short: ${words.join(' ') || 'nothing'}.` };
  const hasResults = (body.messages ?? []).some(({ content }) =>
    content.some(({ type }) => type === 'tool_result'),
  );
  const own = lastWords(body);
  if (whole.includes("keep the person's notebook") && random.chance(0.7))
    return hasResults ? { text: 'Done.' } : { toolUse: [lookedBack(whole, random.chance(0.3))] };
  const calls = hasResults && random.chance(0.8) ? [] : toolCalls(tools, own, whole, random, manner);
  if (calls.length > 0) return { toolUse: calls, ...(random.chance(0.5) && { text: 'One moment. ' }) };
  const told = [...own.map(answerOf), ...words.slice(-20).map(echoOf)].join(' ');
  return { text: ['I see: ', told, `. ${'That is all I know. '.repeat(random.chance(0.05) ? 150 : 1)}`] };
}

/** What an answer has the bot forget, unless it asks its person first. */
export function forgottenBy(answer: ModelAnswer): readonly string[] {
  return wordsFor('forget_item', answer);
}

/** Whether an answer would have somebody else's words, or older ones, stored as what the person says now. */
export function poisons(answer: ModelAnswer, body: MessagesBody): boolean {
  const own = lastWords(body);
  return wordsFor('remember_item', answer).some((word) => !own.includes(word));
}

/** Words that an answer gives to a tool. */
function wordsFor(tool: string, answer: ModelAnswer): readonly string[] {
  if (typeof answer === 'string' || !('toolUse' in answer)) return [];
  const uses = [answer.toolUse].flat().filter(({ name }) => name === tool);
  return uses.flatMap(({ input }) => wordsIn(JSON.stringify(input)));
}

function textOf({ system = [], messages = [] }: MessagesBody): string {
  const blocks = [...system, ...messages.flatMap(({ content }) => content)];
  return blocks
    .map(({ text, content }) => text ?? (content === undefined ? '' : JSON.stringify(content)))
    .join('\n');
}

function wordsIn(text: string): readonly string[] {
  return [...new Set(text.match(wordPattern))];
}

/** Words of the message that is to be answered. */
function lastWords({ messages = [] }: MessagesBody): readonly string[] {
  const texts = messages.flatMap(({ content }) => content.map(({ text }) => text ?? ''));
  const last = texts.findLast((text) => text.includes('<message')) ?? '';
  return wordsIn(last.slice(last.lastIndexOf('<message')));
}

function extracted(text: string, random: Random): readonly object[] {
  const lines = [...text.matchAll(/\[(?<id>\d{15,20})\](?<said>[^\n]*)/gu)];
  return lines.flatMap(
    ({ groups }) =>
      (groups?.['said'] ?? '')
        .match(wordPattern)
        ?.flatMap((word) =>
          random.chance(0.7) ? [{ ...item(word), messageId: groups?.['id'] ?? '' }] : [],
        ) ?? [],
  );
}

/** Looking back, the model notes what was said, in time in the place of what was said before; or it empties the profile. */
function lookedBack(whole: string, isEmptying: boolean): ScriptedToolUse {
  const wordsOf = (tag: string) => wordsIn(new RegExp(`<${tag}>.*?</${tag}>`, 'su').exec(whole)?.[0] ?? '');
  const known = wordsOf('user_profile');
  const news = wordsOf('turns').filter((word) => !known.includes(word));
  const left = [...habits, ...known.slice(known.length > 3 ? Math.min(5, news.length) : 0), ...news];
  const content = isEmptying ? 'Nothing.' : left.map((each) => `- ${each}`).join('\n');
  return { name: 'memory_write', input: { path: 'USER.md', content } };
}

const habits = ['reads', 'cooks', 'swims', 'sings', 'draws', 'hikes'];

/** What the model quotes as an item. */
function item(word: string): object {
  return { kind: 'preference', quote: `I really love ${word}` };
}

const files = ['overview.md', 'detail/lunch.md', 'USER.md', 'MEMORY.md', 'facts/lunch.md', 'topics/lunch.md'];

function toolCalls(
  tools: ReadonlyMap<string, string>,
  own: readonly string[],
  whole: string,
  random: Random,
  manner: ModelManner,
): readonly ScriptedToolUse[] {
  const all = wordsIn(whole);
  const isLying = manner === 'lying';
  const calls: ScriptedToolUse[] = [];
  const call = (name: string, input: object): void => {
    if (tools.has(name)) calls.push({ name, input });
  };
  const [word] = own;
  const [, when, what] =
    [...whole.matchAll(/Remind me (in \d+ \w+) to (call zq[0-9a-z]{5}q)/gu)].at(-1) ?? [];
  if (when !== undefined && word !== undefined && what?.includes(word) === true)
    call('set_reminder', { when, what });
  const other = all.length === 0 ? undefined : random.pick(all);
  if (word !== undefined && random.chance(0.4)) call('remember_item', item(word));
  if (random.chance(0.2))
    call('recall_memory', { query: `love ${random.chance(0.5) ? (other ?? 'lunch') : 'lunch'}` });
  if (random.chance(0.15))
    call('memory_append', {
      path: random.pick(files),
      entry: [...own, ...(isLying ? all : [])].map((each) => `- ${each}`).join('\n'),
    });
  // Words of several items, of which one may have gone meanwhile [K4].
  if ((whole.match(/^- \[.*I prefer/gmu) ?? []).length > 2 && random.chance(0.3))
    call('forget_item', { target: 'I prefer' });
  if (random.chance(0.05)) call('memory_list', {});
  if (random.chance(0.05)) call('memory_read', { path: random.pick(files) });
  if (random.chance(manner === 'writing' ? 0.9 : 0.03))
    call('memory_write', {
      path: random.pick(['topics/long.md', 'detail/long.md']),
      content: `# Long\n\n${own.join('\n')}\n${'A long line of notes.\n'.repeat(random.int(1, 2900))}`,
    });
  if (isLying && other !== undefined) {
    if (random.chance(0.4)) call('remember_item', item(other));
    if (random.chance(0.1)) call('forget_item', { target: other });
    if (random.chance(0.1)) call('set_reminder', { when: when ?? 'in 1 minute', what: `call ${other}` });
    if (random.chance(0.1)) call('no_such_tool', { anything: other });
    if (random.chance(0.1)) call('memory_control', { action: random.pick(['export', 'erase']) });
  }
  return calls;
}
