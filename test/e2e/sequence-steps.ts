import fc from 'fast-check';

/** Which of the messages that stand: counted from the newest, round and round. */
type Choice = number;

/** What happens on Discord; people are numbered, and write in their channel or in their DMs. */
export type Doing =
  | {
      readonly do: 'say';
      readonly who: 0 | 1;
      readonly where: 'channel' | 'dm';
      readonly isAddressed: boolean;
    }
  | { readonly do: 'edit' | 'edit into a command'; readonly of: Choice }
  /** Several of one channel go as one. */
  | { readonly do: 'delete'; readonly of: readonly Choice[] }
  | { readonly do: 'delete the reply'; readonly of: Choice }
  | { readonly do: 'react with 🛑'; readonly of: Choice; readonly by: 'author' | 'other' };

export type Step =
  | Doing
  | { readonly do: 'wait'; readonly ms: number }
  /** `meanwhile` happens while the bot is off. */
  | { readonly do: 'restart'; readonly how: 'stop' | 'kill'; readonly meanwhile: readonly Doing[] };

const of = fc.nat({ max: 9 });

const say = fc.record({
  do: fc.constant('say' as const),
  who: fc.constantFrom(0 as const, 1 as const),
  where: fc.constantFrom('channel' as const, 'dm' as const),
  isAddressed: fc.oneof({ weight: 7, arbitrary: fc.constant(true) }, fc.constant(false)),
});

const doing: fc.Arbitrary<Doing> = fc.oneof(
  { weight: 8, arbitrary: say },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('edit' as const), of }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('edit into a command' as const), of }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('delete' as const),
      of: fc.array(of, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete the reply' as const), of }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('react with 🛑' as const),
      of,
      by: fc.constantFrom('author' as const, 'other' as const),
    }),
  },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: doing },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat({ max: 300 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('restart' as const),
      how: fc.constantFrom('stop' as const, 'kill' as const),
      meanwhile: fc.array(doing, { maxLength: 4 }),
    }),
  },
);

/** What may happen, beginning with something said. */
export const anySteps: fc.Arbitrary<readonly Step[]> = fc
  .tuple(say, fc.array(step, { minLength: 6, maxLength: 24 }))
  .map(([first, rest]) => [first, ...rest]);
