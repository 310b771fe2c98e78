import { describe, expect, it } from 'vitest';

import { ModelError, StoreError } from '../../src/core/errors.ts';
import type { TurnContext } from '../../src/core/turn-context.ts';
import { createChannelJournal } from '../../src/turn/channel-journal.ts';
import { keptBackLine } from '../../src/turn/failure-line.ts';
import { createTurnRunner } from '../../src/turn/turn-runner.ts';
import type { AnswerTurn, TurnRunnerOptions } from '../../src/turn/turn-runner.ts';
import { generalId, incoming, publicPlace } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { secretPlace } from '../support/sessions.ts';

/** A runner between fakes that note in which order they were used. */
function runnerWith(answer: AnswerTurn, changes: Partial<TurnRunnerOptions> = {}) {
  const steps: string[] = [];
  const store = new MemoryStore();
  const journal = createChannelJournal({ store });
  const logger = recordingLogger();
  const run = createTurnRunner({
    answer: (context, signal, listener) => {
      steps.push('model');
      return answer(context, signal, listener);
    },
    journal,
    sessionLog: {
      recordUser: ({ messages }) => Promise.resolve(void steps.push(`log ${messages.length}`)),
      recordReply: (_, { text }) => Promise.resolve(void steps.push(`log reply ${text}`)),
    },
    afterTurn: { schedule: () => steps.push('after turn') },
    replies: {
      typing: () => () => steps.push('typing ends'),
      send: async (_channel, text, nonceBase, beforeSeen) => {
        steps.push(`send ${text} as ${nonceBase.slice(-2)}`);
        await beforeSeen?.('900000000000000001');
        return ['900000000000000001'];
      },
    },
    presentPlace: (place) => Promise.resolve(place),
    clock: () => new Date('2026-01-15T10:00:00Z'),
    logger,
    makeReference: () => 'abc123',
    ...changes,
  });
  return { run, steps, journal, logger };
}

const message = incoming({ id: '400000000000000011' });
const never = new AbortController().signal;
const full = () => Promise.reject(new StoreError('full', 'log'));

describe('a turn', () => {
  it('logs the message, asks the model, sends, logs the reply, and only then does what comes after', async () => {
    const { run, steps, journal } = runnerWith(() => Promise.resolve({ text: 'Hi.', stop: 'whole' }));
    await run([incoming({ id: '400000000000000010' }), message], never);
    expect(steps).toEqual(['log 2', 'model', 'send Hi. as 11', 'log reply Hi.', 'typing ends', 'after turn']);
    expect(await journal.isHandled(generalId, '400000000000000010')).toBe(true);
    expect(await journal.unsent(generalId)).toEqual([]);
  });

  it('that fails says one clear line with the reference that the log has, which is no part of history', async () => {
    const { run, steps, journal, logger } = runnerWith(() =>
      Promise.reject(new ModelError('529 overloaded_error', 'overloaded')),
    );
    await run([message], never);
    const sent = steps.find((step) => step.startsWith('send')) ?? '';
    expect(sent).toContain('(reference abc123)');
    expect(sent).not.toContain('529');
    expect(steps.some((step) => step.startsWith('log reply'))).toBe(false);
    expect(await journal.isHidden(generalId, '900000000000000001')).toBe(true);
    expect(await journal.isHandled(generalId, message.id)).toBe(true);
    expect(logger.lines.some(({ data }) => data?.['reference'] === 'abc123')).toBe(true);
  });

  it('says under the reply what was done, each thing once, and logs no word of that as its own', async () => {
    const { run, steps, journal } = runnerWith((_context, _signal, { onNote }) => {
      for (const note of ['📌 pinned', '📌 pinned', '➡️ sent to #dev']) onNote(note);
      return Promise.resolve({ text: 'Done.', stop: 'whole' });
    });
    await run([message], never);
    expect(steps.slice(2, 5)).toEqual([
      'send Done. as 11',
      'log reply Done.',
      'send -# 📌 pinned · ➡️ sent to #dev as 1e',
    ]);
    expect(await journal.isHidden(generalId, '900000000000000001')).toBe(true);
  });

  it('says what was done also where the answer failed', async () => {
    const { run, steps } = runnerWith((_context, _signal, { onNote }) => {
      onNote('📌 pinned');
      return Promise.reject(new ModelError('slow', 'timeout'));
    });
    await run([message], never);
    expect(steps.find((step) => step.startsWith('send'))).toMatch(/reference abc123\)\n-# 📌 pinned/u);
  });

  it('that broke off gives the part that came, and a mark under another nonce', async () => {
    const { run, steps } = runnerWith(() =>
      Promise.reject(new ModelError('cut', 'broken', { partialText: 'Half of ' })),
    );
    await run([message], never);
    const sent = steps.filter((step) => step.startsWith('send'));
    expect(sent[0]).toBe('send Half of as 11');
    expect(sent[1]).toContain('broke off');
    expect(sent[1]).toMatch(/as 1e$/u);
    expect(steps).toContain('log reply Half of');
  });

  it('that waited until its channel became public is answered for the public, and logged as it was said', async () => {
    const contexts: TurnContext[] = [];
    const logged: TurnContext[] = [];
    const log = (context: TurnContext) => Promise.resolve(void logged.push(context));
    const { run, steps } = runnerWith(
      (context) => {
        contexts.push(context);
        return Promise.resolve({ text: 'Hi.', stop: 'whole' });
      },
      {
        presentPlace: () => Promise.resolve(publicPlace),
        sessionLog: { recordUser: log, recordReply: log },
      },
    );
    await run([incoming({ place: secretPlace })], never);
    expect(contexts).toMatchObject([{ place: publicPlace, saidIn: secretPlace }]);
    expect(logged.map(({ place }) => place)).toEqual([secretPlace, secretPlace]);
    expect(steps).toContain('send Hi. as 01');
  });

  it.each(['whole', 'broken off'])(
    'keeps back an answer, %s, while whose making the channel became public',
    async (kind) => {
      let present = secretPlace;
      const { run, steps, journal } = runnerWith(
        () => {
          present = publicPlace;
          return kind === 'whole'
            ? Promise.resolve({ text: 'The secret.', stop: 'whole' })
            : Promise.reject(new ModelError('cut', 'broken', { partialText: 'The secret' }));
        },
        { presentPlace: () => Promise.resolve(present) },
      );
      await run([incoming({ place: secretPlace })], never);
      expect(steps.filter((step) => step.startsWith('send'))).toEqual([`send ${keptBackLine} as 01`]);
      expect(steps.some((step) => step.startsWith('log reply'))).toBe(false);
      expect(await journal.unsent(generalId)).toEqual([]);
      expect(await journal.isHidden(generalId, '900000000000000001')).toBe(true);
      expect(await journal.isHandled(generalId, '400000000000000001')).toBe(true);
    },
  );

  it('that was aborted sends nothing and stays unhandled', async () => {
    const abort = new AbortController();
    const { run, steps, journal } = runnerWith(() => {
      abort.abort();
      return Promise.reject(new ModelError('aborted', 'aborted'));
    });
    await run([message], abort.signal);
    expect(steps.some((step) => step.startsWith('send'))).toBe(false);
    expect(await journal.isHandled(generalId, message.id)).toBe(false);
  });

  it('goes on where the disk refuses', async () => {
    const { run, steps } = runnerWith(() => Promise.resolve({ text: 'Hi.', stop: 'whole' }), {
      sessionLog: { recordUser: full, recordReply: full },
    });
    await run([message], never);
    expect(steps).toContain('send Hi. as 11');
  });

  it('of another bot is answered, and nothing is made of it afterwards', async () => {
    const contexts: TurnContext[] = [];
    const { run, steps } = runnerWith((context) => {
      contexts.push(context);
      return Promise.resolve({ text: 'Hi.', stop: 'whole' });
    });
    await run([incoming({ author: { id: '600000000000000001', name: 'Dyno', kind: 'bot' } })], never);
    expect(contexts[0]?.speaker.isBot).toBe(true);
    expect(steps).toContain('send Hi. as 01');
    expect(steps).not.toContain('after turn');
  });
});
