import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { AnswerSize } from '../../src/core/section.ts';
import { noUsage } from '../../src/core/model.ts';
import { createProvenance } from '../../src/memory/provenance.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { runs } from '../support/runs.ts';
import { channel, dmPlace, openSessions } from '../support/sessions.ts';

const size: AnswerSize = {
  parts: [{ name: 'message', characters: 12 }],
  maxChars: 1000,
  usage: { ...noUsage, inputTokens: 10, outputTokens: 5 },
  cost: 0.01,
};
const places = [publicPlace, channel('dev', '200000000000000002'), dmPlace];
const any = fc.nat({ max: 99 });
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('turn' as const),
      place: fc.constantFrom(...places),
      isStored: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('delete' as const, 'delete answer' as const, 'erase session' as const),
      number: any,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('erase' as const, 'erased elsewhere' as const) }),
  },
);

function open() {
  const sessions = openSessions();
  const provenance = createProvenance(sessions);
  const ledger = sessions.ledgerOver([provenance]);
  return {
    ...sessions,
    provenance,
    ledger,
    ids: async () => (await provenance.sizesOf(aliceId)).map(({ messageIds }) => messageIds.join()),
    turn,
  };

  /** A turn of which everything, or nothing, may be stored; resolves with the ids of question and answer. */
  async function turn(place = publicPlace, isStored = true) {
    sessions.time.now += 1000;
    const context = isStored ? await sessions.say('Hello', place) : sessions.contextOf(['Hello'], place);
    await provenance.record(context, { prompt: [], tools: [] }, isStored, size);
    const [answer = ''] = isStored ? await sessions.answer(context, 'Hi') : [];
    return { channelId: place.channelId, question: context.messages[0]?.id ?? '', answer };
  }
}

describe('how large the prompts of the newest answers were [Y2a]', () => {
  it('is known of no answer to what was forgotten, erased, or said where nothing may be stored', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const { turn, ids, ledger, provenance, time } = open();
        let known: Awaited<ReturnType<typeof turn>>[] = [];
        for (const each of steps) {
          if (each.kind === 'turn') {
            const said = await turn(each.place, each.isStored);
            if (each.isStored) known.push(said);
          } else if (!('number' in each)) {
            time.now += 1000;
            if (each.kind === 'erase') await ledger.erase(aliceId, new Date(time.now).toISOString());
            else provenance.evict?.(aliceId);
            known = [];
          } else {
            const meant = known[each.number % Math.max(1, known.length)];
            if (meant === undefined) continue;
            const { channelId, question, answer } = meant;
            if (each.kind === 'erase session') {
              const session = { channelId, userId: aliceId };
              await provenance.delete({ kind: 'conversations', userId: aliceId, sessions: [session] });
              known = known.filter((other) => other.channelId !== channelId);
              continue;
            }
            const messageIds = [each.kind === 'delete' ? question : answer];
            await ledger.record({ kind: 'deleted', channelId, messageIds });
            known = known.filter((other) => other !== meant);
          }
          expect(await ids()).toEqual(known.map(({ question }) => question).toReversed());
        }
      }),
      { numRuns: runs(100) },
    );
  });

  it('is known of no answer to what is forgotten, and again once that is undone [F5]', async () => {
    const { turn, ids, forgettingOver } = open();
    const { question, channelId } = await turn();
    const forgetting = forgettingOver([]);
    const nothing = { words: '', forgotten: [], past: [], others: [], proposed: [] };
    const messages = [{ channelId, messageIds: [question] }];
    const commandId = '400000000000000900';
    const { undoId = '' } = await forgetting.withhold({ ...nothing, userId: aliceId, commandId, messages });
    expect(await ids()).toEqual([]);
    await forgetting.part.undo(aliceId, undoId);
    expect(await ids()).toEqual([question]);
  });

  it('is known of the last twenty answers to a person, the newest first', async () => {
    const { turn, ids } = open();
    const questions: string[] = [];
    for (let count = 0; count < 23; count += 1) questions.push((await turn()).question);
    expect(await ids()).toEqual(questions.slice(-20).toReversed());
  });

  it('is in memory only: what is stored of an answer does not say it', async () => {
    const { turn, provenance } = open();
    await turn();
    const stored: string[] = [];
    for await (const { text } of provenance.export(aliceId)) stored.push(text);
    expect(stored).toHaveLength(1);
    expect(stored[0]).not.toContain('maxChars');
  });
});
