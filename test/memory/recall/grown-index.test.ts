import fc from 'fast-check';
import { expect, it } from 'vitest';

import { createRecall, type Recall } from '../../../src/memory/recall/recall.ts';
import { createMessageSource } from '../../../src/memory/recall/messages.ts';
import { aliceId, generalId, publicPlace } from '../../support/incoming.ts';
import { dmPlace, openSessions, secretPlace, session, type Sessions } from '../../support/sessions.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { runs } from '../../support/runs.ts';
import { beginningNow } from '../../../src/core/writes.ts';

function recallOver({ log }: Pick<Sessions, 'log'>): Recall {
  return createRecall({ sources: [createMessageSource(log)], timeZone: 'UTC' });
}

async function answersOf(recall: Recall, now: Date): Promise<unknown> {
  const speaker = { id: aliceId, isOwner: false };
  const asked = { scope: 'all', limit: 20, speaker, place: dmPlace, now, excluded: [] } as const;
  const found = [];
  for (const query of ['apple', 'banana edited', 'cherry yesterday', 'when did I say apples?'])
    found.push(await recall.search({ ...asked, queries: [query] }));
  return found;
}

const action = fc.record({
  kind: fc.constantFrom('say', 'say', 'say', 'edit', 'delete', 'mark', 'search', 'forget'),
  word: fc.constantFrom('apple', 'banana', 'cherry'),
  which: fc.nat(40),
});

it('an index that grew finds what a fresh one finds, in the same order, whatever happened to the log', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 40, size: 'max' }), async (actions) => {
      const sessions = openSessions(new MemoryStore());
      const { log, time, writes } = sessions;
      const grown = recallOver(sessions);
      let said = 0;
      const compare = async (): Promise<void> => {
        const fresh = await answersOf(recallOver(sessions), sessions.clock());
        expect(await answersOf(grown, sessions.clock())).toEqual(fresh);
      };
      for (const [index, { kind, word, which }] of actions.entries()) {
        const id = String(400_000_000_000_000_000n + BigInt((which % Math.max(1, said)) + 1));
        time.now += which * 2 * 60_000;
        if (kind === 'say') {
          const texts = Array.from({ length: 1 + (which % 5) }, (_, each) => `${word} ${index} ${each}`);
          said += texts.length;
          await log.recordUser(sessions.contextOf(texts, which % 7 === 0 ? secretPlace : publicPlace));
        } else if (kind === 'edit') await log.edit(generalId, id, `${word} edited ${index}`);
        else if (kind === 'delete') await log.remove(generalId, [id]);
        else if (kind === 'mark') {
          const change = {
            kind: 'edited',
            channelId: generalId,
            messageId: id,
            text: 'apple marked',
          } as const;
          const messages = await log.affected(session, change);
          if (messages.length > 0)
            await writes.run(beginningNow(aliceId), () =>
              log.follow({ kind: 'withdrawn', session, messages, cause: change }, 'hide'),
            );
        } else if (kind === 'forget') await log.dropBefore(session, sessions.clock().toISOString(), which);
        else await compare();
      }
      await compare();
    }),
    { numRuns: runs(60) },
  );
});
