import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { startPostgresServer, type PostgresServer } from '../support/postgres-server.ts';
import { openStage } from '../e2e/stage.ts';

/** As long as a failover takes where it is slow. */
const failoverMs = 20_000;
const canMount = process.getuid?.() === 0 && process.platform === 'linux';

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

  it.skipIf(!canMount)(
    'says so where the server’s disk is really full, and keeps what was acknowledged',
    async () => {
      const disk = join(server.folder, 'small');
      mkdirSync(disk);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk]);
      try {
        const own = join(disk, 'data');
        mkdirSync(own);
        chmodSync(own, 0o700);
        chownSync(own, 65_534, 65_534);
        await run(server, `create tablespace small location '${own}'`);
        await run(server, 'create database small tablespace small');
        await using stage = await openBot(server.url.replace(/postgres$/u, 'small'));
        const say = async (text: string) => (await stage.ask('bob', '@bob', text)).text;
        const acknowledged: string[] = [];
        expect(await say('!memory remember I drink oolong tea')).toContain('oolong');
        const { bavail, bsize } = statfsSync(disk);
        writeFileSync(join(disk, 'filler'), Buffer.alloc(bavail * bsize));
        let refusal = '';
        // What fits into the pages that are there is still taken.
        for (let number = 1; refusal === '' && number < 500; number += 1) {
          const answer = await say(`!memory remember I own teapot number ${number} ${words(number)}`);
          if (answer.includes(`teapot number ${number}`)) acknowledged.push(`teapot number ${number} `);
          else refusal = answer;
        }
        expect(refusal).toMatch(oneClearLine);
        rmSync(join(disk, 'filler'));
        expect(await say('!memory remember I drink rooibos')).toContain('rooibos');
        const all = (await run(server, 'select document::text from discoclaw.entries', 'small')).join('\n');
        for (const item of ['oolong', 'rooibos', ...acknowledged]) expect(all).toContain(item);
      } finally {
        await server.stop('immediate');
        execFileSync('umount', ['-l', disk]);
      }
      expect(readFileSync('/proc/mounts', 'utf8')).not.toContain(disk);
    },
  );
});

const oneClearLine = /^I can't save right now, so this may not have worked\. Please try again/u;

/** Text that the server's compression makes little of. */
function words(number: number): string {
  return Array.from({ length: 40 }, (_, index) =>
    ((number * 7919 + index * 104_729) % 1_000_003).toString(36),
  ).join(' ');
}

async function run(server: PostgresServer, text: string, database = 'postgres'): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: server.url.replace(/postgres$/u, database) });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows.map((row) =>
      Object.values(row).join(' '),
    );
  } finally {
    await client.end();
  }
}
