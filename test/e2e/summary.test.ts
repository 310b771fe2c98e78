import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { halfText, type ModelAnswer } from '../support/model-answer.ts';
import { deferred } from '../support/deferred.ts';
import type { ModelServerRequest } from '../support/model-server.ts';
import { answeringBy, callsOf, chatCall, newestOf, sectionIn, toldIn, type Answers } from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';

/** What `!memory show` says of a person in their DM. */
async function shown(stage: Stage, name: string): Promise<string> {
  return (await stage.ask(name, 'dm', '!memory show')).text;
}

/** What a call says of the turns that came since the summary, if anything. */
function turnsSince(call: ModelServerRequest): string | undefined {
  return / turns-since-summary="(\d+)">\n/u.exec(toldIn(call))?.[1];
}

it('summarises at the fifth turn, though the bot was killed after the third', async () => {
  const summary = 'They build a parser in Rust.';
  await using stage = await openStage({
    isBuilt: true,
    model: answeringBy({
      chat: (_, index) => ({ text: `Answer to ${index}.` }),
      summary: () => ({ text: summary }),
    }),
  });
  const say = (turn: number) => chatCall(stage, 'bob', '@bob', `This is turn ${turn}.`);

  for (const turn of [1, 2, 3]) await say(turn);
  await stage.keeps(`Answer to ${stage.model.requests.indexOf(newestOf(stage, 'chat'))}.`);
  await stage.killBot();
  await stage.startBot();
  await say(4);
  expect(callsOf(stage, 'summary')).toHaveLength(0);
  await say(5);
  await expect.poll(() => callsOf(stage, 'summary').length).toBe(1);

  const request = newestOf(stage, 'summary');
  expect(request.body.system?.[0]?.text).toContain('Keep the summary under 2000 characters');
  const told = toldIn(request);
  const replies = callsOf(stage, 'chat').map((call) => stage.model.requests.indexOf(call));
  for (const [at, reply] of replies.entries()) {
    expect(told).toContain(`bob: This is turn ${at + 1}.`);
    expect(told).toContain(`Discoclaw (bot): Answer to ${reply}.`);
  }

  await expect.poll(() => shown(stage, 'bob')).toContain(`Rolling summary:\n${summary}`);
  const sixth = await say(6);
  const section = sectionIn(sixth, 'conversation_summary');
  expect(section).toMatch(
    /^<conversation_summary>\nSummary of this conversation until \d{4}-\d\d-\d\d \d\d:\d\d \(UTC\):\nThey build a parser in Rust\.\n/u,
  );
  expect(turnsSince(sixth)).toBeUndefined();
  const seventh = await say(7);
  expect(sectionIn(seventh, 'conversation_summary')).toBe(section);
  expect(turnsSince(seventh)).toBe('1');
  expect(turnsSince(await say(8))).toBe('2');
  expect(callsOf(stage, 'summary')).toHaveLength(1);
});

describe('with a summary after each turn', () => {
  const answers: Answers = {};
  let stage: Stage;
  let guests = 0;

  beforeAll(async () => {
    stage = await openStage({
      environment: { DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1', DISCOCLAW_SUMMARY_MAX_CHARS: '200' },
      model: answeringBy(answers),
    });
  });

  afterEach(() => {
    for (const kind of ['chat', 'summary', 'condense', 'extraction'] as const) delete answers[kind];
  });

  afterAll(() => stage[Symbol.asyncDispose]());

  async function newcomer(): Promise<{ readonly name: string; readonly folder: string }> {
    guests += 1;
    const { id, name } = await stage.sandbox.addPerson({ name: `guest${guests}` });
    const channel = await stage.sandbox.openDm({ person: name });
    return { name, folder: `data/sessions/${channel.id}/${id}` };
  }

  /** Says something and resolves when the summary that follows stands. */
  async function summarise(name: string, text: string, summary: string): Promise<void> {
    answers.summary = () => ({ text: summary });
    await stage.ask(name, 'dm', text);
    await expect.poll(() => shown(stage, name)).toContain(summary);
  }

  it('has a summary that is too long condensed, once [R2]', async () => {
    const { name, folder } = await newcomer();
    const long = 'They talk about the parser again. '.repeat(10).trim();
    answers.summary = () => ({ text: long });
    answers.condense = () => ({ text: 'They talk about the parser.' });
    await stage.ask(name, 'dm', 'The parser, again.');
    await expect.poll(() => shown(stage, name)).toContain('They talk about the parser.');

    expect(callsOf(stage, 'condense')).toHaveLength(1);
    const request = newestOf(stage, 'condense');
    expect(request.body.system?.[0]?.text).toContain('Keep the summary under 200 characters');
    expect(toldIn(request)).toContain(long);
    expect(await stage.readFile(`${folder}/state.json`)).not.toContain(long);
  });

  it('keeps the old summary where the new one stays too long, and clips nothing on disk [R2]', async () => {
    const { name, folder } = await newcomer();
    await summarise(name, 'First.', 'They began.');
    const before = callsOf(stage, 'condense').length;
    answers.summary = () => ({ text: 'Too long. '.repeat(40) });
    answers.condense = () => ({ text: 'Still too long. '.repeat(20) });
    await stage.ask(name, 'dm', 'Second.');
    await expect.poll(() => callsOf(stage, 'condense').length).toBe(before + 1);

    await summarise(name, 'Third.', 'They began, went on and ended.');
    const told = toldIn(newestOf(stage, 'summary'));
    expect(told).toMatch(/The summary so far, of [^\n]+:\nThey began\.\n/u);
    expect(told).toContain(`${name}: Second.`);
    expect(await stage.readFile(`${folder}/state.json`)).not.toContain('oo long');
  });

  const failures: readonly (readonly [string, ModelAnswer])[] = [
    ['cut', 'max_tokens'],
    ['refused', 'refusal'],
    ['empty', 'empty'],
    ['a web page', 'html'],
    ['denied', { status: 400 }],
  ];

  it.each(failures)(
    'does not store a summary that is %s, and tries again at the next turn [M7]',
    async (_, failure) => {
      const { name } = await newcomer();
      await summarise(name, 'My plan is one.', 'The plan is one.');
      const before = callsOf(stage, 'summary').length;
      answers.summary = () => failure;
      await stage.ask(name, 'dm', 'My plan is two.');
      await expect.poll(() => callsOf(stage, 'summary').length).toBeGreaterThan(before);
      const still = await shown(stage, name);
      expect(still).toContain('The plan is one.');
      expect(still).not.toContain(halfText);

      answers.summary = () => ({ text: 'The plan is three.' });
      await stage.ask(name, 'dm', 'My plan is three.');
      await expect.poll(() => shown(stage, name)).toContain('The plan is three.');
      const told = toldIn(newestOf(stage, 'summary'));
      expect(told).toMatch(/The summary so far, of [^\n]+:\nThe plan is one\.\n/u);
      expect(told).toContain(`${name}: My plan is two.`);
      expect(told).toContain(`${name}: My plan is three.`);
      expect(told).not.toContain('My plan is one.');
    },
  );

  it('keeps a replaced summary in the detail folder [R3]', async () => {
    const { name, folder } = await newcomer();
    await summarise(name, 'First.', 'They want a parser, a lexer and a printer.');
    await summarise(name, 'Second.', 'They want nothing any more.');
    const kept = async () => {
      const detail = `${folder.replace(/^data\//u, '')}/detail/`;
      const paths = (await stage.kept()).map(({ path }) => path);
      return paths.flatMap((path) =>
        path.startsWith(detail) && !path.startsWith(`${detail}.`) ? [path.slice(detail.length)] : [],
      );
    };
    await expect.poll(kept).toHaveLength(1);
    const [file = ''] = await kept();
    const note = await stage.readFile(`${folder}/detail/${file}`);
    expect(note).toContain('They want a parser, a lexer and a printer.');
    expect(note).toMatch(/^created: \d{4}-\d\d-\d\dT/mu);
    expect(note).toMatch(/^keywords: \[.*"parser".*\]$/mu);
  });

  it('drops what a running job brings after a reset, also across a restart [R4][A4]', async () => {
    await stage.startBuilt();
    const { name, folder } = await newcomer();
    await summarise(name, 'I grow tulips.', 'They grow tulips.');
    const made = deferred<void>();
    answers.summary = () => ({ text: 'They grow tulips and roses.', held: made.promise });
    const before = callsOf(stage, 'summary').length;
    await stage.ask(name, 'dm', 'And roses.');
    await expect.poll(() => callsOf(stage, 'summary').length).toBe(before + 1);
    expect((await stage.ask(name, 'dm', '!memory reset rolling')).text).toContain('cleared');
    made.resolve();

    // The next summary is asked for only when the running one has come to its end.
    await summarise(name, 'Now about cars.', 'They like cars.');
    const told = toldIn(newestOf(stage, 'summary'));
    expect(told).toContain(`${name}: Now about cars.`);
    expect(told).not.toMatch(/tulips|roses/u);

    await stage.killBot();
    await stage.startBot();
    expect(await shown(stage, name)).toContain('Rolling summary:\nThey like cars.');
    expect(await stage.readFile(`${folder}/state.json`)).not.toMatch(/tulips|roses/u);
  });
});
