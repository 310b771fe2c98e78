import { expect, it } from 'vitest';

import type { ModelServerRequest } from '../support/model-server.ts';
import { answeringBy, callsOf, chatCall, newestOf, sectionIn, toldIn } from './model-calls.ts';
import { openStage } from './stage.ts';

/** What a call says of the turns that came since the summary, if anything. */
function turnsSince(call: ModelServerRequest): string | undefined {
  return / turns-since-summary="(\d+)">\n/u.exec(toldIn(call))?.[1];
}

it('summarises at the fifth turn, though the bot was restarted after the third [R1] [R5]', async () => {
  const summary = 'They take 5 turns to build a parser in Rust.';
  await using stage = await openStage({
    model: answeringBy({
      chat: (_, index) => ({ text: `Answer to ${index}.` }),
      summary: () => ({ text: summary }),
    }),
  });
  const say = (turn: number) => chatCall(stage, 'bob', '@bob', `This is turn ${turn}.`);

  for (const turn of [1, 2, 3]) await say(turn);
  await stage.keeps(`Answer to ${stage.model.requests.indexOf(newestOf(stage, 'chat'))}.`);
  await stage.restart();
  await say(4);
  expect(callsOf(stage, 'summary')).toHaveLength(0);
  await say(5);
  await expect.poll(() => callsOf(stage, 'summary').length).toBe(1);

  const request = newestOf(stage, 'summary');
  expect(request.body.system?.[0]?.text).toContain('Keep the summary under 2000 characters');
  const told = toldIn(request);
  for (const turn of [1, 2, 3, 4, 5]) expect(told).toContain(`bob: This is turn ${turn}.`);
  expect(told.match(/Discoclaw \(bot\): Answer to \d+\./gu)).toHaveLength(5);

  await expect
    .poll(async () => (await stage.ask('bob', 'dm', '!memory show')).text)
    .toContain(`Rolling summary:\n${summary}`);
  const sixth = await say(6);
  const section = sectionIn(sixth, 'conversation_summary');
  expect(section).toMatch(
    /^<conversation_summary>\nSummary of this conversation until \d{4}-\d\d-\d\d \d\d:\d\d \(UTC\):\nThey take 5 turns to build a parser in Rust\.\n/u,
  );
  expect(turnsSince(sixth)).toBeUndefined();
  const seventh = await say(7);
  expect(sectionIn(seventh, 'conversation_summary')).toBe(section);
  expect(turnsSince(seventh)).toBe('1');
  expect(turnsSince(await say(8))).toBe('2');
  expect(callsOf(stage, 'summary')).toHaveLength(1);
});
