import { setImmediate, setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it, vi } from 'vitest';

import { ModelError } from '../../src/core/errors.ts';
import { noUsage, type ModelRequest } from '../../src/core/model.ts';
import type { Place } from '../../src/core/place.ts';
import type { Tool } from '../../src/core/tool.ts';
import { type TurnContext, ownMark } from '../../src/core/turn-context.ts';
import type { Consent } from '../../src/memory/settings/person-settings.ts';
import type { TurnPorts } from '../../src/turn/run-turn.ts';
import { createKeyedQueue } from '../../src/core/keyed-queue.ts';
import { keptBackLine, stoppedLine } from '../../src/turn/reply.ts';
import { TurnControl } from '../../src/turn/sessions.ts';
import { deferred } from '../support/deferred.ts';
import { fakeReplies } from '../support/fake-replies.ts';
import { generalId, incoming, publicPlace } from '../support/incoming.ts';
import { secretPlace } from '../support/sessions.ts';
import { settle, turnWith, type AnswerTurn, type TurnChanges } from './turn-harness.ts';

const message = incoming({ id: '400000000000000011' });
const hi: AnswerTurn = () => Promise.resolve({ text: 'Hi.', stop: 'whole' });
const sends = (steps: readonly string[]) => steps.filter((step) => step.startsWith('send'));
const logs = (steps: readonly string[]) => steps.filter((step) => step.startsWith('log'));

/** A model that has said the beginning when `meanwhile` happens, and then waits until it is told to end. */
function sayingHalf(meanwhile: () => unknown): AnswerTurn {
  return async (_, signal, { onText }) => {
    onText('Half of ');
    await settle();
    meanwhile();
    if (!signal.aborted) return { text: 'Half of it is whole.', stop: 'whole' };
    throw new ModelError('aborted', 'aborted', { partialText: 'Half of ' });
  };
}

const overLimit =
  (partialText: string): AnswerTurn =>
  () =>
    Promise.reject(new ModelError('too much', 'over-limit', { partialText }));

const failing: AnswerTurn = (_context, _signal, { onOffer }) => {
  onOffer('Pin it.');
  return Promise.reject(new ModelError('cut', 'broken', { partialText: 'Half of ' }));
};

const noting: AnswerTurn = (_context, _signal, { onNote }) => {
  onNote('it');
  return Promise.resolve({ text: 'Hi.', stop: 'whole' });
};

const offering: AnswerTurn = (_context, _signal, { onOffer }) => {
  onOffer('Pin it.');
  return Promise.resolve({ text: 'Shall I?', stop: 'whole' });
};

describe('a turn', () => {
  it('logs the message, asks the model, sends, logs the reply, and only then does what comes after [F4]', async () => {
    const { run, steps, outbox } = turnWith(hi);
    await run([incoming({ id: '400000000000000010' }), message]);
    expect(steps).toEqual(['log 2', 'model', 'send Hi. as 11', 'log reply Hi.', 'typing ends', 'after turn']);
    expect(await outbox.isHandled(generalId, '400000000000000010')).toBe(true);
    expect(await outbox.unsent(generalId)).toEqual([]);
  });

  it.each([
    [0.01, 0.02],
    [undefined, undefined],
  ])(
    'notes what all its calls took and cost, each %s dollars, and how much tools gave [Y2a]',
    async (each, all) => {
      const record = vi.fn<TurnPorts['provenance']['record']>();
      const ports = { model: { costOf: () => each }, provenance: { record, sent: () => {} } };
      await turnWith(noting, ports).run();
      const [, , , size] = record.mock.lastCall ?? [];
      expect(size).toMatchObject({ maxChars: 1000, usage: { inputTokens: 2, outputTokens: 2 } });
      expect(size?.cost).toBe(all);
      expect(size?.parts.map(({ name }) => name)).toEqual(['tools', 'tool_results']);
      expect(size?.parts[1]?.characters).toBe('done'.length);
    },
  );

  it('does not call the model before the words are on disk, however long that takes [F4]', async () => {
    const written = deferred<void>();
    const { run, steps } = turnWith(hi, {
      log: { recordUser: () => written.promise, recordReply: () => Promise.resolve(true) },
    });
    const turn = run();
    for (let turns = 0; turns < 20; turns += 1) await setImmediate();
    expect(steps).toEqual([]);
    written.resolve(undefined);
    await turn;
    expect(steps.slice(0, 2)).toEqual(['model', 'send Hi. as 11']);
  });

  it('that fails says one clear line with the reference that the log has, outside of history', async () => {
    const { run, steps, outbox, logger } = turnWith(() =>
      Promise.reject(new ModelError('529 overloaded_error', 'overloaded')),
    );
    await run();
    const sent = steps.find((step) => step.startsWith('send')) ?? '';
    expect(sent).toContain('(reference abc123)');
    expect(sent).not.toContain('529');
    expect(steps.some((step) => step.startsWith('log reply'))).toBe(false);
    expect(await outbox.isHidden(generalId, '900000000000000001')).toBe(true);
    expect(await outbox.isHandled(generalId, message.id)).toBe(true);
    expect(logger.lines.some(({ data }) => data?.['reference'] === 'abc123')).toBe(true);
  });

  it('says under the reply what was done, each thing once, and logs no word of that as its own', async () => {
    const { run, steps } = turnWith((_context, _signal, { onNote }) => {
      for (const note of ['📌 pinned', '📌 pinned', '➡️ sent to #dev']) onNote(note);
      return Promise.resolve({ text: 'Done.', stop: 'whole' });
    });
    await run();
    expect(steps.slice(2, 4)).toEqual([
      'send Done.\n-# 📌 pinned · ➡️ sent to #dev as 11',
      'log reply Done.',
    ]);
    expect(sends(steps)).toHaveLength(1);
  });

  it('shows what was offered once the answer is there, three things at most and each once [M8]', async () => {
    const { run, steps, outbox } = turnWith((_context, _signal, { onNote, onOffer }) => {
      onNote('📌 pinned');
      for (const what of ['Pin it.', 'Pin it.', 'Send it.', 'Forget it.', 'Poll it.']) onOffer(what);
      return Promise.resolve({ text: 'Shall I?', stop: 'whole' });
    });
    await run();
    expect(steps.filter((step) => /^(?:send|offer)/u.test(step))).toEqual([
      'send Shall I?\n-# 📌 pinned as 11',
      'offer Pin it. · Send it. · Forget it.',
    ]);
    expect(await outbox.isHidden(generalId, '900000000000000009')).toBe(true);
  });

  it('carries out what was offered only as long as nobody else reads along, and where it is not switched off [V2][M8]', async () => {
    let readers: Place = { ...publicPlace, audience: 'private', readers: [] };
    let areActionsOff = false;
    const { run, shownOffers } = turnWith(offering, {
      presentPlace: () => Promise.resolve(readers),
      settings: {
        isMemoryOff: () => Promise.resolve(false),
        areActionsOff: () => Promise.resolve(areActionsOff),
      },
    });
    await run([{ ...message, place: readers }]);
    const press = () => shownOffers[0]?.carryOut(new AbortController().signal);
    expect(await press()).toBe('did Pin it.');
    areActionsOff = true;
    expect(await press()).toMatch(/^Not done: actions are switched off/u);
    areActionsOff = false;
    readers = publicPlace;
    expect(await press()).toMatch(/^Not done: this channel became visible to more people/u);
  });

  it('over a limit on cost gives one line, or none if it was shown a moment ago, and counts as handled [L2]', async () => {
    for (const [partialText, line, sent] of [
      ['', 'Used up.', ['send Used up. as 11']],
      ['', undefined, []],
      ['Half of ', 'Used up.', ['send Half of\n-# Used up. as 11']],
    ] as const) {
      const asked: boolean[] = [];
      const limits = {
        costLine: (_: string, isNeeded: boolean) => {
          asked.push(isNeeded);
          return line;
        },
      };
      const { run, steps, outbox, logger } = turnWith(overLimit(partialText), { limits });
      expect(await run()).toBe(partialText === '' ? 'explained' : 'answered');
      expect(sends(steps)).toEqual(sent.filter((step) => step.startsWith('send')));
      expect(asked).toEqual([partialText !== '']);
      expect(await outbox.isHandled(generalId, message.id)).toBe(true);
      expect(logger.errors).toEqual([]);
    }
  });

  it('that waited until its channel became public is answered for the public, and logged as it was said', async () => {
    const contexts: TurnContext[] = [];
    const logged: TurnContext[] = [];
    const record = (context: TurnContext) => Promise.resolve(void logged.push(context));
    const { run, steps } = turnWith(
      (context) => {
        contexts.push(context);
        return Promise.resolve({ text: 'Hi.', stop: 'whole' });
      },
      {
        presentPlace: () => Promise.resolve(publicPlace),
        log: { recordUser: record, recordReply: (context) => record(context).then(() => true) },
      },
    );
    await run([incoming({ place: secretPlace })]);
    expect(contexts).toMatchObject([{ place: publicPlace, originalPlace: secretPlace }]);
    expect(logged.map(({ place }) => place)).toEqual([secretPlace, secretPlace]);
    expect(steps).toContain('send Hi. as 01');
  });

  it('logs and keeps ready an answer with the newest mark of prompt and tools, its own where either shows others’ words themselves [M5a]', async () => {
    const [earlier, later] = ['1461000000000000001', '1461000000000000002'];
    for (const [isInPrompt, called, expected] of [
      [false, [], undefined],
      [true, [], ownMark],
      [false, [earlier], earlier],
      [false, [later, earlier], later],
      [false, [earlier, ownMark], ownMark],
      [false, [ownMark, earlier], ownMark],
    ] as const) {
      const logged: unknown[] = [];
      const shows: Tool = {
        definition: { name: 'note', description: 'Shows', inputSchema: { type: 'object' } },
        run: (mark) => Promise.resolve({ ok: true, text: 'x', thirdPartyMark: String(mark) }),
      };
      const { run, outbox } = turnWith(
        (_context, _signal, { onNote }) => {
          for (const mark of called) onNote(mark);
          return Promise.resolve({ text: 'Hi.', stop: 'whole' });
        },
        {
          tools: { actions: [shows] },
          log: {
            recordUser: () => Promise.resolve(),
            recordReply: (_, reply) => Promise.resolve(logged.push(reply.thirdPartyMark) > 0),
          },
        },
        isInPrompt,
      );
      const prepare = vi.spyOn(outbox, 'prepare');
      await run();
      expect(logged).toEqual([expected]);
      expect(prepare.mock.calls[0]?.[0].thirdPartyMark).toBe(expected);
    }
  });

  it.each(['whole', 'broken off'])(
    'keeps back an answer, %s, while whose making the channel became public',
    async (kind) => {
      let present = secretPlace;
      const { run, steps, outbox } = turnWith(
        () => {
          present = publicPlace;
          return kind === 'whole'
            ? Promise.resolve({ text: 'The secret.', stop: 'whole' })
            : Promise.reject(new ModelError('cut', 'broken', { partialText: 'The secret' }));
        },
        { presentPlace: () => Promise.resolve(present) },
      );
      await run([incoming({ place: secretPlace })]);
      expect(sends(steps)).toEqual([`send ${keptBackLine} as 01`]);
      expect(steps.some((step) => step.startsWith('log reply'))).toBe(false);
      expect(await outbox.unsent(generalId)).toEqual([]);
      expect(await outbox.isHidden(generalId, '900000000000000001')).toBe(true);
      expect(await outbox.isHandled(generalId, '400000000000000001')).toBe(true);
    },
  );

  it('that the bot’s end cuts off before anything was shown sends nothing and stays unhandled', async () => {
    const { run, steps, outbox } = turnWith(() => {
      control.end('shutdown');
      return Promise.reject(new ModelError('aborted', 'aborted'));
    });
    const control = new TurnControl();
    await run([message], control);
    expect(steps.some((step) => step.startsWith('send'))).toBe(false);
    expect(await outbox.isHandled(generalId, message.id)).toBe(false);
  });
});

const pinning: AnswerTurn = (_context, _signal, { onNote }) => {
  onNote('📌 pinned');
  return Promise.resolve({ text: 'Done.', stop: 'whole' });
};

describe('the answer of a turn while it grows', () => {
  const replyId = '900000000000000001';

  it('is shown as it comes, known to the outbox and no part of history until it is whole and logged', async () => {
    const seen: boolean[] = [];
    const { run, steps, outbox } = turnWith(async (_context, _signal, { onText }) => {
      onText('One');
      onText('One two');
      await settle();
      seen.push(await outbox.isHidden(generalId, replyId), await outbox.isUnfinished(generalId, message.id));
      return { text: 'One two three', stop: 'whole' };
    });
    await run();
    const after = ['send One two three as 11', 'log reply One two three', 'typing ends', 'after turn'];
    expect(steps).toEqual(['log 1', 'model', 'show One', 'show One two', ...after]);
    expect(seen).toEqual([true, true]);
    expect(await outbox.isHidden(generalId, replyId)).toBe(false);
    expect(await outbox.isUnfinished(generalId, message.id)).toBe(false);
  });

  it.each(['deleted', 'erased'] as const)(
    'goes, with its footer, where its question was %s while it was posted [G5]',
    async (ending) => {
      const control = new TurnControl();
      const steps: string[] = [];
      const note = (step: string): void => {
        steps.push(step);
        if (step.includes('📌')) control.end(ending);
      };
      await turnWith(pinning, { replies: fakeReplies({ note }) }).run([message], control);
      expect(steps.slice(-3)).toEqual(['send Done.\n-# 📌 pinned as 11', 'withdraw', 'typing ends']);
    },
  );

  it.each([
    ['Half of', ['show Half of ', `send Half of\n-# ${stoppedLine} as 11`, 'log reply Half of']],
    ['', [`send ${stoppedLine} as 11`]],
  ])('that its author stops keeps what came, "%s", and a line says so', async (came, expected) => {
    const control = new TurnControl();
    const half = sayingHalf(() => control.end('stopped'));
    const { run, steps, outbox } = turnWith(half);
    if (came === '') control.end('stopped');
    await run([message], control);
    expect(steps.filter((step) => /^(?:show|send|log reply|withdraw)/u.test(step))).toEqual(expected);
    expect(await outbox.isHandled(generalId, message.id)).toBe(true);
    expect(await outbox.unsent(generalId)).toEqual([]);
  });

  it.each(['deleted', 'reply-deleted'] as const)(
    'is taken away and nowhere logged when the turn ends because of what was %s',
    async (ending) => {
      const control = new TurnControl();
      const { run, steps, outbox } = turnWith(sayingHalf(() => control.end(ending)));
      await run([message], control);
      expect(steps).toEqual(['log 1', 'model', 'show Half of ', 'withdraw', 'typing ends', 'after turn']);
      expect(await outbox.isHandled(generalId, message.id)).toBe(true);
      expect(await outbox.unfinished(generalId)).toEqual([]);
    },
  );

  it('is taken away, and a line says why, when the channel becomes public', async () => {
    let present = secretPlace;
    const { run, steps } = turnWith(
      sayingHalf(() => {
        present = publicPlace;
      }),
      { presentPlace: () => Promise.resolve(present) },
    );
    await run([incoming({ place: secretPlace })]);
    const shown = steps.filter((step) => /^(?:show|send|log reply|withdraw)/u.test(step));
    expect(shown).toEqual(['show Half of ', 'withdraw', `send ${keptBackLine} as 1e`]);
  });

  it('stays, marked, when the bot must end', async () => {
    const control = new TurnControl();
    const { run, steps, outbox } = turnWith(sayingHalf(() => control.end('shutdown')));
    await run([message], control);
    expect(steps.some((step) => /^send Half of\n-# .*broke off.* as 11$/u.test(step))).toBe(true);
    expect(await outbox.isHandled(generalId, message.id)).toBe(true);
  });

  it('stays, marked, when the model refuses to go on [M7]', async () => {
    const { run, steps } = turnWith(() => Promise.resolve({ text: 'Half of', stop: 'refusal' }));
    await run([message]);
    expect(sends(steps)).toEqual([expect.stringMatching(/^send Half of\n-# .*broke off.* as 11$/u)]);
  });

  it('goes on in the messages that stand there from before a restart', async () => {
    const posted: string[] = [];
    const { run, outbox } = turnWith(
      sayingHalf(() => {}),
      { replies: fakeReplies({ nextId: () => posted[posted.push('new') - 1] ?? '' }) },
    );
    const place = publicPlace;
    const question = { messageIds: [message.id], userId: message.author.id, speakerName: 'Alice', place };
    await outbox.begin({ ...question, replyIds: [replyId] });
    expect(await outbox.isHidden(generalId, replyId)).toBe(true);
    await run();
    expect(posted).toEqual([]);
    expect(await outbox.isHidden(generalId, replyId)).toBe(false);
  });
});

describe('a turn behind the commands of its session', () => {
  it('begins when they are answered, and not at all if nobody waits for it by then', async () => {
    const order = createKeyedQueue();
    const answering: (() => void)[] = [];
    void order.run(
      `${message.channelId}:${message.author.id}`,
      () => new Promise<void>((resolve) => answering.push(resolve)),
    );
    const { run, steps } = turnWith(hi, {
      commandOrder: order,
    });
    const withdrawn = new TurnControl();
    const turns = [run(), run([message], withdrawn)];
    withdrawn.end('deleted');
    await settle();
    expect(steps).toEqual([]);
    answering[0]?.();
    expect(await Promise.all(turns)).toEqual(['answered', 'dropped']);
    expect(steps.filter((step) => step.startsWith('log 1'))).toHaveLength(1);
  });
});

describe('a turn behind the edits and deletions of its channel', () => {
  it('begins when they are carried out, so that no memory shows it what was taken back before it [G5]', async () => {
    const change = deferred<void>();
    const { run, steps } = turnWith(hi, {
      changes: { settled: () => change.promise.then(() => void steps.push('changed')) },
    });
    const turn = run();
    await sleep(20);
    change.resolve();
    expect(await turn).toBe('answered');
    expect(steps[0]).toBe('changed');
  });
});

const yes = () => Promise.resolve(true);

const wave: Tool = {
  definition: { name: 'wave', description: 'Waves', inputSchema: { type: 'object' } },
  run: () => Promise.resolve({ ok: true, text: 'Waved.' }),
};

/** A turn whose model calls `wave` in its first round, with what the model is offered and told. */
function wavingTurn(changes: TurnChanges) {
  const requests: ModelRequest[] = [];
  const { run } = turnWith(() => Promise.reject(new Error('not asked')), {
    model: {
      client: {
        isOffline: false,
        complete(request) {
          requests.push(request);
          const call = { type: 'tool_use', id: '1', name: 'wave', input: {} } as const;
          return Promise.resolve(
            requests.length === 1
              ? { content: [call], stop: 'tool_use', usage: noUsage }
              : { content: [{ type: 'text', text: 'Done.' }], stop: 'end', usage: noUsage },
          );
        },
      },
    },
    ...changes,
    tools: { actions: [], ...changes.tools },
  });
  const offered = () => requests.map(({ tools = [] }) => tools.map(({ name }) => name));
  const told = () => JSON.stringify(requests.at(-1)?.messages);
  return { run: () => run(), offered, told };
}

it.each([
  [0, 2],
  [1, 1],
])(
  'a context that is named after %i rounds of tools has the tool run once, in %i turns of it [M13]',
  async (rounds, asked) => {
    const waves = vi.fn<Tool['run']>(() => Promise.resolve({ ok: true, text: 'Waved.' }));
    let room = 8192;
    const firsts: ModelRequest[] = [];
    const { run } = turnWith(() => Promise.reject(new Error('not asked')), {
      model: {
        client: {
          isOffline: false,
          limitsOf: () => ({ roomTokens: room }),
          complete(request) {
            const isFirst = !JSON.stringify(request.messages).includes('tool_result');
            if (isFirst) firsts.push(request);
            if (room === 8192 && isFirst === (rounds === 0)) {
              room = 4096;
              return Promise.reject(new ModelError('larger than its context', 'too-large'));
            }
            const call = { type: 'tool_use', id: '1', name: 'wave', input: {} } as const;
            return Promise.resolve(
              isFirst
                ? { content: [call], stop: 'tool_use', usage: noUsage }
                : { content: [{ type: 'text', text: 'Done.' }], stop: 'end', usage: noUsage },
            );
          },
        },
      },
      tools: { actions: [{ ...wave, run: waves }] },
    });
    await run();
    expect(waves).toHaveBeenCalledTimes(1);
    expect(firsts).toHaveLength(asked);
  },
);

describe('where the owner has switched something off', () => {
  it.each(['memory', 'actions'] as const)('the model is not offered tools for %s', async (kind) => {
    const on = wavingTurn({ tools: { [kind]: [wave] } });
    await on.run();
    expect(on.offered()[0]).toEqual(['wave']);
    expect(on.told()).toContain('Waved.');
    const off = wavingTurn({ tools: { [kind]: [wave] }, settings: { isMemoryOff: yes, areActionsOff: yes } });
    await off.run();
    expect(off.offered()[0]).toEqual([]);
  });

  it.each(['memory', 'actions'] as const)(
    'tools for %s are refused where that was switched off meanwhile',
    async (kind) => {
      const asked = { memory: 0, actions: 0 };
      // On when the turn begins, off when the tool is called.
      const turn = wavingTurn({
        tools: { [kind]: [wave] },
        settings: {
          isMemoryOff: () => Promise.resolve((asked.memory += 1) > 1),
          areActionsOff: () => Promise.resolve((asked.actions += 1) > 1),
        },
      });
      await turn.run();
      expect(turn.offered()[0]).toEqual(['wave']);
      expect(turn.told()).not.toContain('Waved.');
      expect(turn.told()).toMatch(/switched/u);
    },
  );

  it('memory keeps nothing of a turn, though it is switched on before the reply', async () => {
    let isOff = true;
    const { run, steps, outbox } = turnWith(
      () => {
        isOff = false;
        return Promise.resolve({ text: 'Hi.', stop: 'whole' });
      },
      {
        settings: { isMemoryOff: () => Promise.resolve(isOff), areActionsOff: () => Promise.resolve(false) },
      },
    );
    await run();
    expect(logs(steps)).toEqual([]);
    expect(await outbox.isHandled(generalId, message.id)).toBe(true);
  });
});

function people(consent: Consent, present: Partial<TurnPorts['people']> = {}): TurnPorts['people'] {
  return {
    consent: () => Promise.resolve(consent),
    mayStore: yes,
    erasedBy: () => Promise.resolve(() => false),
    mode: () => Promise.resolve('auto'),
    ...present,
  };
}

describe('where the speaker has restricted what is kept [K9]', () => {
  const since = '2026-01-15T09:00:00.000Z';
  const free = { isStored: true, mode: 'auto' } as const;
  const paused = { ...free, isStored: false, pause: { scope: 'everywhere', since } } as const;
  it('nothing of a turn in a pause is logged, also where it ends before the reply, and a small line says so once', async () => {
    const { run, steps } = turnWith(hi, { people: people(paused) });
    await run();
    await run([incoming({ id: '400000000000000012' })]);
    expect(logs(steps)).toEqual([]);
    expect(sends(steps)).toEqual([
      'send Hi.\n-# Paused: nothing of this is stored until `!memory resume` as 11',
      'send Hi. as 12',
    ]);
  });

  it.each([
    ['short answer', free, 'Hi.'],
    ['long answer, of which people may see a part,', free, 'Hi. '.repeat(600)],
    ['answer that no log knows of', paused, 'Hi.'],
  ])('a %s is on disk before it is sent', async (_what, consent, text) => {
    const { run, outbox, steps } = turnWith(() => Promise.resolve({ text, stop: 'whole' }), {
      people: people(consent),
    });
    const prepare = outbox.prepare;
    vi.spyOn(outbox, 'prepare').mockImplementation(async (reply) => {
      await prepare(reply);
      steps.push('prepared');
    });
    await run();
    const sent = steps.findIndex((step) => step.startsWith('send Hi.'));
    expect(sent).toBeGreaterThan(0);
    expect(steps.slice(0, sent)).toContain('prepared');
  });

  it('the reply is not logged where the pause came meanwhile', async () => {
    const { run, steps } = turnWith(hi, { people: people(free, { mayStore: () => Promise.resolve(false) }) });
    await run();
    expect(logs(steps)).toEqual(['log 1']);
  });

  it.each<[string, TurnPorts['people'], RegExp]>([
    ['in a pause', people(paused), /has paused their memory/u],
    ['in a pause that came meanwhile', people(free, { mayStore: () => Promise.resolve(false) }), /paused/u],
    [
      'where settings cannot be read, and do not call that a pause',
      people({ isStored: false, mode: 'off', isUnreadable: true }),
      /cannot be read or written right now/u,
    ],
    ['where nothing is to be noticed', people(free, { mode: () => Promise.resolve('off') }), /noticed/u],
    ['where the person is asked first', people(free, { mode: () => Promise.resolve('ask') }), /asked first/u],
  ])('tools that store refuse %s, and others work', async (_when, restricted, refusal) => {
    const storing = wavingTurn({ tools: { memory: [{ ...wave, stores: 'notes' }] }, people: restricted });
    await storing.run();
    expect(storing.told()).toMatch(refusal);
    const other = wavingTurn({ tools: { memory: [wave] }, people: restricted });
    await other.run();
    expect(other.told()).toContain('Waved.');
  });

  it('tools that keep what is asked for refuse in a pause alone [RM7]', async () => {
    const asking = { memory: [{ ...wave, stores: 'wishes' as const }] };
    const inPause = wavingTurn({ tools: asking, people: people(paused) });
    await inPause.run();
    expect(inPause.told()).toMatch(/has paused their memory/u);
    const isOff = people(free, { mode: () => Promise.resolve('off') });
    const unnoticed = wavingTurn({ tools: asking, people: isOff });
    await unnoticed.run();
    expect(unnoticed.told()).toContain('Waved.');
  });

  it('a new person gets the first words under a whole answer, and again if it failed [K12]', async () => {
    const told: string[] = [];
    const oneTimeNotices: TurnPorts['oneTimeNotices'] = {
      begin: () =>
        Promise.resolve({
          lines: ['I am an AI'],
          sent: () => Promise.resolve(void told.push('sent')),
          release: () => void told.push('released'),
        }),
    };
    const { run, steps } = turnWith(hi, { oneTimeNotices });
    await run();
    expect(steps).toContain('send Hi.\n-# I am an AI as 11');
    expect(told.splice(0)).toEqual(['sent', 'released']);
    await turnWith(failing, { oneTimeNotices }).run([{ ...message, text: 'x' }]);
    await turnWith(() => Promise.reject(new ModelError('slow', 'timeout')), { oneTimeNotices }).run(
      [message],
      new TurnControl(),
    );
    expect(told).toEqual(['sent', 'released']);
  });
});
