import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { offerHead } from '../../../src/core/tool.ts';
import { eventually } from '../../support/eventually.ts';
import { runGateway, type RunningGateway, type RunOptions } from '../support/gateway-harness.ts';

/** Bob's question in #general, the bot's answer, and what stands under it; `done` is what was carried out. */
async function openOffers(options: RunOptions = {}) {
  const running = await runGateway(options);
  const { server, offers, ids } = running;
  const asked = await server.say({ as: 'bob', in: '#general', text: '@Discoclaw pin it' });
  const answered = await server.say({ as: 'Discoclaw', in: '#general', text: 'Shall I?' });
  const done: string[] = [];
  const hidden: string[] = [];
  const shown = {
    personId: ids['bob'] ?? '',
    channelId: ids['general'] ?? '',
    messages: [{ id: asked.id, text: asked.text }],
    replyIds: [answered.id],
    mayShow: () => Promise.resolve(true),
    beforeSeen: async (id: string) => void hidden.push(id),
  };
  const offer = (what: string, words?: string) => ({
    what,
    ...(words !== undefined && { words }),
    carryOut: async () => `did it ${done.push(what)} times`,
  });
  const messagesBelow = () => server.messages({ in: '#general', from: 'bot', after: answered.id });
  return {
    ...running,
    asked,
    answered,
    shown,
    done,
    hidden,
    offer,
    show: async (what: string, words?: string) => {
      await offers.show([offer(what, words)], shown);
      const [message] = (await messagesBelow()).slice(-1);
      return message?.id ?? '';
    },
    messagesBelow,
    buttons: async () =>
      (await messagesBelow()).map(({ components }) =>
        components.rows.flatMap(({ buttons }) => buttons.map(({ label }) => label)),
      ),
  };
}

function click({ server }: Pick<RunningGateway, 'server'>, message: string, label: string, as = 'bob') {
  return server.click({ as, message, label });
}

describe('what a tool offers [M8]', () => {
  it('is shown literally, pings nobody and is kept out of history', async () => {
    const scene = await openOffers();
    const id = await scene.show('Send this to <#1>:', '||@everyone|| [x](https://x.example)\n```\u202enever');
    const [message] = await scene.messagesBelow();
    expect(message?.text).toBe(
      offerHead + '\nSend this to <#1>:\n```\n||@everyone|| [x](https://x.example)\n`\u2060``never\n```',
    );
    expect(message?.mentions).toEqual([]);
    expect(scene.hidden).toEqual([id]);
    expect(await scene.buttons()).toEqual([['Do it', 'No']]);
  });

  it('is done once, by whom it was offered to, and loses its buttons', async () => {
    const scene = await openOffers();
    const id = await scene.show('Pin it.');
    const strange = await click(scene, id, 'Do it', 'alice');
    expect(strange).toMatchObject({
      isEphemeral: true,
      answer: { text: expect.stringMatching(/^Only the person/u) },
    });
    expect(scene.done).toEqual([]);
    const [first, second] = await Promise.all([click(scene, id, 'Do it'), click(scene, id, 'Do it')]);
    await eventually(() => expect(scene.done).toEqual(['Pin it.']));
    await scene.settled();
    expect(scene.done).toEqual(['Pin it.']);
    const [one, other] = await Promise.all(
      [first, second].map((clicked) => scene.server.interaction({ id: clicked.id })),
    );
    expect([...(one?.followUps ?? []), ...(other?.followUps ?? [])]).toMatchObject([
      { isEphemeral: true, text: expect.stringMatching(/^This is over\. .*ask me again/u) },
    ]);
    expect(await scene.messagesBelow()).toMatchObject([
      { text: offerHead + '\nPin it.\n-# did it 1 times', components: { rows: [] } },
    ]);
  });

  it('says that nobody knows where it fails in the middle', async () => {
    const { offers, shown, server, messagesBelow, logger } = await openOffers();
    await offers.show([{ what: 'Pin it.', carryOut: () => Promise.reject(new Error('the network')) }], shown);
    const [message] = await messagesBelow();
    await server.click({ as: 'bob', message: message?.id ?? '', label: 'Do it' });
    await eventually(async () =>
      expect((await messagesBelow())[0]?.text).toMatch(/not known whether it was done/u),
    );
    expect(logger.warnings).toContain('an accepted offer failed');
  });

  it('goes away when its question is edited or deleted, or its answer deleted', async () => {
    for (const withdraw of [
      ({ server, asked }) => server.edit({ message: asked.id, text: '@Discoclaw never mind' }),
      ({ server, asked }) => server.delete({ message: asked.id }),
      ({ server, answered }) => server.delete({ message: answered.id }),
    ] satisfies ((scene: Awaited<ReturnType<typeof openOffers>>) => Promise<unknown>)[]) {
      const scene = await openOffers();
      await scene.show('Pin it.');
      await withdraw(scene);
      await eventually(async () => expect(await scene.messagesBelow()).toEqual([]));
      // Nor is anything offered after that.
      await scene.offers.show([scene.offer('Pin it.')], scene.shown);
      expect(await scene.messagesBelow()).toEqual([]);
    }
  });

  it('is over after ten minutes, and says so', async () => {
    const scene = await openOffers();
    const [early, late] = [await scene.show('Pin it.'), await scene.show('Pin that.')];
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 9 * 60_000 });
    onTestFinished(() => void vi.useRealTimers());
    await click(scene, early, 'Do it');
    await eventually(() => expect(scene.done).toEqual(['Pin it.']));
    vi.setSystemTime(Date.now() + 60_000);
    const clicked = await scene.server.click({ as: 'bob', message: late, label: 'Do it', followUps: 1 });
    expect(clicked.followUps).toMatchObject([{ text: expect.stringContaining('This is over') }]);
    expect(scene.done).toEqual(['Pin it.']);
  });
});
