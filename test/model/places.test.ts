import { describe, expect, it } from 'vitest';

import { createModelPlaces } from '../../src/model/places.ts';

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Calls that run until they are let go, in the order in which they got their places; a `~` before the name: background work. */
function calls(concurrency: number, queueLimit: number) {
  const withPlace = createModelPlaces(concurrency, queueLimit);
  const begun: string[] = [];
  const turnedAway: string[] = [];
  const running = new Map<string, () => void>();
  const ask = (name: string, signal = new AbortController().signal): void => {
    const work = () =>
      new Promise<void>((resolve) => {
        begun.push(name);
        running.set(name, resolve);
      });
    const isBackground = name.startsWith('~');
    const userId = name.replace(/^~|\d+$/gu, '');
    withPlace(work, { userId, isBackground, signal }).catch(() => turnedAway.push(name));
  };
  const askAll = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) ask(name);
    await settle();
  };
  const end = async (name: string): Promise<void> => {
    running.get(name)?.();
    running.delete(name);
    await settle();
  };
  return { begun, turnedAway, ask: askAll, askUntil: ask, end };
}

describe('places at the model [L1]', () => {
  it('are given to one person two at a time at most, however many are free', async () => {
    const { ask, end, begun } = calls(4, 50);
    await ask('alice1', 'alice2', 'alice3', 'alice4');
    expect(begun).toEqual(['alice1', 'alice2']);

    await ask('bob1', 'carol1');
    await end('alice1');

    expect(begun).toEqual(['alice1', 'alice2', 'bob1', 'carol1', 'alice3']);
  });

  it('go round by person, no matter who asked first', async () => {
    const { ask, end, begun } = calls(1, 50);
    await ask('alice1', 'alice2', 'alice3', 'bob1', 'bob2', 'carol1');

    for (const name of ['alice1', 'bob1', 'carol1', 'alice2', 'bob2', 'alice3']) {
      expect(begun.at(-1)).toBe(name);
      await end(name);
    }
  });

  it('are given to answers before background work, which leaves one free and counts to its person', async () => {
    const { ask, end, begun } = calls(3, 50);
    await ask('~alice1', '~bob1', '~carol1');
    expect(begun).toEqual(['~alice1', '~bob1']);

    await ask('~alice2', 'alice3', 'dave1');
    expect(begun).toEqual(['~alice1', '~bob1', 'alice3']);
    await end('~bob1');

    expect(begun.at(-1)).toBe('dave1');
    await end('dave1');
    expect(begun.at(-1)).toBe('~carol1');
  });

  it('are given to everybody, even while one person keeps asking', async () => {
    const { ask, end, begun, turnedAway } = calls(2, 4);
    await ask(...Array.from({ length: 20 }, (_, index) => `alice${index}`));
    expect(turnedAway).toHaveLength(14);

    await ask('bob1', 'carol1', '~dave1', 'erin1');

    // The newest calls of the person with most waiting give way; answers never give way to background work, which is refused at once.
    expect(turnedAway.slice(14)).toEqual(['~dave1', 'alice5', 'alice4', 'alice3']);
    for (const name of ['alice0', 'alice1']) await end(name);
    expect(begun.slice(2)).toEqual(['bob1', 'carol1']);
  });

  it('are waited for by background work only as long as no answer needs its place', async () => {
    const { ask, turnedAway } = calls(1, 2);
    await ask('alice1', '~bob1', 'carol1', 'dave1');
    expect(turnedAway).toEqual(['~bob1']);
  });

  it('are free again after work that was given up, running or waiting', async () => {
    const { ask, askUntil, end, begun, turnedAway } = calls(1, 5);
    const wish = new AbortController();
    await ask('alice1');
    askUntil('bob1', wish.signal);
    wish.abort();
    await ask('carol1');
    await end('alice1');
    await settle();

    expect(turnedAway).toEqual(['bob1']);
    expect(begun).toEqual(['alice1', 'carol1']);
  });
});
