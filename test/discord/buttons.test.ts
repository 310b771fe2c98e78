import fc from 'fast-check';
import { expect, it } from 'vitest';

import type { CommandButton } from '../../src/core/reply.ts';
import type { CommandReply, CommandSelect } from '../../src/core/commands.ts';
import { answerRows, formModal, readCommandButton } from '../../src/discord/buttons.ts';
import { componentRowsSchema, modalSchema } from '../support/sandbox/rules.ts';

const words = fc.oneof(
  fc.string({ maxLength: 300, unit: 'grapheme' }),
  fc.constantFrom('', ' ', '\u200b', '🇵🇹'.repeat(60), 'x'.repeat(217)),
);
const button: fc.Arbitrary<CommandButton> = fc.record(
  {
    label: words,
    line: words,
    opensForm: fc.constant(true as const),
    takes: fc.constantFrom('itself' as const, 'nothing' as const, 'answer' as const),
  },
  { requiredKeys: ['label'] },
);
const select: fc.Arbitrary<CommandSelect> = fc.record({
  placeholder: words,
  line: words,
  options: fc.array(fc.record({ label: words, value: words, description: words }), { maxLength: 30 }),
});
const reply: fc.Arbitrary<Pick<CommandReply, 'rows' | 'buttons'>> = fc.oneof(
  fc.record({ buttons: fc.array(button, { maxLength: 40 }) }),
  fc.record({ rows: fc.array(fc.oneof(fc.array(button, { maxLength: 8 }), select), { maxLength: 8 }) }),
);
const personId = '14000000000000000001';

it('whatever people wrote, what stands under an answer keeps the limits of Discord, and does nothing else', () => {
  fc.assert(
    fc.property(reply, (each) => {
      const rows = answerRows(personId, each);
      expect(() => componentRowsSchema.parse(rows)).not.toThrow();
      const given = new Set(
        [...(each.buttons ?? []), ...(each.rows ?? []).flat()].map(({ line = '' }) => line),
      );
      for (const { components } of rows)
        for (const component of components)
          expect(given).toContain(
            readCommandButton('custom_id' in component ? component.custom_id : '')?.line,
          );
    }),
  );
});

it('whatever people wrote, a form keeps the limits of Discord', () => {
  const form = fc.record({
    title: words,
    label: words,
    value: fc.oneof(words, fc.constant('x'.repeat(9000))),
    maxChars: fc.integer({ min: -1, max: 9000 }),
    line: fc.string({ maxLength: 70 }),
  });
  fc.assert(
    fc.property(form, (each) => {
      const modal = formModal(each, { personId, line: '', takes: 'answer', opensForm: true });
      expect(() => modalSchema.parse(modal)).not.toThrow();
    }),
  );
});
