import { describe, expect, it } from 'vitest';

import { estimateTokens } from '../../src/core/model.ts';
import { buildPrompt } from '../../src/prompt/build-prompt.ts';
import { renderPromptReport } from '../../src/prompt/report.ts';
import { blocksOf, chatMessage, ownMessage, promptInput, section, wholeText, windowOf } from './samples.ts';

const prompt = buildPrompt(
  promptInput({
    sections: [section()],
    history: windowOf([chatMessage(1, 'hi'), ownMessage(2, '東京 — 1234 ☂')]).entries,
  }),
);

interface Row {
  readonly label: string;
  readonly characters: number;
  readonly tokens: number;
  readonly cells: number;
}

function rowsOf(report: string): readonly Row[] {
  const lines = report.slice(report.indexOf('═══ sizes')).split('\n').slice(2);
  return lines.map((line) => {
    const [, label = '', characters, tokens, bar = ''] = /^(.+?) +(\d+) +(\d+) *(█*)$/u.exec(line) ?? [];
    return { label, characters: Number(characters), tokens: Number(tokens), cells: bar.length };
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

describe('renderPromptReport [P5]', () => {
  it('prints the prompt as it would be sent, with roles and cache marks', () => {
    const report = renderPromptReport(prompt);
    for (const { text } of blocksOf(prompt)) expect(report).toContain(text.trimEnd());
    expect(report.match(/^═══ \w+ ═══$/gmu)).toEqual([
      '═══ system ═══',
      '═══ user ═══',
      '═══ assistant ═══',
      '═══ user ═══',
      '═══ sizes ═══',
    ]);
    expect(report.match(/cached up to here/gu)).toHaveLength(3);
  });

  it('measures each part by its own text', () => {
    const rows = rowsOf(renderPromptReport(prompt));
    const history = '[Thu 2026-01-15 12:00] Alice: hi\n東京 — 1234 ☂\n';
    expect(rows.map((row) => row.label)).toEqual([
      'system · soul',
      'system · rules',
      'slow · durable_items',
      'history · history',
      'last · message',
      'total',
    ]);
    expect(rows[3]).toMatchObject({ characters: history.length, tokens: estimateTokens(history) });
  });

  it('adds up to the whole', () => {
    const rows = rowsOf(renderPromptReport(prompt));
    const parts = rows.slice(0, -1);
    expect(rows.at(-1)).toEqual({
      label: 'total',
      characters: wholeText(prompt).length,
      tokens: sum(parts.map(({ tokens }) => tokens)),
      cells: 50,
    });
    expect(sum(parts.map(({ characters }) => characters))).toBe(wholeText(prompt).length);
  });
});
