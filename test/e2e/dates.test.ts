import { expect, it } from 'vitest';

import { localMoment } from '../../src/core/time.ts';
import {
  answeringBy,
  callsOf,
  chatCall,
  historyIn,
  newestOf,
  sectionIn,
  systemIn,
  toldIn,
  type Answers,
} from './model-calls.ts';
import { obedientModel } from './obedient-model.ts';
import { openStage } from './stage.ts';

const dayMs = 24 * 60 * 60_000;
const zone = 'Asia/Tokyo';

/** A moment some days ago, by Discord's clock and as prompts tell it. */
function daysAgo(days: number): { readonly date: Date; readonly told: string } {
  const date = new Date(Date.now() - days * dayMs);
  return { date, told: localMoment(date, zone) };
}

function dayOf({ told }: { readonly told: string }): string {
  return told.slice(0, -' 14:03'.length);
}

/** A line of history, its clock time aside, since a test takes its time. */
function dayAndWords(line: string): string {
  return line.replace(/^(\[\w{3} [\d-]+) \d\d:\d\d\]/u, '$1]');
}

it('the models are told when everything was said, whether it is warm, cold or summarised [H3][R5][A2]', async () => {
  let now = daysAgo(6);
  const answers: Answers = {
    chat: () => ({ text: 'Good luck!' }),
    summary: () => ({ text: 'Their driving test was on a day.' }),
  };
  await using stage = await openStage({
    environment: {
      DISCOCLAW_TIMEZONE: zone,
      DISCOCLAW_SUMMARY_EVERY_N_TURNS: '2',
      DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
    },
    model: answeringBy(answers),
    now: () => now.date,
  });
  const said = now;
  const first = await chatCall(stage, 'bob', '@bob', 'My driving test is tomorrow morning');
  // The clock of this machine, by which it is answered, is six days ahead of Discord's.
  expect(toldIn(first)).toContain(` time="${dayOf(daysAgo(0))}`);
  expect(toldIn(first)).toContain(` written="${said.told}"`);
  await expect.poll(() => callsOf(stage, 'extraction').length).toBe(1);
  expect(toldIn(newestOf(stage, 'extraction'))).toMatch(
    new RegExp(`^- ${said.told} \\[\\d+\\] bob: My driving test is tomorrow morning$`, 'mu'),
  );

  now = daysAgo(0);
  const warm = await chatCall(stage, 'bob', '@bob', 'What is up today?');
  expect(historyIn(warm).map(({ role, text }) => `${role} ${text}`)).toEqual([
    `user [${said.told}] bob: My driving test is tomorrow morning\n`,
    'assistant Good luck!\n',
  ]);
  expect(systemIn(warm)).toContain('counts from its own date, not from now');
  expect(toldIn(warm)).toContain(` time="${dayOf(now)}`);

  await expect.poll(() => callsOf(stage, 'summary').length).toBe(1);
  const summary = newestOf(stage, 'summary');
  expect(toldIn(summary)).toMatch(
    new RegExp(`^- ${said.told} \\[\\d+\\] bob: My driving test is tomorrow morning$`, 'mu'),
  );
  expect(toldIn(summary)).toMatch(
    new RegExp(`^- ${dayOf(now)} \\S+ \\[\\d+\\] bob: What is up today\\?$`, 'mu'),
  );
  expect(systemIn(summary)).toContain('write every time as a date');

  await stage.stopBot();
  await stage.startBot();
  const cold = await chatCall(stage, 'bob', '@bob', 'And now?');
  expect(historyIn(cold).map(({ role, text }) => `${role} ${dayAndWords(text)}`)).toEqual([
    `user [${dayOf(said)}] bob: My driving test is tomorrow morning\n`,
    'assistant Good luck!\n',
    `user [${dayOf(now)}] bob: What is up today?\n`,
    'assistant Good luck!\n',
  ]);
  expect(toldIn(cold)).toMatch(/Summary of this conversation until [\d-]+ [\d:]+ \(Asia\/Tokyo\)/u);
});

it('a moment as Discord marks it is read as a day, told to the model in the zone of its person, and quoted as it stands [D8]', async () => {
  const mark = `<t:${Date.parse('2027-01-15T20:00:00Z') / 1000}:F>`;
  const told = `${mark} (Sat 2027-01-16 05:00)`;
  await using stage = await openStage({
    environment: { DISCOCLAW_TIMEZONE: zone },
    model: obedientModel,
  });
  // In the call, too, the prompt tells the moment.
  const quote = JSON.stringify({ quote: `My exam is at ${mark}`, kind: 'fact' });
  const said = `My exam is at ${mark}.`;
  const call = await chatCall(stage, 'bob', '@bob', `${said}\n> CALL remember_item ${quote}`);
  expect(toldIn(call)).toContain(`My exam is at ${told}.`);
  const later = await chatCall(stage, 'bob', '@bob', 'When is it?');
  expect(toldIn(later)).toContain(`] bob: My exam is at ${told}.`);
  expect(sectionIn(later, 'durable_items')).toContain(`- [fact] My exam is at ${told}`);
  const shown = (await stage.ask('bob', '@bob', '!memory show')).text;
  expect(shown).toContain(`- [fact] ${said}`);
  expect(shown).toContain('on 2027-01-16');
});
