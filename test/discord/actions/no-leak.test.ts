import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { openActionStage } from '../support/action-harness.ts';

/** What only the model knows: from memory, from history, from what the person quotes. */
const secret = 'the merger is on';

it('never says in another channel what was not the person’s own word where not everybody could read along [V2]', async () => {
  const { server, ask, act, settled, ids } = await openActionStage();
  const thread = await server.addThread({ channel: '#secret', name: 'plots', as: 'bob' });
  const homes = new Map([
    ['#secret', 'secret'],
    [thread.id, 'secret'],
  ]);
  let refusedTimes = 0;
  let sentTimes = 0;

  await fc.assert(
    fc.asyncProperty(
      fc.record({
        from: fc.constantFrom('dm', '#secret', thread.id, '#general'),
        to: fc.constantFrom('#dev', '#general', '#secret', thread.id),
        says: fc.constantFrom('lunch is ready', `> ${secret}`, `lunch is ready\n> ${secret}`),
        text: fc.constantFrom('Lunch is ready.', secret, `lunch is ready, ${secret}`),
        isNamed: fc.boolean(),
        hasThirdPartyText: fc.boolean(),
        becomesPublic: fc.boolean(),
      }),
      async ({ from, to, says, text, isNamed, hasThirdPartyText, becomesPublic }) => {
        const target = to.startsWith('#') ? `<#${ids[to.slice(1)] ?? ''}>` : to;
        const wish = `${isNamed ? `tell ${target}` : 'tell them'} that\n${says}`;
        const context = { ...(await ask('bob', from, wish)), hasThirdPartyText };
        if (becomesPublic) await server.setChannelPrivacy({ channel: '#secret', private: false });
        await settled();
        const before = await server.messages({ in: to, from: 'bot' });
        const { ok } = await act(context, 'discord_send', { channel: to, text });
        const sent = (await server.messages({ in: to, from: 'bot' })).slice(before.length);
        if (becomesPublic)
          await server.setChannelPrivacy({ channel: '#secret', private: true, members: ['alice', 'bob'] });
        await settled();

        expect(sent).toHaveLength(ok ? 1 : 0);
        if (ok) sentTimes += 1;
        else refusedTimes += 1;
        const hasSameReaders = homes.has(from) && homes.get(from) === homes.get(to) && !becomesPublic;
        if (hasSameReaders) return;
        expect(ok && !isNamed && hasThirdPartyText).toBe(false);
        if (from === '#general') return;
        const words = sent.map((message) => message.text.split('\n')[0]);
        expect(words).toEqual(ok ? ['lunch is ready'] : []);
        expect(ok && !isNamed).toBe(false);
      },
    ),
    { numRuns: 60 },
  );
  expect(sentTimes).toBeGreaterThan(8);
  expect(refusedTimes).toBeGreaterThan(8);
});
