import { getEventListeners } from 'node:events';

import { expect, it, onTestFinished } from 'vitest';

import { openStage } from './stage.ts';

const people = Array.from({ length: 20 }, (_, index) => `person${index}`);

/** Every abort signal that somebody listens to from now on. */
function watchSignals(): ReadonlySet<AbortSignal> {
  const seen = new Set<AbortSignal>();
  const { prototype } = AbortSignal;
  const listen = Reflect.get(prototype, 'addEventListener');
  prototype.addEventListener = function add(this: AbortSignal, ...given: unknown[]) {
    seen.add(this);
    Reflect.apply(listen, this, given);
  };
  onTestFinished(() => {
    prototype.addEventListener = listen;
  });
  return seen;
}

it('twenty turns at once make no signal collect listeners, and leave none behind', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  await using stage = await openStage({
    environment: { DISCOCLAW_MODEL_CONCURRENCY: '20', DISCOCLAW_RATE_PER_MINUTE: '1' },
    model: () => ({ text: 'Understood.' }),
  });
  const { sandbox } = stage;
  for (const name of people) await sandbox.addPerson({ name });
  const signals = watchSignals();
  const allSay = (text: string) =>
    Promise.all(people.map((as) => sandbox.say({ as, in: '#general', text, mentionBot: true })));
  const fromBot = async (part: string): Promise<number> =>
    (await sandbox.messages({ in: '#general', from: 'bot' })).filter(({ text }) => text.includes(part))
      .length;
  await allSay('I like tea.');
  await expect.poll(() => fromBot('Understood.')).toBe(people.length);
  // Over the limit now, all of them wait.
  await allSay('I like coffee.');
  await expect.poll(() => fromBot('⏳')).toBe(people.length);
  expect(signals.size).toBeGreaterThan(people.length);
  await stage.stopBot();
  await expect.poll(() => [...signals].flatMap((signal) => getEventListeners(signal, 'abort'))).toEqual([]);
  expect(warnings).toEqual([]);
});
