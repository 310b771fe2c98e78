import { getEventListeners } from 'node:events';

import { describe, expect, it, onTestFinished } from 'vitest';

import { nextDayAt } from '../../src/core/time.ts';
import type { MessageView } from '../../src/sandbox/people/views.ts';
import { wholeMessage, type ModelAnswer } from '../support/model-answer.ts';
import { deferred } from '../support/deferred.ts';
import { startChild } from './child.ts';
import { callsOf, toldIn } from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';

const quiet = {
  DISCOCLAW_SUMMARY_ENABLED: 'false',
  DISCOCLAW_REFLECTION_ENABLED: 'false',
  DISCOCLAW_DISCORD_ACTIONS_ENABLED: 'false',
};

/** The bot's lines on limits in a place. */
async function limitLines(stage: Stage, place: string): Promise<readonly string[]> {
  const said = await stage.sandbox.messages({ in: place, from: 'bot' });
  return said.flatMap(({ text }) => (text.startsWith('⏳') ? [text] : []));
}

it('takes 8,000 characters of 40 messages that one person sends in a burst, marks the others, and never comes back to them [L1]', async () => {
  const thought = deferred<void>();
  await using stage = await openStage({
    environment: quiet,
    model: (_, index) => ({ text: 'Understood.', ...(index === 0 ? { held: thought.promise } : {}) }),
  });
  const say = (text: string) => stage.sandbox.say({ as: 'alice', in: '#general', text });
  await say('begin');
  await expect.poll(() => stage.model.requests.length).toBe(1);
  const burst: MessageView[] = [];
  for (let number = 1; number <= 40; number += 1) burst.push(await say(`burst${number} `.padEnd(1_900, 'x')));
  // Only then is no more on its way to the waiting that the answer opens.
  await expect
    .poll(() => stage.bot().output().split('a message was refused: too much is waiting').length - 1)
    .toBe(36);
  const [, , , , fifth] = burst;
  const marked = async () =>
    (await stage.sandbox.messages({ in: '#general' })).find(({ id }) => id === fifth?.id)?.reactions;
  await expect.poll(marked).toHaveProperty('🚫');
  thought.resolve();
  await expect.poll(() => callsOf(stage, 'chat').length).toBe(2);
  const last = burst.at(-1);
  await stage.sandbox.waitForReply({ in: '#general', after: last?.id ?? '' });

  const [, call] = callsOf(stage, 'chat');
  expect(call && toldIn(call).match(/burst\d+ /gu)).toEqual(['burst1 ', 'burst2 ', 'burst3 ', 'burst4 ']);
  const log = last && (await stage.logOf(last));
  expect(log?.match(/burst\d+ /gu)).toHaveLength(4);

  await stage.restart();
  await stage.ask('alice', '#general', 'and now?');
  const [, , third, ...more] = callsOf(stage, 'chat');
  expect(more).toEqual([]);
  expect(third && toldIn(third)).not.toContain('burst5 ');
});

/** Tokens that an answer here gives, and may give at most; a thousand cost a dollar. */
const answerTokens = 7000;
/** Where it is noon, so that no day ends under a test. */
const zone = `Etc/GMT${new Date().getUTCHours() < 12 ? '' : '+'}${new Date().getUTCHours() - 12}`;
const dear = {
  DISCOCLAW_TIMEZONE: zone,
  DISCOCLAW_MODEL_PRICES: 'sonnet=0/1000, haiku=0/1000',
};

function dearAnswer(text: string): ModelAnswer {
  const message = wholeMessage({ blocks: [{ type: 'text', pieces: [text] }], stop: 'end_turn' });
  return { message: { ...message, usage: { input_tokens: 10, output_tokens: answerTokens } } };
}

/** What the owner was told in their DM. */
async function toldToOwner(stage: Stage): Promise<readonly string[]> {
  const told = await stage.sandbox.messages({ in: `@${stage.info.owner.name}`, from: 'bot' });
  return told.flatMap(({ text }) => (text.includes('may cost today') ? [text] : []));
}

describe('the cost of a day [L2]', () => {
  it('ends answers in one line a minute, over a restart too; commands still work, and the owner is told once', async () => {
    await using stage = await openStage({
      environment: { ...quiet, ...dear, DISCOCLAW_DAILY_COST_USD: '40' },
      model: () => dearAnswer('Understood.'),
    });
    for (const question of ['one', 'two', 'three']) await stage.ask('alice', '#general', question);
    expect(await toldToOwner(stage)).toEqual([]);
    await stage.restart();
    await stage.ask('bob', '#general', 'four');
    const fifth = await stage.ask('alice', '#general', 'five');
    expect(fifth.text).toBe('Understood.');
    await expect
      .poll(() => toldToOwner(stage))
      .toEqual([
        expect.stringContaining('Of the $40.00 that my model calls may cost today, $35.00 is used.'),
      ]);

    const over = await stage.ask('alice', '#general', 'six');
    const at = Number(/^⏳ .* <t:(\d+):t> \(<t:\d+:R>\)\./u.exec(over.text)?.[1]) * 1000;
    expect(new Date(at)).toEqual(nextDayAt(new Date(), zone));
    await stage.sandbox.say({ as: 'alice', in: '#general', text: 'seven' });
    const unanswered = () => stage.bot().output().split('for the limit on cost').length - 1;
    await expect.poll(unanswered).toBe(2);
    expect((await stage.ask('bob', '#general', 'eight')).text).toMatch(/^⏳/u);
    expect(await limitLines(stage, '#general')).toHaveLength(2);
    expect((await stage.ask('alice', '#general', '!memory remember tea')).text).toContain('Remembered');
    const status = (await stage.ask(stage.info.owner.name, 'dm', '!status')).text;
    expect(status).toMatch(/^Today [^\n]*: 5 model calls · .* · \$35\.00 at prices of .* and your own$/mu);

    await stage.restart();
    expect((await stage.ask('bob', '#general', 'nine')).text).toMatch(/^⏳/u);
    expect(callsOf(stage, 'chat')).toHaveLength(5);
    expect(await toldToOwner(stage)).toHaveLength(1);
  });

  it('cannot be limited with a model whose price is not known: that is said with what to do, and code 78', async () => {
    await using stage = await openStage({ model: () => ({ text: 'Understood.' }) });
    await stage.stopBot();
    const limited = { DISCOCLAW_MODEL: 'llama', DISCOCLAW_DAILY_COST_PER_PERSON_USD: '1' };
    const refused = startChild({ folder: stage.folder, environment: { ...stage.environment, ...limited } });
    expect(await refused.exited).toBe(78);
    expect(refused.output()).toContain('give it in DISCOCLAW_MODEL_PRICES, as llama=INPUT/OUTPUT');
    await stage.startBot({ ...limited, DISCOCLAW_MODEL_PRICES: 'llama=0/0' });
  });
});

/** Every abort signal that somebody listens to from now on. */
function watchSignals(): ReadonlySet<AbortSignal> {
  const seen = new Set<AbortSignal>();
  const { prototype } = AbortSignal;
  const listen = Reflect.get(prototype, 'addEventListener');
  prototype.addEventListener = function add(this: AbortSignal, ...given: unknown[]) {
    seen.add(this);
    Reflect.apply(listen, this, given);
  };
  onTestFinished(() => {
    prototype.addEventListener = listen;
  });
  return seen;
}

it('twenty turns at once, and what is over the limit of a minute, make no signal collect listeners, and leave none behind', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  await using stage = await openStage({
    environment: { DISCOCLAW_MODEL_CONCURRENCY: '20', DISCOCLAW_RATE_PER_MINUTE: '1' },
    model: () => ({ text: 'Understood.' }),
  });
  const { sandbox } = stage;
  const many = Array.from({ length: 20 }, (_, index) => `person${index}`);
  for (const name of many) await sandbox.addPerson({ name });
  const signals = watchSignals();
  const allSay = (text: string) =>
    Promise.all(many.map((as) => sandbox.say({ as, in: '#general', text, mentionBot: true })));
  const fromBot = async (part: string): Promise<number> =>
    (await sandbox.messages({ in: '#general', from: 'bot' })).filter(({ text }) => text.includes(part))
      .length;
  await allSay('I like tea.');
  await expect.poll(() => fromBot('Understood.')).toBe(many.length);
  // Over the limit now, all of them wait.
  await allSay('I like coffee.');
  await expect.poll(() => fromBot('⏳')).toBe(many.length);
  expect(signals.size).toBeGreaterThan(many.length);
  await stage.stopBot();
  await expect.poll(() => [...signals].flatMap((signal) => getEventListeners(signal, 'abort'))).toEqual([]);
  expect(warnings).toEqual([]);
});
