import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { install } from '@sinonjs/fake-timers';
import sharp from 'sharp';

import type { Environment } from '../src/config/config.ts';
import {
  durableDocumentKind,
  durableKey,
  emptyDurableDocument,
  type DurableItem,
} from '../src/memory/durable/document.ts';
import { createFileStore } from '../src/storage/files/store.ts';
import { startBrowser } from '../test/browser/browser.ts';
import { writeUsage } from '../test/support/long-history.ts';
import { streamedMessage } from '../test/support/model-answer.ts';
import { startModelServer } from '../test/support/model-server.ts';
import type { TestSandbox } from '../test/support/sandbox/test-sandbox.ts';
import { silent } from '../test/support/sessions.ts';
import { withSandboxBot } from './sandbox-bot.ts';

/** Takes the pictures of the page in docs/pictures, as the running bot shows it to a made-up person in the sandbox [Y6]. */
const folder = join(import.meta.dirname, '../docs/pictures');
/** By name where it is; of the last, where the first link leads to it. */
const pictured = { items: '/', review: '/review', status: '/status', 'answers-one': '/answers' };
const viewport = { width: 1280, height: 900 };
const now = Date.parse('2026-03-14T10:20:00Z');
const dayMs = 86_400_000;

type Told = readonly [
  daysAgo: number,
  channel: string,
  visibility: DurableItem['visibility'],
  kind: DurableItem['kind'],
  type: DurableItem['source']['type'],
  text: string,
  more?: Partial<DurableItem>,
];

const told: readonly Told[] = [
  [121, 'general', 'everywhere', 'constraint', 'manual', 'I am allergic to peanuts', { pinned: true }],
  [240, 'general', 'everywhere', 'fact', 'discord', 'Porto', { question: 'Where do you live?' }],
  [96, 'dev', 'everywhere', 'preference', 'manual', 'I prefer Rust over Go for command line tools'],
  [41, 'dev', 'server', 'constraint', 'discord', 'Our parser has to run without a network'],
  [201, 'dev', 'server', 'workflow', 'summary', 'I usually review pull requests before lunch'],
  [9, 'garden', 'server', 'project', 'discord', 'I grow tomatoes, beans and basil on the balcony'],
  [8, 'garden', 'server', 'fact', 'summary', 'The balcony gets sun only until two in the afternoon'],
  [30, 'dm', 'dm', 'fact', 'manual', 'I am learning the cello'],
  [2, 'dm', 'dm', 'fact', 'manual', 'I practise the cello on Sundays'],
  [5, 'dm', 'dm', 'person', 'discord', 'My sister Inês visits me on 21 March', { when: '2026-03-21' }],
  [20, 'dm', 'dm', 'fact', 'manual', 'I see the dentist on 2 March', { when: '2026-03-02' }],
];

const notebook = {
  'USER.md': '# Alice\n> Summary: who Alice is\n\n- works on developer tools\n- likes short answers\n',
  'MEMORY.md': '# What matters now\n> Summary: plans of this spring\n\n- Inês visits on 21 March\n',
  'topics/garden.md': '# Balcony\n> Summary: what grows on the balcony\n\n- seeds indoors from March\n',
};

const question = 'what can I sow this weekend?';
const answer =
  'Your tomatoes and basil, indoors: it is the middle of March. The beans wait for the end of April.';
/** What a vendor would count. */
const tokens: Readonly<Record<string, number>> = {
  input_tokens: 412,
  cache_read_input_tokens: 4380,
  cache_creation_input_tokens: 310,
  output_tokens: 58,
};

/** Writes all that is remembered of the sandbox's owner into the bot's folder; resolves with what the bot has to be configured by. */
async function writePerson(sandbox: TestSandbox, botFolder: string): Promise<Environment> {
  await sandbox.addChannel({ name: 'garden' });
  const { owner, guilds, channels } = await sandbox.info();
  const { id: dm } = await sandbox.openDm({ person: owner.name });
  const [guildId = ''] = Object.values(guilds);
  const store = await createFileStore({
    dataDir: join(botFolder, 'data'),
    workspaceDir: join(botFolder, 'workspace'),
    clock: () => new Date(),
    logger: silent,
  });
  const items = told.map(([daysAgo, channelName, visibility, kind, type, text, more], index): DurableItem => {
    const at = new Date(now - daysAgo * dayMs - index * 1_234_567).toISOString();
    const channelId = channels[channelName];
    const source = {
      type,
      messageId: '',
      ...(channelId ? { channelId, guildId, channelName } : { channelId: dm }),
    };
    const item = { id: `a${index}`.padStart(8, '0'), text, kind, visibility, source };
    return { ...item, status: 'active', pinned: false, createdAt: at, updatedAt: at, ...more };
  });
  await store.update(durableKey(owner.id), durableDocumentKind, () => ({ ...emptyDurableDocument, items }));
  for (const [path, text] of Object.entries(notebook)) await store.writeText(`workspace/${path}`, text);
  await writeUsage(store, now);
  await store.close();
  const said = streamedMessage({ blocks: [{ type: 'text', pieces: [answer] }], stop: 'end_turn' });
  const events = JSON.parse(JSON.stringify(said), (key, value) => tokens[key] ?? value);
  const model = await startModelServer(() => ({ events }));
  return { ANTHROPIC_BASE_URL: model.url, DISCOCLAW_TIMEZONE: 'UTC' };
}

// The pages tell times, which are the same each time then.
install({ now, toFake: ['Date'], shouldAdvanceTime: true });
await mkdir(folder, { recursive: true });
const browser = await startBrowser();
try {
  await withSandboxBot(writePerson, async (sandbox, bot) => {
    const { owner } = await sandbox.info();
    const { id, channelId } = await sandbox.say({ as: owner.name, in: 'dm', text: question });
    await sandbox.waitForReply({ in: channelId, after: id });
    await bot.idle();
    const look = { viewport, timezoneId: 'UTC', locale: 'en-GB', colorScheme: 'light' } as const;
    const page = await browser.newPage(look);
    await page.goto((await bot.pageLink({ ...owner, isOwner: true })) ?? '');
    await page.getByRole('button').click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    const home = page.url();
    for (const [name, path] of Object.entries(pictured)) {
      await page.goto(new URL(path, home).href);
      if (name === 'answers-one') await page.locator('main a[href^="/answers/"]').first().click();
      const taken = await page.screenshot({ caret: 'hide' });
      const file = join(folder, `${name}-${viewport.width}.png`);
      await sharp(taken).png({ palette: true, colours: 64, effort: 10 }).toFile(file);
    }
  });
} finally {
  await browser.close();
}
// The clock and the model's server would go on.
process.exit();
