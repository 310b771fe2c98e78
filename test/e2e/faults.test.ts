import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { MessagesBody } from '../support/model-server.ts';
import { eventually } from '../support/eventually.ts';
import { halfText, type ModelAnswer } from '../support/model-answer.ts';
import { openStage, type Stage } from './stage.ts';
import { withFooter } from './footers.ts';

const referenceIn = (text: string): string => /\(reference ([0-9a-f]+)\)/.exec(text)?.[1] ?? 'none';

/** The words of the message that is to be answered now: the end of the prompt. */
function askedIn(body: MessagesBody): string {
  return body.messages?.at(-1)?.content.at(-1)?.text ?? '';
}

describe.concurrent('a model that fails [E1]', () => {
  /** What the model does whenever it is asked "Please <name>". */
  const failures: Readonly<Record<string, ModelAnswer>> = {
    'limit the rate': { status: 429 },
    'be overloaded': { status: 529 },
    'break down': { status: 500 },
    'keep silent': 'silent',
    'send a page': 'html',
    'say nothing': 'empty',
    refuse: 'refusal',
    'stall half-way': 'stall',
    'hang up half-way': 'cut',
  };
  const saysNothing = Object.keys(failures).filter((name) => !name.endsWith('half-way'));
  const saysHalf = Object.keys(failures).filter((name) => name.endsWith('half-way'));
  /** How often each "Recover from <status>" was answered. */
  const asked = new Map<string, number>();

  function answer(body: MessagesBody): ModelAnswer {
    const words = askedIn(body);
    const failure = Object.entries(failures).find(([name]) => words.includes(`Please ${name}`));
    if (failure !== undefined) return failure[1];
    const status = /Recover from (\d+)/.exec(words)?.[1];
    if (status === undefined) return { text: 'All is well again.' };
    const times = (asked.get(status) ?? 0) + 1;
    asked.set(status, times);
    return times <= 2 ? { status: Number(status) } : { text: `Recovered from ${status}.` };
  }

  let stage: Stage;
  const dms = new Map<string, string>();
  beforeAll(async () => {
    stage = await openStage({
      model: answer,
      environment: {
        DISCOCLAW_SUMMARY_ENABLED: 'false',
        DISCOCLAW_MODEL_CONCURRENCY: '20',
        DISCOCLAW_MODEL_IDLE_TIMEOUT_MS: '1500',
        DISCOCLAW_MODEL_TIMEOUT_MS: '10000',
      },
    });
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  /** Each case has a person of its own, so that all of them can wait at the same time. */
  async function newcomer(title: string): Promise<string> {
    const name = title.replaceAll(/\W/g, '_');
    const person = await stage.sandbox.addPerson({ name });
    dms.set(person.name, person.id);
    return person.name;
  }

  async function logOf(name: string): Promise<string> {
    const dm = await stage.sandbox.openDm({ person: name });
    return stage.readFile(`data/sessions/${dm.id}/${dms.get(name) ?? ''}/messages.jsonl`);
  }

  describe('while it lasts', () => {
    it.each(saysNothing)('gets one clear line with a reference when it happens to %s', async (failure) => {
      const person = await newcomer(failure);
      const line = await stage.ask(person, 'dm', `Please ${failure}`);
      expect(line.text).toMatch(/^⚠️ [^\n]+ \(reference [0-9a-f]+\)$/);
      expect(stage.bot().output()).toContain(`"reference":"${referenceIn(line.text)}"`);

      const again = await stage.ask(person, 'dm', 'And now?');
      expect(again.text).toBe('All is well again.');
      const prompt = promptTo(person, 'And now?');
      expect(prompt).toContain(`Please ${failure}`);
      expect(prompt).not.toContain('⚠️');
      expect(prompt).not.toContain(referenceIn(line.text));
      const log = await logOf(person);
      expect(log).toContain(`Please ${failure}`);
      expect(log).not.toContain('⚠️');
      const said = await stage.sandbox.messages({ in: line.channelId, from: 'bot' });
      expect(said.map(({ text }) => text)).toEqual([line.text, 'All is well again.']);
    });

    it.each(saysHalf)('shows the part that came, marked, when it happens to %s', async (failure) => {
      const person = await newcomer(failure);
      const part = await stage.ask(person, 'dm', `Please ${failure}`);
      const mark = await withFooter(stage, part, 'broke off');
      expect(mark.text.split('\n-# ')).toEqual([
        halfText.trim(),
        expect.stringMatching(/^⚠️ My answer broke off here\. .*\(reference [0-9a-f]+\)$/),
      ]);
      expect(stage.bot().output()).toContain(`"reference":"${referenceIn(mark.text)}"`);

      await stage.ask(person, 'dm', 'Go on');
      const prompt = promptTo(person, 'Go on');
      expect(prompt).toContain(halfText.trim());
      expect(prompt).not.toContain('⚠️');
      expect(await logOf(person)).not.toContain('⚠️');
    });
  });

  function promptTo(person: string, words: string): string {
    const found = stage.model.requests.find(({ body }) => {
      const last = askedIn(body);
      return last.includes(words) && last.includes(person);
    });
    return JSON.stringify(found?.body.messages);
  }
});

describe.concurrent('a fast model that fails [E2]', () => {
  it('shows nothing of it, keeps what there was, and is tried again', async () => {
    let fast: ModelAnswer = { text: 'Alice likes green tea.' };
    await using stage = await openStage({
      model: (body) => (body.model?.includes('haiku') === true ? fast : { text: 'Certainly.' }),
      environment: {
        DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
        DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
        DISCOCLAW_MODEL_TIMEOUT_MS: '3000',
        DISCOCLAW_MODEL_IDLE_TIMEOUT_MS: '1500',
      },
    });
    const shown = async (): Promise<string> => (await stage.ask('alice', 'dm', '!memory show')).text;
    const fastCalls = (): number =>
      stage.model.requests.filter(({ body }) => body.model?.includes('haiku') === true).length;

    await stage.ask('alice', 'dm', 'I like green tea');
    await eventually(async () => expect(await shown()).toContain('Alice likes green tea.'));
    const failing: readonly ModelAnswer[] = [
      { status: 500 },
      'html',
      'empty',
      'refusal',
      'max_tokens',
      'cut',
      { json: { items: 'three of them' } },
    ];
    // What fails pauses until a restart at most [M16].
    const again = async () => stage.stopBot().then(() => stage.startBot());
    const words: string[] = [];
    const kept: string[] = [];
    for (const [index, failure] of failing.entries()) {
      fast = failure;
      const before = fastCalls();
      await again();
      const reply = await stage.ask('alice', 'dm', `I own ${index} teapots`);
      words.push(reply.text);
      await eventually(() => expect(fastCalls()).toBeGreaterThan(before));
      kept.push(await shown());
    }
    for (const memory of kept) expect(memory).toContain('Alice likes green tea.');
    expect(new Set(words)).toEqual(new Set(['Certainly.']));
    expect(await shown()).toContain('Durable memory (0 items):');

    fast = { text: 'Alice owns teapots.' };
    await again();
    await stage.ask('alice', 'dm', 'One more thing');
    await eventually(async () => expect(await shown()).toContain('Alice owns teapots.'));
    const dm = await stage.sandbox.messages({ in: '@alice', from: 'bot' });
    expect(dm.filter(({ text }) => text.includes('⚠️'))).toEqual([]);
  });
});

it('a rejection that nobody handles is named in the log, and ends nothing [L5]', async () => {
  await using stage = await openStage({ model: () => ({ text: 'Still here.' }) });
  // As soon as somebody listens for it; NODE_OPTIONS takes no spaces.
  const rejecting =
    "data:text/javascript,process.on('newListener',n=>n==='unhandledRejection'&&setTimeout(()=>Promise.reject(Error('stray')),9))";
  const bot = await stage.startBuilt({ NODE_OPTIONS: `--import ${rejecting}` });
  await bot.waitFor('a rejection that nobody handles');
  expect((await stage.ask('alice', 'dm', 'Are you there?')).text).toContain('Still here.');
});
