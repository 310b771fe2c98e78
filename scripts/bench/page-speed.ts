import { startBrowser } from '../../test/browser/browser.ts';
import { freePort } from '../../test/support/free-port.ts';
import { usualText } from '../../test/support/large-memory.ts';
import { pagesFrom, writeLongHistory } from '../../test/support/long-history.ts';
import { ask, openStage, startOurs } from './bots.ts';
import { print, timeOf, type Bench } from './measured.ts';

const rounds = 15;
/** Said in the page; milliseconds from its beginning. */
const painted = () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime;

/** Every page of an owner with 200 items, 20 conversations and 5,000 messages: its time on the server, its size, and its first paint in a fresh tab. */
export async function benchPages(bench: Bench): Promise<void> {
  const { sandbox, folder } = await openStage();
  const { owner } = await sandbox.info();
  await writeLongHistory(folder, sandbox, owner.id);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const environment = { DISCOCLAW_PAGE_PORT: String(port), DISCOCLAW_PAGE_URL: url };
  const bot = await startOurs({ sandbox, folder, environment });
  for (let turn = 0; turn < 20; turn += 1) await ask(sandbox, owner.name, usualText(turn));
  const slash = { as: owner.name, in: 'dm', name: 'memory', subcommand: 'page' };
  const { answer } = await sandbox.slash(slash);
  const link = answer?.components.rows[0]?.buttons[0]?.url ?? '';
  const opened = await fetch(link, { method: 'POST', headers: { origin: url }, redirect: 'manual' });
  const [cookie = ''] = opened.headers.get('set-cookie')?.split(';') ?? [];
  const read = async (path: string) => (await fetch(url + path, { headers: { cookie } })).text();
  const paints = await openPaints(url, cookie);
  for (const path of await pagesFrom(read)) {
    const size = Buffer.byteLength(await read(path)) / 1000;
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) times.push(await timeOf(() => read(path)));
    bench.tell([`${path} on the server`, 'ms', 'at most 100 ms'], times);
    bench.tell([`${path} size`, 'kB', 'at most 200 kB'], [size]);
    if (paints !== undefined)
      bench.tell([`${path} first paint`, 'ms', 'at most 500 ms'], await paints.of(path));
  }
  await paints?.close();
  await bot.stop();
  await sandbox.close();
}

/** `undefined` where there is no Chromium. */
async function openPaints(url: string, cookie: string) {
  const browser = await startBrowser().catch((error: unknown) => {
    print(`first paint is not measured: ${String(error)}`);
    return undefined;
  });
  if (browser === undefined) return undefined;
  const context = await browser.newContext();
  const [name = '', value = ''] = cookie.split('=');
  await context.addCookies([{ name, value, url }]);
  return {
    async of(path: string): Promise<readonly number[]> {
      const paints: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const page = await context.newPage();
        await page.goto(url + path);
        paints.push(Number(await (await page.waitForFunction(painted)).jsonValue()));
        await page.close();
      }
      return paints;
    },
    close: () => browser.close(),
  };
}
