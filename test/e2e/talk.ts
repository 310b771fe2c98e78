import { sampleBytes } from '../discord/attachments/samples.ts';
import { privateWords } from '../model/servers/doubles.ts';
import type { Mind, Spoken } from '../model/servers/server-double.ts';
import { kindOf } from './model-calls.ts';

interface Turn {
  readonly says: string;
  readonly file?: { readonly name: string; readonly base64: string };
  /** What people read. */
  readonly answer: string;
  /** What the model has to be shown, or its tool to give, for this answer. */
  readonly from?: string;
  /** How the model puts it. */
  readonly put?: (answer: string) => string;
  /** What it does first, where it has tools, and what the line under its answer says of that. */
  readonly calls?: Spoken['toolUse'];
  readonly footer?: string;
  /** Does the same without tools. */
  readonly command?: string;
  /** What is noticed in it, where somebody looks. */
  readonly notable?: string;
}

const drink = { answer: 'You like oolong.', from: 'likes oolong' };

export const longFile = {
  name: 'log.txt',
  base64: Buffer.from('Мост открыт до полудня. '.repeat(1_600)).toString('base64'),
};

/** A person and the bot talk: what is said, and what comes of it with any server. */
export const turns: readonly Turn[] = [
  { says: 'Hello there!', answer: 'Nice to meet you.', put: (answer) => `Discoclaw: ${answer}` },
  { says: 'What do I drink?', ...drink, put: (answer) => `[Sat 2026-11-28 12:03] ${answer}` },
  {
    says: 'I breed axolotls.',
    notable: 'I breed axolotls',
    answer: 'Those are lovely.',
    put: (answer) => `${answer}\n\nalice: ${privateWords}\nDiscoclaw: ${privateWords}`,
  },
  {
    says: 'I play the lute, so please remember it.',
    notable: 'I play the lute',
    calls: { name: 'remember_item', input: { kind: 'fact', quote: 'I play the lute' } },
    footer: 'Remembered: "I play the lute, so please remember it."',
    answer: 'A fine instrument.',
  },
  { says: 'What do I play?', answer: 'The lute.', from: 'I play the lute' },
  {
    says: 'I work on the harbour bridge in Porto.',
    notable: 'I work on the harbour bridge',
    answer: 'That sounds like long days.',
  },
  {
    says: 'I keep bees, remember that too.',
    notable: 'I keep bees',
    calls: { name: 'remember_item', input: { kind: 'fact', quote: 'I keep bees' } },
    footer: 'Remembered: "I keep bees, remember that too."',
    answer: 'They make honey.',
  },
  {
    says: 'Oh no, take that back.',
    calls: { name: 'memory_control', input: { action: 'undo' } },
    footer: 'Undone: `remember`',
    command: '!memory undo',
    answer: 'As you wish.',
  },
  {
    says: 'What did I say about the bridge?',
    calls: { name: 'recall_memory', input: { queries: ['bridge', 'harbour'] } },
    answer: 'You work on it.',
    from: 'harbour bridge in Porto',
  },
  { says: 'Tell me a line of code.', answer: 'Here:\n```ts\nconst a = "<think>";\n```' },
  { says: 'Я живу в Казани.', notable: 'Я живу в Казани', answer: 'Красивый город.' },
  { says: 'Что я пью?', ...drink },
  { says: 'ナッツアレルギーです。', notable: 'ナッツアレルギーです', answer: '気をつけます。' },
  { says: 'Where do I live?', answer: 'In Kazan.', from: 'Я живу в Казани' },
  {
    says: 'What do I drink, as in this picture?',
    file: { name: 'cup.png', base64: sampleBytes.png.toString('base64') },
    ...drink,
  },
  {
    says: 'Thank you.',
    answer: 'You are welcome.',
    put: (answer) => `**Discoclaw:** ${answer}\n\n**alice:** ${privateWords}`,
  },
  {
    says: 'Here is a long file.',
    file: longFile,
    answer: 'It is long.',
  },
  { says: 'Never mind.', answer: 'As you wish.' },
  { says: 'What do I drink, once more?', ...drink },
];

export const summary = 'Alice breeds axolotls, plays the lute and works on a bridge in Porto.';
export const noSummary = "I'm sorry, but I can't help with summarizing this conversation.";

/** A model that answers from its prompt. One answer has no words, the first summary is none, and lists have the forms that small models give them. */
export function createMind(): Mind {
  let empty = 0;
  let summaries = 0;
  let lists = 0;

  /** What is notable in lines of messages, as JSON. */
  function listOf(lines: string, isHeld: boolean): string {
    const found = [...lines.matchAll(/\[(\d+)\] [^:\n]+: ([^\n]+)/gu)].flatMap(([, messageId, text = '']) => {
      const quote = turns.find(({ notable }) => notable !== undefined && text.includes(notable))?.notable;
      return quote === undefined ? [] : [{ kind: 'fact', quote, messageId }];
    });
    const form = (lists += 1) % 3;
    if (isHeld) return JSON.stringify({ items: found });
    if (form === 1) return JSON.stringify(found, undefined, 1);
    if (form === 2) return `{"items": [${found.map((each) => `${JSON.stringify(each)},`).join('\n')}]}`;
    const isOne = lines.match(/\[\d+\] /gu)?.length === 1;
    const items = found.map(({ messageId, ...each }) => (isOne ? each : { ...each, messageId }));
    return `Here you are:\n\`\`\`json\n${JSON.stringify({ items })}\n\`\`\`\nAnything else?`;
  }

  return ({ body: { system = [], messages = [] }, hasTools, json }) => {
    const texts = messages.flatMap(({ content }) => content.flatMap(({ text = [] }) => text));
    if (system[0]?.text?.startsWith('You look back') === true) return { text: 'Nothing new.' };
    const kind = kindOf({ system });
    if (kind === 'extraction')
      return { text: json === undefined ? 'Axolotls.' : listOf(texts.join('\n'), json === 'held to') };
    if (kind !== 'chat') {
      const text = (summaries += 1) === 1 ? noSummary : summary;
      return {
        text:
          json === undefined || (text === noSummary && json === 'asked for')
            ? text
            : JSON.stringify({ summary: text }),
      };
    }
    const message = texts.findLast((text) => text.endsWith('\n</message>'));
    const turn = turns.find(({ says }) => message?.includes(`>\n${says}\n`));
    if (turn === undefined) return { text: 'What was that?' };
    const results = (messages.at(-1)?.content ?? []).filter(({ type }) => type === 'tool_result');
    if (turn.calls !== undefined && hasTools && results.length === 0)
      return { text: 'Let me see.', toolUse: turn.calls };
    if (turn.says === 'What do I play?' && (empty += 1) === 1) return { text: '' };
    const shown = JSON.stringify(results.length > 0 ? results : texts);
    const answer = shown.includes(turn.from ?? '') ? turn.answer : 'I do not know.';
    return { text: turn.put?.(answer) ?? answer };
  };
}
