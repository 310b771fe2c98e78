import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { deferred } from '../support/deferred.ts';
import type { MessagesBody, ModelServerRequest } from '../support/model-server.ts';
import { answeringBy, callsOf, toldIn, type Answers } from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';

/** What the model says it has found; by itself, in the message that holds the words, quoted as they are. */
interface Claim {
  readonly quote: string;
  readonly messageId?: string;
}

const answers: Answers = {};
let stage: Stage;
let guests = 0;

/** The extraction's answer with these findings. */
function finding(claims: readonly Claim[]): (body: MessagesBody) => { readonly json: unknown } {
  return (body) => {
    const lines = (body.messages?.[0]?.content[0]?.text ?? '').split('\n');
    const items = claims.map(({ quote, messageId }) => {
      const line = lines.find((each) => each.includes(quote)) ?? lines.find((each) => each.startsWith('- '));
      const id = messageId ?? /\[(?<id>\d+)\]/u.exec(line ?? '')?.groups?.['id'] ?? '';
      return { kind: 'fact', quote, messageId: id };
    });
    return { json: { items } };
  };
}

async function newcomer(): Promise<string> {
  guests += 1;
  return (await stage.sandbox.addPerson({ name: `guest${guests}` })).name;
}

/** Says something that waits for no answer; resolves with the message's id. */
async function tell(as: string, place: string, text: string): Promise<string> {
  const said = await stage.sandbox.say({ as, in: place, text });
  await stage.answerTo(said);
  return said.id;
}

async function shown(name: string): Promise<string> {
  return (await stage.ask(name, 'dm', '!memory show')).text;
}

/** The calls about a person's messages; others may be written to at the same time. */
function callsFor(name: string): readonly ModelServerRequest[] {
  return callsOf(stage, 'extraction').filter((call) => toldIn(call).includes(`] ${name}: `));
}

function newestFor(name: string): ModelServerRequest {
  const newest = callsFor(name).at(-1);
  if (newest === undefined) throw new Error(`Nothing was extracted for ${name}`);
  return newest;
}

/** Resolves when all extraction that was under way for the person has come to its end: the next turn's call comes after it. */
async function settled(name: string): Promise<void> {
  delete answers.extraction;
  await stage.ask(name, 'dm', `That is all from ${name}.`);
  await expect
    .poll(() => callsOf(stage, 'extraction').some((call) => toldIn(call).includes(`all from ${name}`)))
    .toBe(true);
}

/** Says something, and has the model claim these findings. */
async function tellAndFind(
  name: string,
  place: string,
  text: string,
  claims: readonly Claim[],
): Promise<void> {
  const before = callsFor(name).length;
  answers.extraction = finding(claims);
  await tell(name, place, text);
  await expect.poll(() => callsFor(name).length).toBeGreaterThan(before);
  await settled(name);
}

it('does not call the fast model unless it is switched on [A2]', async () => {
  await using quiet = await openStage({
    environment: { DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1' },
    model: answeringBy({}),
  });
  await quiet.ask('bob', 'dm', 'I breed axolotls.');
  await expect.poll(() => callsOf(quiet, 'summary').length).toBe(1);
  await quiet.ask('bob', 'dm', 'I play the lute.');
  // One person's work after turns is done in order, so that of the first turn is over now.
  await expect.poll(() => callsOf(quiet, 'summary').length).toBe(2);
  expect(callsOf(quiet, 'extraction')).toHaveLength(0);
  expect((await quiet.ask('bob', 'dm', '!memory show')).text).toContain('Durable memory (0 items):');
});

describe('turned on', () => {
  beforeAll(async () => {
    stage = await openStage({
      environment: {
        DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
        DISCOCLAW_SUMMARY_ENABLED: 'false',
      },
      model: answeringBy(answers),
    });
  });
  afterEach(() => {
    delete answers.extraction;
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  it('stores what a person says about themselves, three items a message at most [A2]', async () => {
    const name = await newcomer();
    const said = ['I breed axolotls', 'I play the lute', 'I live in Riga', 'I prefer Rust', 'I keep bees'];
    await tellAndFind(
      name,
      '#dev',
      said.join('\n'),
      said.map((quote) => ({ quote })),
    );
    const show = await shown(name);
    expect(show).toContain('Durable memory (3 items):');
    expect(show).toMatch(
      /- \[fact\] I live in Riga \(src: summary, #dev, updated <t:\d+:d>\) · id \w+ · server/u,
    );
    expect(show).not.toMatch(/Rust|bees/u);
  });

  it('stores nothing of the moment, of a joke or of the task at hand, however much the model takes [A2]', async () => {
    const name = await newcomer();
    const said = [
      'Good morning! I saw a hornet today. My cat is my boss hahaha. I keep bees.',
      'It returns nothing:\n```js\nadd(1)\n```',
    ];
    for (const text of said) {
      const quotes = [
        'Good morning',
        'I saw a hornet',
        'My cat is my boss',
        'I keep bees',
        'It returns nothing',
      ];
      const claims = quotes.filter((quote) => text.includes(quote)).map((quote) => ({ quote }));
      await tellAndFind(name, 'dm', text, claims.slice(-3));
    }
    const show = await shown(name);
    expect(show).toContain('Durable memory (1 item):');
    expect(show).toContain('I keep bees');
  });

  it('asks for items by a schema, with nobody else’s words in the call [A2]', async () => {
    const name = await newcomer();
    await stage.sandbox.say({ as: 'bob', in: '#general', text: 'I love Haskell' });
    await tell(name, '#general', 'hello everybody');
    await settled(name);
    const call = callsFor(name).find(({ raw }) => raw.includes('hello everybody'));
    expect(toldIn(call ?? newestFor(name))).not.toMatch(/Haskell|Understood/u);
    expect(JSON.stringify(call?.body.output_config?.format)).toContain('"messageId"');
  });

  it('stores nothing that the person never wrote, whatever the model says [M5a]', async () => {
    const name = await newcomer();
    await stage.sandbox.addPerson({ name: 'Dyno', bot: true }).catch(() => undefined);
    const bobs = await stage.sandbox.say({ as: 'bob', in: '#dev', text: 'I love Haskell' });
    const dynos = await stage.sandbox.say({ as: 'Dyno', in: '#dev', text: 'I guard this server' });
    const before = callsFor(name).length;
    const said = [
      'I like tea.\n> I hate coffee\nI do not own a car. I am allergic to nuts. Do I speak Latin? If I lived in Rome, I would sing.',
      'My sister is a doctor. I used to smoke. I wish I were rich. ```\nI love Perl\n```',
    ];
    await tellAndFind(name, '#dev', said.join(' '), [
      { quote: 'I speak Latin' },
      { quote: 'I love Perl' },
      { quote: 'I love Haskell', messageId: bobs.id },
      { quote: 'I love Haskell' },
      { quote: 'I guard this server', messageId: dynos.id },
      { quote: 'I guard this server' },
      { quote: 'Understood' },
      { quote: 'I hate coffee' },
      { quote: 'I own a car' },
      { quote: 'I like tea and Haskell' },
      { quote: 'I smoke' },
      { quote: 'I earn a lot' },
    ]);
    expect(toldIn(callsFor(name)[before] ?? newestFor(name))).toContain('I like tea');
    expect(await shown(name)).toContain('Durable memory (0 items):');
  });

  it('gives what it finds the visibility of the place where it was said [V1]', async () => {
    const name = await newcomer();
    await tellAndFind(name, 'dm', 'I am ill', [{ quote: 'I am ill' }]);
    expect(await shown(name)).toMatch(/I am ill .* · dm$/mu);
    expect((await stage.ask(name, '#dev', '!memory show')).text).not.toContain('ill');
  });

  it('brings back nothing that was forgotten while the call was running [A4]', async () => {
    const name = await newcomer();
    const found = deferred<void>();
    answers.extraction = (body) => ({ ...finding([{ quote: 'I work at Acme' }])(body), held: found.promise });
    await tell(name, 'dm', '!memory remember I work at Acme');
    const before = callsFor(name).length;
    await tell(name, 'dm', 'I work at Acme');
    await expect.poll(() => callsFor(name).length).toBe(before + 1);
    expect((await stage.ask(name, 'dm', '!memory forget Acme')).text).toContain('Deprecated 1 item');
    found.resolve();
    await settled(name);
    expect(await shown(name)).toContain('Durable memory (0 items):');
  });

  it('drops items of a message that was deleted during the call [A4]', async () => {
    const name = await newcomer();
    const found = deferred<void>();
    answers.extraction = (body) => ({ ...finding([{ quote: 'I owe money' }])(body), held: found.promise });
    const before = callsFor(name).length;
    const message = await tell(name, 'dm', 'I owe money');
    await expect.poll(() => callsFor(name).length).toBe(before + 1);
    await stage.sandbox.delete({ message });
    await stage.sandbox.delivered();
    found.resolve();
    await settled(name);
    expect(await shown(name)).toContain('Durable memory (0 items):');
  });

  it('looks at several waiting turns in one call, each turn once [A2]', async () => {
    const name = await newcomer();
    const found = deferred<void>();
    answers.extraction = (body) => ({ ...finding([])(body), held: found.promise });
    const before = callsFor(name).length;
    await tell(name, 'dm', 'This is one.');
    await expect.poll(() => callsFor(name).length).toBe(before + 1);
    for (const [place, text] of [
      ['dm', 'This is two.'],
      ['#dev', 'This is three.'],
      ['#dev', 'This is four.'],
    ] as const)
      await tell(name, place, text);
    found.resolve();
    await expect.poll(() => callsFor(name).length).toBe(before + 2);
    const [first = '', second = ''] = callsFor(name).slice(before).map(toldIn);
    expect(first.match(/This is \w+/gu)).toEqual(['This is one']);
    expect(second.match(/This is \w+/gu)).toEqual(['This is two', 'This is three', 'This is four']);
    await settled(name);
    expect(toldIn(newestFor(name))).not.toContain('This is');
  });

  it.each([
    ['is denied', { status: 400 }, 1],
    ['is cut', 'max_tokens', 1],
    // The schema may not have been heeded, so it is asked for in words as well [M9].
    ['is not JSON', { text: 'Sure! Here you are:' }, 2],
  ] as const)('looks at the same turns again after a call that %s', async (_, failure, calls) => {
    const name = await newcomer();
    answers.extraction = () => failure;
    const before = callsFor(name).length;
    await tell(name, 'dm', 'I keep bees');
    await expect.poll(() => callsFor(name).length).toBe(before + calls);
    answers.extraction = finding([{ quote: 'I keep bees' }]);
    await tell(name, 'dm', 'And what do you keep?');
    await expect.poll(() => shown(name)).toContain('[fact] I keep bees');
    expect(toldIn(newestFor(name))).toContain('And what do you keep?');
  });

  it('does after a kill what it had not done before', async () => {
    await stage.startBuilt();
    const name = await newcomer();
    answers.extraction = () => 'silent';
    const before = callsFor(name).length;
    await tell(name, '#dev', 'I breed axolotls');
    await expect.poll(() => callsFor(name).length).toBe(before + 1);
    await stage.killBot();
    answers.extraction = finding([{ quote: 'I breed axolotls' }]);
    await stage.startBot();
    await expect.poll(() => shown(name)).toContain('[fact] I breed axolotls (src: summary, #dev');
    expect(callsFor(name)).toHaveLength(before + 2);
  });
});
