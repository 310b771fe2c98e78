import { expect, it } from 'vitest';

import { ModelError, type ModelFailure } from '../../../src/core/errors.ts';
import { noUsage, textOf } from '../../../src/core/model.ts';
import { createExtraction } from '../../../src/memory/durable/extraction.ts';
import type { CaptureMode } from '../../../src/memory/settings/person-settings.ts';
import { aliceId, generalId } from '../../support/incoming.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { inZone, openSessions, session, type Sessions } from '../../support/sessions.ts';

/** A step whose model fails as told, call by call, and finds nothing otherwise. */
function stepThatFails(...failures: readonly (ModelFailure | undefined)[]) {
  return stepOver(openSessions(), [], failures);
}

function stepOver(
  sessions: Sessions,
  calls: string[][],
  failures: readonly (ModelFailure | undefined)[] = [],
  mode: CaptureMode = 'auto',
) {
  const logger = recordingLogger();
  const fold = createExtraction({
    model: {
      complete({ messages }) {
        const failure = failures[calls.length];
        const told = messages.map(({ content }) => textOf(content)).join('');
        calls.push(Array.from(told.matchAll(/ Alice: (.*)/gu), ([, text = '']) => text));
        if (failure !== undefined) return Promise.reject(new ModelError(failure, failure));
        return Promise.resolve({ content: [{ type: 'text', text: '[]' }], stop: 'end', usage: noUsage });
      },
    },
    modelName: 'haiku',
    withPauses: (_, work) => work(),
    timeZoneOf: inZone('UTC'),
    durable: { remember: () => Promise.reject(new Error('Nothing is found')) },
    sessionLog: sessions.log,
    states: sessions.states,
    modeOf: () => Promise.resolve(mode),
    logger,
  });
  const run = () => fold(aliceId, [session], new AbortController().signal);
  return { ...sessions, logger, calls, run };
}

it('skips messages after three unusable answers', async () => {
  const { say, run, calls, logger } = stepThatFails('invalid', 'invalid', 'invalid');
  await say('poison');
  await expect(run()).rejects.toThrow('invalid');
  await expect(run()).rejects.toThrow('invalid');
  expect(logger.warnings).toEqual([]);
  await run();
  expect(logger.warnings).toHaveLength(1);
  await say('later');
  await run();
  expect(calls).toEqual([['poison'], ['poison'], ['poison'], ['later']]);
});

it('keeps trying while the model cannot be reached', async () => {
  const { say, run, calls } = stepThatFails('unavailable', 'unavailable', 'unavailable', 'timeout');
  await say('hello');
  for (let attempt = 0; attempt < 4; attempt += 1)
    await expect(run()).rejects.toThrow(/unavailable|timeout/u);
  await run();
  expect(calls).toHaveLength(5);
});

it('looks once more at a message that was edited since, in its new words, also after a restart [G5]', async () => {
  const { say, run, calls, log, store } = stepThatFails();
  const context = await say('I live in Oslo');
  await say('I keep bees');
  await run();
  await log.edit(generalId, context.messages[0]?.id ?? '', 'I live in Riga', aliceId);
  const restarted = stepOver(openSessions(store), calls);
  await restarted.run();
  await restarted.run();
  expect(calls).toEqual([['I live in Oslo', 'I keep bees'], ['I live in Riga']]);
});

it('gives the model nothing to look through of a person who wants nothing noticed [K9]', async () => {
  const { say, run, calls } = stepOver(openSessions(), [], [], 'off');
  await say('I live in Oslo');
  await run();
  expect(calls).toEqual([]);
});

it('looks at nothing that was deleted since, and at no answer', async () => {
  const { say, answer, run, calls, log } = stepThatFails();
  const context = await say('I live in Oslo');
  const ids = await answer(context, 'Oslo!');
  await run();
  await log.remove(generalId, [...context.messages.map(({ id }) => id), ...ids]);
  await run();
  expect(calls).toEqual([['I live in Oslo']]);
});
