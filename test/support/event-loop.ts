import { PerformanceObserver } from 'node:perf_hooks';

/** How long the event loop was held at a time, in milliseconds. */
export interface HeldLoop {
  /** The longest time that the process computed without a pause, garbage collection left out. */
  readonly longest: number;
  /** The longest single collection of garbage that held the loop. */
  readonly garbage: number;
}

interface Span {
  readonly begin: number;
  readonly end: number;
}

/** Milliseconds that a fixed piece of computation takes on a usual machine. */
const usualMs = 7;

/** Milliseconds that the loop may be held in one go [L4], twice as long here, where machines are busy, and on a slower one longer in proportion. */
export const mostHeld = 2 * 200 * Math.max(1, fixedWorkMs() / usualMs);

/** The shortest of a few times, since a busy machine makes them longer. */
function fixedWorkMs(): number {
  const text = JSON.stringify(
    Array.from({ length: 20_000 }, (_, id) => ({ id, text: `sentence ${id}`, tags: ['a', 'b'] })),
  );
  const times = Array.from({ length: 8 }, () => {
    const before = process.cpuUsage();
    JSON.parse(text);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

/** Between two looks, in milliseconds. */
const resolution = 2;

/**
 * Watches the event loop until the returned function is called, by a timer: how late it comes tells how long the loop was held. Counted is what the
 * process had of the processor meanwhile, so that other processes of a busy machine add little; garbage collections are told apart.
 */
export function watchEventLoop(): () => Promise<HeldLoop> {
  const rounds: (Span & { readonly computed: number })[] = [];
  const collections: Span[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries())
      collections.push({ begin: startTime, end: startTime + duration });
  });
  observer.observe({ entryTypes: ['gc'] });
  let begin = performance.now();
  let usage = process.cpuUsage();
  const look = (): void => {
    const end = performance.now();
    const now = process.cpuUsage();
    if (end - begin > 2 * resolution) {
      const used = now.user + now.system - usage.user - usage.system;
      rounds.push({ begin, end, computed: Math.min(end - begin, used / 1000) });
    }
    begin = end;
    usage = now;
  };
  const timer = setInterval(look, resolution);
  return async () => {
    clearInterval(timer);
    look();
    // The observer hears of collections a little later.
    await new Promise((resolve) => setTimeout(resolve, 20));
    observer.disconnect();
    const held = rounds.map(
      (each) => each.computed - collections.reduce((sum, other) => sum + shared(each, other), 0),
    );
    return {
      longest: Math.max(0, ...held),
      garbage: Math.max(0, ...collections.map((each) => each.end - each.begin)),
    };
  };
}

function shared(a: Span, b: Span): number {
  return Math.max(0, Math.min(a.end, b.end) - Math.max(a.begin, b.begin));
}
