import { expect, it } from 'vitest';

import type { Place } from '../../src/core/place.ts';
import { noUsage } from '../../src/core/model.ts';
import { dmPlace } from '../commands/harness.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { messageId } from '../support/sessions.ts';
import { alice, bob, openPage } from './page-harness.ts';

async function openAnswers() {
  const opened = await openPage();
  const { sessionLog, provenance } = opened.harness;
  return { ...opened, answered, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };

  /** An answer to Alice; resolves with the id of what she said. */
  async function answered(number: number, place: Place, text: string): Promise<string> {
    const at = new Date(Date.parse('2026-01-15T10:00:00Z') + number * 1000);
    const turn = {
      speaker: { id: aliceId, name: 'Alice', isOwner: false },
      place,
      messages: [{ id: messageId(number), text, at: at.toISOString(), attachments: [] }],
      now: at,
      hasThirdPartyText: false,
      work: { userId: aliceId },
    };
    await sessionLog.recordUser(turn);
    await provenance.record(turn, { prompt: [], tools: [] }, true, {
      parts: [
        { name: 'rules', characters: 300 },
        { name: 'history', characters: 100, budget: 400 },
        { name: 'message', characters: number },
      ],
      maxChars: 40_000,
      usage: { ...noUsage, inputTokens: 100 },
      cost: 0.01,
    });
    return messageId(number);
  }
}

it('shows each answer as a bar with its parts in words, the longest prompt at full width [Y2a]', async () => {
  await using opened = await openAnswers();
  const browser = await opened.browserOf(alice);
  expect(await browser.text('/answers')).toContain('I have not answered you');
  await opened.answered(600, dmPlace, 'Hello');
  await opened.answered(100, publicPlace, 'Hi');
  const page = await browser.text('/answers');
  const bars = [...page.matchAll(/aria-label="Characters: ([^"]+)"/gu)].map(([, text]) => text);
  expect(bars).toEqual([
    'Rules 300, History 100, Your message 100',
    'Rules 300, History 100, Your message 600',
  ]);
  const widths = [...page.matchAll(/<rect\s+x="[\d.]+%"\s+width="([\d.]+)%"/gu)].map(([, width]) =>
    Number(width),
  );
  expect(widths).toEqual([30, 10, 10, 30, 10, 60]);
  expect(page).toContain(
    '1,000 of 40,000 characters beside tools · 100 input tokens, 0% from the cache · 0 output tokens · $0.0100',
  );
  expect(page).not.toContain('style=');
});

it('shows of one answer each part against its budget and the own words, until they are gone [Y2a]', async () => {
  await using opened = await openAnswers();
  const browser = await opened.browserOf(alice);
  const id = await opened.answered(1, publicPlace, 'What do <b>I</b> grow?');
  const page = await browser.text(`/answers/${id}`);
  expect(page).toMatch(/<summary[^>]*>Your message<\/summary>[^]*What do &lt;b&gt;I&lt;\/b&gt; grow\?/u);
  expect(page).toMatch(/History[^]*25\.00%[^]*<td>100<\/td>\s*<td>400<\/td>/u);
  expect((await (await opened.browserOf(bob)).ask(`/answers/${id}`)).status).toBe(404);
  await opened.harness.provenance.delete({ kind: 'person', userId: aliceId, sessions: [] });
  expect((await browser.ask(`/answers/${id}`)).status).toBe(404);
});
