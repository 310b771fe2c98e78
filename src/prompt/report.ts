import { estimateTokenCount } from 'tokenx';
import { textOf, type TextBlock } from '../core/model.ts';
import type { Prompt } from './build-prompt.ts';

const barCells = 50;

interface Row {
  readonly label: string;
  readonly characters: number;
  readonly tokens: number;
}

/**
 * The prompt as it would be sent, then characters and estimated tokens a part as a bar chart [P5]. The parts
 * add up to the total.
 */
export function renderPromptReport(prompt: Prompt): string {
  const rows = rowsOf(prompt);
  return [...transcript(prompt), ...chart(rows)].join('\n');
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
function rowsOf(prompt: Prompt): readonly Row[] {
  const whole = textOf(prompt.system) + prompt.messages.map((message) => textOf(message.content)).join('');
  let start = 0;
  return prompt.parts.map(({ name, slot, characters }) => {
    const text = whole.slice(start, start + characters);
    start += characters;
    return { label: `${slot} · ${name}`, characters, tokens: estimateTokenCount(text) };
  });
}

function chart(rows: readonly Row[]): readonly string[] {
  const characters = sum(rows.map((row) => row.characters));
  const total: Row = { label: 'total', characters, tokens: sum(rows.map((row) => row.tokens)) };
  const width = Math.max(...[...rows, total].map((row) => row.label.length));
  const cells = shareCells(rows.map((row) => row.characters));
  const line = (row: Row, bar: string): string =>
    `${row.label.padEnd(width)} ${String(row.characters).padStart(7)} ${String(row.tokens).padStart(7)}  ${bar}`.trimEnd();
  return [
    '═══ sizes ═══',
    `${'part'.padEnd(width)} ${'chars'.padStart(7)} ${'tokens'.padStart(7)}`,
    ...rows.map((row, index) => line(row, '█'.repeat(cells[index] ?? 0))),
    line(total, '█'.repeat(sum(cells))),
  ];
}

/** Shares cells in proportion; the largest remainders get what rounding down left. */
function shareCells(sizes: readonly number[]): readonly number[] {
  const whole = sum(sizes);
  if (whole === 0) return sizes.map(() => 0);
  const exact = sizes.map((size) => (size * barCells) / whole);
  const left = barCells - sum(exact.map(Math.floor));
  const raised = new Set(
    exact
      .map((value, index) => ({ index, remainder: value - Math.floor(value) }))
      .toSorted((a, b) => b.remainder - a.remainder)
      .slice(0, left)
      .map(({ index }) => index),
  );
  return exact.map((value, index) => Math.floor(value) + (raised.has(index) ? 1 : 0));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
