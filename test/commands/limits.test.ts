import fc from 'fast-check';
import { expect, it } from 'vitest';

import type { CommandReply } from '../../src/core/commands.ts';
import { answerRows, formModal } from '../../src/discord/buttons.ts';
import { durableKey } from '../../src/memory/durable/document.ts';
import { componentRowsSchema, modalSchema } from '../support/sandbox/rules.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { createHarness, dmPlace } from './harness.ts';
import { runs } from '../support/runs.ts';

const id = fc.oneof(
  fc.constantFrom(
    '1a2b3c4d',
    'tea',
    'TEA',
    'my tea',
    'x'.repeat(70),
    'y'.repeat(217),
    '😀'.repeat(30),
    '\u200b',
    '` ',
  ),
  fc.string({ minLength: 1, maxLength: 120 }),
);
const item = fc.record({ id, text: fc.oneof(fc.string({ maxLength: 600 }), fc.constant('a word of mine')) });

/** @throws where Discord would refuse it. */
function takenByDiscord(reply: CommandReply): CommandReply {
  componentRowsSchema.parse(answerRows(aliceId, reply));
  if (reply.form !== undefined) {
    const modal = formModal(reply.form, { personId: aliceId, line: '', takes: 'answer', opensForm: true });
    modalSchema.parse(modal);
  }
  return reply;
}

it('no reply is refused by Discord for what a person wrote into the file by hand, and all its buttons are there [S5]', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(item, { minLength: 2, maxLength: 8 }), async (items) => {
      const { give: reply, store, durable } = createHarness();
      const panel = (line: string) => reply(line, dmPlace, { ephemeral: true });
      const document = {
        version: 1,
        items: [...items, { text: 'a word of mine' }, { text: 'another word of mine' }],
      };
      await store.writeText(durableKey(aliceId), JSON.stringify(document));
      const listed = await durable.list(aliceId);
      expect(listed).toHaveLength(items.length + 2);
      for (const line of [
        'forget word',
        'forget wor',
        'show',
        'search word',
        'remember a word of mine!',
        'proposals',
      ])
        for (const place of [publicPlace, dmPlace]) {
          const answer = takenByDiscord(await reply(line, place));
          const shown = answerRows(aliceId, answer).flatMap(({ components }) => components);
          const wanted = answer.buttons ?? [];
          expect(shown).toHaveLength(Math.min(25, wanted.length));
        }
      for (const { id: of } of listed) {
        takenByDiscord(await panel(`panel-do 0 ${of} show`));
        takenByDiscord(await panel(`panel-do 0 ${of} edit`));
        expect((await reply(`why ${of}`, dmPlace)).text).not.toContain('I know of no item');
      }
    }),
    { numRuns: runs(60) },
  );
});
