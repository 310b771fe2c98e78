import type { ModelAnswer } from '../support/model-answer.ts';
import type { MessagesBody, ModelScript } from '../support/model-server.ts';

/** The words by which messages are known again wherever they get to. */
const words = /canary\w+/gu;

export function wordsIn(text: string): readonly string[] {
  return [...new Set(text.match(words))];
}

/** Milliseconds that answers take, one after the other, so that what people do falls into every moment of a turn. */
const paces = [0, 40, 120, 10, 250, 80];

/**
 * A model that repeats: in its answer what the message says, and in summary, items and notes all that it is shown. What it is shown of a
 * message that is gone would so be found again.
 */
export const repeatingModel: ModelScript = (body, index): ModelAnswer => {
  const instructions = body.system?.[0]?.text ?? '';
  const told = toldIn(body);
  if (instructions.startsWith('You keep the summary'))
    return { text: `Talked of ${wordsIn(told).join(' ')}.` };
  if (instructions.startsWith('You find what one person says')) return { json: { items: itemsIn(told) } };
  if (instructions.startsWith('You look back')) return noteOf(told, body);
  const said = wordsIn(told.slice(told.lastIndexOf('<message ')));
  const pace = paces[index % paces.length] ?? 0;
  return {
    text: ['You said ', ...said.map((word) => `${word} `), 'and that is all.'],
    pauseMs: pace,
    delayMs: pace,
  };
};

function toldIn({ messages = [] }: MessagesBody): string {
  return messages
    .flatMap(({ content }) => content)
    .map(({ text = '' }) => text)
    .join('');
}

function itemsIn(told: string): readonly object[] {
  return [...told.matchAll(/\[(?<messageId>\d+)\] [^:]*: .*?(?<quote>I prefer (?<word>canary\w+))/gu)].map(
    ({ groups }) => ({
      kind: 'preference',
      quote: groups?.['quote'],
      messageId: groups?.['messageId'],
    }),
  );
}

/** Writes the overview once, a line for each word. */
function noteOf(told: string, { messages = [] }: MessagesBody): ModelAnswer {
  if (messages.length > 1 || wordsIn(told).length === 0) return { text: 'Nothing new.' };
  const lines = wordsIn(told).map((word) => `- Prefers ${word}`);
  const input = { path: 'overview.md', content: ['## Known Context', ...lines, ''].join('\n') };
  return { toolUse: [{ name: 'memory_write', input }] };
}
