import { describe, expect, it } from 'vitest';

import { buildPrompt } from '../../src/prompt/build-prompt.ts';
import { renderPromptReport } from '../../scripts/prompt.ts';
import { blocksOf, chatMessage, ownMessage, promptInput, section, windowOf } from './samples.ts';

const prompt = buildPrompt(
  promptInput({
    sections: [section()],
    history: windowOf([chatMessage(1, 'hi'), ownMessage(2, '東京 — 1234 ☂')]).entries,
  }),
);

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
});
