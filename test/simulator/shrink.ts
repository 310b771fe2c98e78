import type { Step } from './steps.ts';

/** What decides all that happens in a run. */
interface Scene {
  readonly people: number;
  readonly steps: readonly Step[];
}

type Simulate = (options: {
  readonly seed: number;
  readonly people: number;
  readonly steps: number;
  readonly scene: readonly Step[];
}) => Promise<{
  readonly failure?: { readonly promise: string; readonly detail: string; readonly step: number };
}>;

export interface ShrinkOptions {
  readonly simulate: Simulate;
  readonly seed: number;
  readonly people: number;
  readonly scene: readonly Step[];
  /** The promise that was broken, and that a smaller scene must break too. */
  readonly promise: string;
  /** At most so many simulations. */
  readonly maxRuns: number;
}

interface Shrunk extends Scene {
  /** How it breaks the promise, which may be another way than that of the whole scene. */
  readonly detail: string;
  readonly runs: number;
}

/**
 * A smaller scene that breaks the same promise, by delta debugging: fewer steps, fewer people, smaller numbers,
 * until nothing more can go or the runs are used up. `undefined` if even the whole scene does not break it.
 */
export async function shrink({
  simulate,
  seed,
  people,
  scene,
  promise,
  maxRuns,
}: ShrinkOptions): Promise<Shrunk | undefined> {
  let smallest: Scene = { people, steps: scene };
  let detail = '';
  let runs = 0;

  /** Takes a scene for the smallest where it breaks the promise; what comes after that happened is left out. */
  const attempt = async (candidate: Scene): Promise<boolean> => {
    if (runs === maxRuns) return false;
    runs += 1;
    const { steps } = candidate;
    const { failure } = await simulate({
      seed,
      people: candidate.people,
      steps: steps.length,
      scene: steps,
    });
    if (failure?.promise !== promise) return false;
    ({ detail } = failure);
    smallest = { people: candidate.people, steps: steps.slice(0, failure.step + 1) };
    return true;
  };

  /** Leaves out halves, then quarters and so on down to single steps, from the end to the beginning. */
  const leaveOutSteps = async (): Promise<void> => {
    for (let size = Math.ceil(smallest.steps.length / 2); size >= 1; size = Math.floor(size / 2))
      for (let end = smallest.steps.length; end > 0;) {
        const start = Math.max(0, end - size);
        const steps = smallest.steps.toSpliced(start, end - start);
        await attempt({ ...smallest, steps });
        end = Math.min(start, smallest.steps.length);
      }
  };

  const leaveOutPeople = async (): Promise<void> => {
    for (let fewer = 1; fewer < smallest.people; fewer += 1)
      if (await attempt({ ...smallest, people: fewer })) return;
  };

  const makeNumbersSmaller = async (): Promise<void> => {
    for (let at = 0; at < smallest.steps.length; at += 1)
      for (const [key, value] of Object.entries(smallest.steps[at] ?? {})) {
        // Luck decides what follows: another one is another story.
        if (typeof value !== 'number' || key === 'luck') continue;
        for (const less of new Set([0, 1, Math.floor(value / 2)])) {
          const step = smallest.steps[at];
          if (less >= value || step === undefined) break;
          const steps = smallest.steps.with(at, { ...step, [key]: less });
          if (await attempt({ ...smallest, steps })) break;
        }
      }
  };

  if (!(await attempt(smallest))) return undefined;
  let before: Scene;
  do {
    before = smallest;
    await leaveOutSteps();
    await leaveOutPeople();
    await makeNumbersSmaller();
  } while (smallest !== before);
  return { ...smallest, detail, runs };
}

/** A call that runs a scene, to be pasted into a test: one line a step. */
export function sceneText(seed: number, { people, steps }: Scene): string {
  const lines = steps.map(({ kind, ...rest }) => `  ${JSON.stringify({ kind, ...rest })},\n`);
  return `simulate({ seed: ${seed}, people: ${people}, steps: ${steps.length}, scene: [\n${lines.join('')}] })`;
}
