import { expect, it } from 'vitest';

import { unconditional } from '../../src/core/writes.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { alice, bob, openPage } from './page-harness.ts';

it('every conversation is listed, shown with its notes, and its summary cleared [Y2]', async () => {
  await using place = await openPage();
  const { states, rolling, store } = place.harness;
  const session = { channelId: publicPlace.channelId, userId: aliceId };
  const path = `/conversations/${session.channelId}`;
  await states.update({ ...session, ...unconditional(aliceId) }, (state) => ({
    ...state,
    place: publicPlace,
  }));
  rolling.put(session, { text: 'They planned\na trip.', visibility: 'server', homeId: publicPlace.homeId });
  await store.writeText(`sessions/${session.channelId}/${aliceId}/overview.md`, 'Tents to buy\n');
  const browser = await place.browserOf(alice);
  const list = await browser.text('/conversations');
  expect(list).toContain(
    `<a href="${path}" data-key="open ${session.channelId}">#${publicPlace.channelName}`,
  );
  expect(list).toContain('They planned a trip.');
  const shown = await browser.text(path);
  expect(shown).toContain('They planned\na trip.');
  expect(shown).toContain('Tents to buy');
  expect(shown).toContain(`https://discord.com/channels/${publicPlace.guildId}/${session.channelId}`);
  const cleared = await browser.give(`reset rolling ${session.channelId}`, { back: path });
  expect(cleared).toContain('Rolling summary of that conversation cleared.');
  expect(cleared).not.toContain('They planned');
  const other = await place.browserOf(bob);
  expect((await other.ask(path)).status).toBe(404);
  expect(await other.text('/conversations')).toContain('We have had no conversation yet.');
});
