import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { MessagesBody } from '../support/model-server.ts';
import { eventually } from '../support/eventually.ts';
import { halfText, type ModelAnswer } from '../support/model-answer.ts';
import { openStage, type Stage } from './stage.ts';
import { withFooter } from './footers.ts';

/** The words of the message that is to be answered now: the end of the prompt. */
function askedIn(body: MessagesBody): string {
  return body.messages?.at(-1)?.content.at(-1)?.text ?? '';
}

const isHalf = (name: string): boolean => ['stall', 'cut'].includes(name);

describe.concurrent('a model that fails [E1]', () => {
  /** What the model does whenever it is asked "Please <name>". */
  const failures: Readonly<Record<string, ModelAnswer>> = {
    overload: { status: 529 },
    silence: 'silent',
    page: 'html',
    nothing: 'empty',
    refusal: 'refusal',
    stall: 'stall',
    cut: 'cut',
  };

  function answer(body: MessagesBody): ModelAnswer {
    const failure = /Please (\w+)/.exec(askedIn(body))?.[1] ?? '';
    return failures[failure] ?? { text: 'All is well again.' };
  }

  let stage: Stage;
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

  // Each case has a person of its own, so that all of them can wait at the same time.
  it.each(Object.keys(failures))(
    'gets one clear line with a reference, under the part that came, and neither is remembered: %s',
    async (failure) => {
      const { name, id } = await stage.sandbox.addPerson({ name: `asks-for-${failure}` });
      const { id: dm } = await stage.sandbox.openDm({ person: name });
      const answered = await stage.ask(name, 'dm', `Please ${failure}`);
      const { text } = isHalf(failure) ? await withFooter(stage, answered, 'broke off') : answered;
      expect(text.split('\n-# ')).toEqual([
        ...(isHalf(failure) ? [halfText.trim()] : []),
        expect.stringMatching(/^⚠️ [^\n]+ \(reference [0-9a-f]+\)$/),
      ]);
      const reference = /\(reference ([0-9a-f]+)\)/.exec(text)?.[1] ?? 'none';
      await stage.bot().waitFor(`"reference":"${reference}"`);

      expect((await stage.ask(name, 'dm', 'And now?')).text).toBe('All is well again.');
      const call = stage.model.requests.find(({ body }) => {
        const last = askedIn(body);
        return last.includes('And now?') && last.includes(name);
      });
      const log = await stage.readFile(`data/sessions/${dm}/${id}/messages.jsonl`);
      for (const remembered of [JSON.stringify(call?.body.messages), log]) {
        expect(remembered).toContain(`Please ${failure}`);
        expect(remembered.includes(halfText.trim())).toBe(isHalf(failure));
        expect(remembered).not.toContain('⚠️');
        expect(remembered).not.toContain(reference);
      }
    },
  );
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
    const failing: readonly ModelAnswer[] = ['html', 'max_tokens', { json: { items: 'three of them' } }];
    // What fails pauses until a restart at most [M16].
    const again = () => stage.restart();
    const words: string[] = [];
    for (const failure of failing) {
      fast = failure;
      const before = fastCalls();
      await again();
      words.push((await stage.ask('alice', 'dm', 'I own a teapot')).text);
      await eventually(() => expect(fastCalls()).toBeGreaterThan(before));
      expect(await shown()).toContain('Alice likes green tea.');
    }
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
