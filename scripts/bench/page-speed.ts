import { freePort } from '../../test/support/free-port.ts';
import { usualText } from '../../test/support/large-memory.ts';
import { pagesFrom, writeLongHistory } from '../../test/support/long-history.ts';
import { ask, openStage, startBot } from './bots.ts';
import { tell, timeOf } from './measured.ts';

const rounds = 15;

/** Every page of an owner with 200 items, 20 conversations and 5,000 messages: its time on the server, and its size. */
export async function benchPages(): Promise<void> {
  const { sandbox, folder } = await openStage();
  const { owner } = await sandbox.info();
  await writeLongHistory(folder, sandbox, owner.id);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const environment = { DISCOCLAW_PAGE_PORT: String(port), DISCOCLAW_PAGE_URL: url };
  const bot = await startBot({ sandbox, folder, environment });
  for (let turn = 0; turn < 20; turn += 1) await ask(sandbox, owner.name, usualText(turn));
  const slash = { as: owner.name, in: 'dm', name: 'memory', subcommand: 'page' };
  const { answer } = await sandbox.slash(slash);
  const link = answer?.components.rows[0]?.buttons[0]?.url ?? '';
  const opened = await fetch(link, { method: 'POST', headers: { origin: url }, redirect: 'manual' });
  const [cookie = ''] = opened.headers.get('set-cookie')?.split(';') ?? [];
  const read = async (path: string) => (await fetch(url + path, { headers: { cookie } })).text();
  for (const path of await pagesFrom(read)) {
    const size = Buffer.byteLength(await read(path)) / 1000;
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) times.push(await timeOf(() => read(path)));
    tell([`${path} on the server`, 'ms', 'at most 100 ms'], times);
    tell([`${path} size`, 'kB', 'at most 200 kB'], [size]);
  }
  await bot.stop();
  await sandbox.close();
}
