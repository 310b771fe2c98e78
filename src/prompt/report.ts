import { estimateTokens, textOf, type TextBlock } from '../core/model.ts';
import type { Prompt } from './build-prompt.ts';

const barCells = 50;

/**
 * The prompt as it would be sent, then characters and estimated tokens a part as a bar chart [P5]. The parts
 * add up to the total.
 */
export function renderPromptReport(prompt: Prompt): string {
  return [...transcript(prompt), ...chart(prompt)].join('\n');
}

function transcript(prompt: Prompt): readonly string[] {
  return [
    '═══ system ═══',
    ...prompt.system.map(renderBlock),
    ...prompt.messages.flatMap((message) => [
      `═══ ${message.role} ═══`,
      ...message.content.flatMap((block) => (block.type === 'text' ? [renderBlock(block)] : [])),
    ]),
  ];
}

function renderBlock(block: TextBlock): string {
  return `${block.text.trimEnd()}${block.cache === undefined ? '' : '\n─── cached up to here ───'}`;
}

/** The parts stand end to end, so their texts can be cut from the whole. */
function chart({ system, messages, parts }: Prompt): readonly string[] {
  const whole = textOf(system) + messages.map((message) => textOf(message.content)).join('');
  let start = 0;
  const rows = parts.map(({ name, slot, characters }) => {
    const text = whole.slice(start, start + characters);
    start += characters;
    return { label: `${slot} · ${name}`, characters, tokens: estimateTokens(text) };
  });
  const tokens = rows.reduce((sum, row) => sum + row.tokens, 0);
  const all = [...rows, { label: 'total', characters: start, tokens }];
  const width = Math.max(...all.map(({ label }) => label.length));
  const line = (label: string, ...cells: readonly (string | number)[]): string =>
    `${label.padEnd(width)} ${cells.map((cell) => String(cell).padStart(7)).join(' ')}`;
  return [
    '═══ sizes ═══',
    line('part', 'chars', 'tokens'),
    ...all.map((row) =>
      `${line(row.label, row.characters, row.tokens)}  ${'█'.repeat(Math.round((barCells * row.characters) / start))}`.trimEnd(),
    ),
  ];
}
