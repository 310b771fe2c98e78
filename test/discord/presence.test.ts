import { once } from 'node:events';

import { Events } from 'discord.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createPresence, presences, type ShownState } from '../../src/discord/presence.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import { newClient, openSandbox } from './support/gateway-harness.ts';

function presenceAt() {
  const timer = new ManualTimer();
  const sent: { readonly state: string | undefined; readonly at: number }[] = [];
  const connected: (() => void)[] = [];
  const client = {
    isReady: () => true,
    on: (_: string, again: () => void) => connected.push(again),
    user: {
      setPresence(data: unknown): void {
        const [state] = Object.entries(presences).find(([, each]) => each === data) ?? [];
        sent.push({ state, at: timer.now });
      },
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of the library's client only this is used
  const presence = createPresence(client as never, timer.set);
  return { timer, sent, presence, again: () => connected[0]?.() };
}

describe('the presence', () => {
  it('changes at once, and then not again for five seconds, to what holds by then', () => {
    const { timer, sent, presence } = presenceAt();
    presence.show('well');
    presence.show('out-of-reach');
    timer.pass(1000);
    presence.show('well');
    presence.show('out-of-reach');
    presence.show('well');
    timer.pass(10_000);
    expect(sent).toEqual([
      { state: 'out-of-reach', at: 0 },
      { state: 'well', at: 5000 },
    ]);
  });

  it('is set again on a new connection', () => {
    const { timer, sent, presence, again } = presenceAt();
    presence.show('out-of-reach');
    timer.pass(6000);
    again();
    expect(sent.map(({ state }) => state)).toEqual(['out-of-reach', 'out-of-reach']);
  });

  it('is never sent more than five times in twenty seconds, and in the end is what was shown last', () => {
    const step = fc.record({
      state: fc.constantFrom('well' as const, 'out-of-reach' as const, 'stand-in' as const, undefined),
      ms: fc.integer({ min: 0, max: 4000 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { timer, sent, presence, again } = presenceAt();
        let wanted: ShownState = 'well';
        for (const { state, ms } of steps) {
          if (state === undefined) again();
          else presence.show((wanted = state));
          timer.pass(ms);
        }
        timer.pass(20_000);
        for (const { at } of sent)
          expect(sent.filter((each) => each.at >= at && each.at < at + 20_000).length).toBeLessThanOrEqual(5);
        const end = sent.at(-1)?.state ?? 'well';
        expect(end).toBe(wanted);
      }),
    );
  });
});

describe("a client's presence", () => {
  it('is what was shown before it was ready, and is set again on a new session', async () => {
    const server = await openSandbox();
    const client = newClient(server);
    const timer = new ManualTimer();
    const presence = createPresence(client, timer.set);
    presence.show('stand-in');
    await client.login(server.token);
    const shown = async () => (await server.presence()).activities.map(({ state }) => state);
    await expect.poll(shown).toEqual(['Offline model: no language model is configured']);
    timer.pass(6000);
    presence.show('out-of-reach');
    await expect.poll(shown).toEqual(['My language model is out of reach']);

    const connectedAgain = once(client, Events.ShardReady);
    await server.dropConnection({ how: 'cut', resumable: false });
    await connectedAgain;
    timer.pass(6000);
    await expect.poll(shown).toEqual(['My language model is out of reach']);
  });

  it('is sent no more once it is closed, though one was about to be', async () => {
    const server = await openSandbox();
    const client = newClient(server);
    const timer = new ManualTimer();
    const presence = createPresence(client, timer.set);
    await client.login(server.token);
    presence.show('out-of-reach');
    presence.show('well');
    presence.close();
    await client.destroy();
    // A rejection that nobody hears of would fail the run.
    expect(() => timer.pass(6000)).not.toThrow();
  });
});
