import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';

import type { CommandReply } from '../../src/core/commands.ts';
import { answerRows, formModal, readCommandButton } from '../../src/discord/buttons.ts';
import { durableDocumentKind } from '../../src/memory/durable/document.ts';
import { messageSchema, modalSchema } from '../support/sandbox/rules.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { createHarness } from './harness.ts';

type Harness = ReturnType<typeof createHarness>;

let harness: Harness;

beforeEach(() => {
  harness = createHarness();
});

const give = (words: string, place = publicPlace) => harness.give(words, place, { ephemeral: true });

async function write(items: readonly object[]): Promise<void> {
  const document = durableDocumentKind.schema.parse({ version: 1, items });
  await harness.store.update(`users/${aliceId}/durable.json`, durableDocumentKind, () => document);
}

/** All lines that can be given by what stands under an answer, those of a choice once a value. */
function linesUnder({ rows = [] }: CommandReply): readonly string[] {
  return rows.flatMap((row) =>
    'options' in row
      ? row.options.map(({ value }) => `${row.line} ${value}`)
      : row.map(({ line = '' }) => line),
  );
}

/** As Discord is handed it. @throws {ZodError} where it would refuse that. */
function asShown(reply: CommandReply) {
  return messageSchema.parse({
    content: reply.text,
    components: JSON.parse(JSON.stringify(answerRows('99999999999999999999', reply))),
  });
}

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 700 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({
    unit: fc.constantFrom('`', '*', '\n', '😀', '👩‍👩‍👧‍👦', '\u200b', ' ', 'a', '|', '>', '@'),
    maxLength: 2500,
  }),
);
const anyId = fc.oneof(
  fc.string({ unit: fc.constantFrom(...Array.from('0123456789abcdef')), minLength: 8, maxLength: 8 }),
  fc.string({ unit: fc.constantFrom(...Array.from('abc-_')), minLength: 40, maxLength: 40 }),
  fc.string({ minLength: 1, maxLength: 120 }),
);
const anyItem = fc.record({
  id: anyId,
  text: anyText,
  visibility: fc.constantFrom('everywhere', 'server', 'here', 'dm'),
  pinned: fc.boolean(),
  source: fc.record({ type: fc.constantFrom('manual', 'summary') }),
});

describe('the panel [K8]', () => {
  it('is shown to its person alone, and to nobody else in a channel', async () => {
    await write([{ id: 'aaaaaaaa', text: 'I live in Porto', visibility: 'everywhere' }]);
    expect((await give('panel')).text).toContain('I live in Porto');
    const shown = await harness.give('panel', publicPlace);
    expect(shown.text).toContain('`/memory panel`');
    expect(shown.text).not.toContain('Porto');
    expect(shown.rows).toBeUndefined();
  });

  it('is within the limits of Discord whatever the items say, whatever is pressed, and shows each', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(anyItem, { maxLength: 35, selector: ({ id }) => id.toLowerCase() }),
        fc.infiniteStream(fc.nat()),
        async (items, picks) => {
          harness = createHarness();
          await write(items);
          const chosen = new Set<string>();
          const pages = Math.max(1, Math.ceil(items.length / 10));
          let reply = await give('panel');
          for (let page = 0; page < pages; page += 1) {
            asShown(reply);
            for (const row of reply.rows ?? [])
              if ('options' in row && row.placeholder === 'Choose an item')
                for (const { value } of row.options) chosen.add(value);
            reply = await give(`panel-do ${page} - next`);
          }
          const listed = await harness.durable.list(aliceId);
          expect(listed).toHaveLength(items.length);
          expect(chosen).toEqual(new Set(listed.map(({ id }) => id)));
          for (let step = 0; step < 6; step += 1) {
            const lines = linesUnder(reply);
            const line = lines[(picks.next().value ?? 0) % lines.length] ?? '';
            const answer = await give(line.replace(/^memory /u, ''));
            if (answer.form !== undefined) {
              const pressed = readCommandButton(`ask:99999999999999999999:*:${line}`);
              if (pressed === undefined) throw new Error('No button of ours');
              modalSchema.parse(formModal(answer.form, pressed));
              reply = await give(`${answer.form.line.replace(/^memory /u, '')} Something else`);
            } else if (answer.rows !== undefined) reply = answer;
            asShown(reply);
          }
        },
      ),
    );
  });
});
