import * as fc from 'fast-check';
import { expect } from 'vitest';

import { placeNames, ProcessesScene, wordOf, wordPattern, type PlaceName } from './processes-scene.ts';

/** What Alice does, of which several things happen at the same time; words are numbered by when they are first said. */
type Action =
  | { readonly do: 'say' | 'remember'; readonly place: PlaceName }
  | { readonly do: 'forget' | 'purge'; readonly place: PlaceName; readonly which: number }
  | { readonly do: 'erase'; readonly place: PlaceName }
  | { readonly do: 'work'; readonly process: 'first' | 'second' }
  | { readonly do: 'kill'; readonly process: 'first' | 'second'; readonly afterMs: number };

const place = fc.constantFrom(...placeNames);
const process = fc.constantFrom('first' as const, 'second' as const);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('say' as const, 'remember' as const), place }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('forget' as const, 'purge' as const),
      place,
      which: fc.nat(20),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('erase' as const), place }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('work' as const), process }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('kill' as const), process, afterMs: fc.nat(6) }) },
);

interface Known {
  readonly word: string;
  /** `sure`: an item has it; `gone`: nothing may have it; `perhaps`: nobody was told what became of it. */
  state: 'sure' | 'said' | 'gone' | 'perhaps';
}

/** Random things at the same time, in places of two processes that are killed in between, are to others as if done one after the other [X2]. */
export async function checkProcesses({ numRuns }: { readonly numRuns: number }): Promise<void> {
  const rounds = fc.array(fc.array(action, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 7 });
  const property = fc.asyncProperty(
    rounds,
    fc.array(fc.nat(3), { minLength: 20, maxLength: 20 }),
    fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
    (...drawn) => replay(...drawn),
  );
  await fc.assert(property, { numRuns });
}

/** One run: rounds of what happens at the same time; how long operations take, and which notices arrive, each in turn. */
async function replay(
  plan: readonly (readonly Action[])[],
  pauses: readonly number[],
  arrivals: readonly boolean[],
): Promise<void> {
  let asked = 0;
  let told = 0;
  const scene = new ProcessesScene({
    pause: () => pauses[(asked += 1) % pauses.length] ?? 0,
    arrives: () => arrivals[(told += 1) % arrivals.length] ?? true,
  });
  await scene.start();
  const words: Known[] = [];
  for (const round of plan) {
    await runRound(scene, round, words);
    await checkRound(scene, words);
  }
  await scene.settle();
  // What somebody had forgotten can be undone no more.
  scene.posted.wait(15);
  await scene.settle();
  await checkEnd(scene, words);
}

async function runRound(scene: ProcessesScene, round: readonly Action[], words: Known[]): Promise<void> {
  const before = words.slice();
  const isErased = round.some((each) => each.do === 'erase');
  await Promise.all(round.map((each) => take(each)));

  async function take(each: Action): Promise<void> {
    switch (each.do) {
      case 'say': {
        const known: Known = { word: wordOf(words.length), state: isErased ? 'perhaps' : 'said' };
        words.push(known);
        await scene.say(each.place, `I like ${known.word}.`);
        return;
      }
      case 'remember': {
        const known: Known = { word: wordOf(words.length), state: 'perhaps' };
        words.push(known);
        const answer = await scene.command(each.place, `remember I like ${known.word}`);
        if (answer?.text.startsWith('Remembered') === true && !isErased) known.state = 'sure';
        return;
      }
      case 'forget':
      case 'purge': {
        const known = before[each.which % Math.max(1, before.length)];
        if (known === undefined) return;
        const state = known.state;
        known.state = 'perhaps';
        const answer =
          each.do === 'forget'
            ? (await scene.command(each.place, `forget ${known.word}`))?.text
            : await scene.confirmed(each.place, `purge ${known.word}`);
        const isPurged = answer?.startsWith('Erased') === true;
        // What was said stays, where only an item was forgotten.
        if (isPurged || (answer?.startsWith('Forgot') === true && state === 'sure')) known.state = 'gone';
        else if (state === 'gone') known.state = 'gone';
        return;
      }
      case 'erase': {
        const answer = await scene.confirmed(each.place, 'erase');
        const isDone = answer?.startsWith('Erased') === true;
        for (const known of before) known.state = isDone || known.state === 'gone' ? 'gone' : 'perhaps';
        return;
      }
      case 'work':
        return scene.work(each.process);
      case 'kill':
        await new Promise((resolve) => setTimeout(resolve, each.afterMs));
        return scene.kill(each.process);
    }
  }
}

/** Nothing that is gone is told to a model any more, and all that is sure is shown in every process. */
async function checkRound(scene: ProcessesScene, words: readonly Known[]): Promise<void> {
  const from = scene.inputs.length;
  const shown = [await scene.command('dm', 'show'), await scene.command('yard', 'show')];
  await scene.say('yard', 'What do you know?');
  await scene.say('hall', 'What do you know?');
  const told = new Set(scene.inputs.slice(from).join('\n').match(wordPattern));
  const gone = words.filter(({ state }) => state === 'gone').map(({ word }) => word);
  expect(gone.filter((word) => told.has(word) || shown.some((each) => each?.text.includes(word)))).toEqual(
    [],
  );
  const inDm = shown[0]?.text ?? '';
  const sure = words.filter(({ state }) => state === 'sure').map(({ word }) => word);
  expect(sure.filter((word) => !inDm.includes(word))).toEqual([]);
}

/** In the logs each message stands once and in order, with one answer at most; what is gone stands nowhere. */
async function checkEnd(scene: ProcessesScene, words: readonly Known[]): Promise<void> {
  for (const name of placeNames) {
    const said = (await scene.logOf(name)).flatMap((record) => (record.type === 'message' ? [record] : []));
    const asked = said.filter(({ role }) => role === 'user').map(({ id }) => id);
    expect(asked).toEqual([...new Set(asked)].toSorted());
    const answered = said.flatMap((record) => (record.role === 'assistant' ? record.replyTo : []));
    expect(answered).toEqual([...new Set(answered)]);
  }
  const everything = await scene.data.common.everything();
  expect(words.filter(({ state, word }) => state === 'gone' && everything.includes(word))).toEqual([]);
}
