import { setTimeout as delay } from 'node:timers/promises';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { startPostgresServer, type PostgresServer } from '../support/postgres-server.ts';
import { openStage } from '../e2e/stage.ts';

/** As long as a failover takes where it is slow. */
const failoverMs = 20_000;

const openBot = (url: string) => openStage({ isBuilt: true, environment: { DISCOCLAW_STORE: url } });

describe('a bot whose database fails, as people see it [S2][E3]', () => {
  let server: PostgresServer;
  beforeEach(async () => {
    server = await startPostgresServer({ fsync: 'off', full_page_writes: 'off' });
  });
  afterEach(() => server.dispose());

  it('says in one line that nothing can be saved while another server takes over, and goes on by itself', async () => {
    await using stage = await openBot(server.url);
    const say = async (text: string) => (await stage.ask('bob', '@bob', text)).text;
    expect(await say('!memory remember I drink oolong tea')).toContain('oolong');
    await server.stop('immediate');
    const back = delay(failoverMs).then(() => server.start());
    const refused: string[] = [];
    for (let number = 1; number <= 2; number += 1)
      refused.push(await say(`!memory remember I own teapot number ${number}`));
    // The last may come when it is over.
    expect(refused[0]).toMatch(oneClearLine);
    const kept = refused.filter((answer) => !oneClearLine.test(answer));
    for (const answer of kept) expect(answer).toMatch(/^Remembered: "I own teapot/u);
    await back;
    await expect.poll(() => say('!memory remember I drink rooibos')).toContain('rooibos');
    const shown = await say('!memory show');
    expect(shown).toContain('oolong');
    expect(shown).toContain('rooibos');
    expect(shown.match(/teapot/gu) ?? []).toHaveLength(kept.length);
  });
});

const oneClearLine =
  /^I can't read or save your memory right now, so this may not have worked\. Please try again/u;
