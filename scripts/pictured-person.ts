import { join } from 'node:path';

import type { startBot } from '../src/bot/start-bot.ts';
import type { Environment } from '../src/config/config.ts';
import type { Place } from '../src/core/place.ts';
import {
  durableDocumentKind,
  durableKey,
  emptyDurableDocument,
  type DurableItem,
} from '../src/memory/durable/document.ts';
import type { SandboxServer } from '../src/sandbox/sandbox-server.ts';
import { createFileStore } from '../src/storage/files/store.ts';
import { writeConversation, writeUsage } from '../test/support/long-history.ts';
import { streamedMessage } from '../test/support/model-answer.ts';
import { startModelServer } from '../test/support/model-server.ts';
import { silent } from '../test/support/sessions.ts';

/** When the pictures are taken. */
export const picturedNow = Date.parse('2026-03-14T10:20:00Z');

const dayMs = 86_400_000;

type Told = Pick<DurableItem, 'text' | 'kind' | 'visibility'> &
  Partial<Pick<DurableItem, 'question' | 'when' | 'pinned'>> & {
    readonly daysAgo: number;
    /** Without a channel in the DM. */
    readonly in?: string;
    readonly type?: DurableItem['source']['type'];
  };

const told: readonly Told[] = [
  {
    text: 'I am allergic to peanuts',
    kind: 'constraint',
    visibility: 'everywhere',
    daysAgo: 121,
    in: 'general',
    pinned: true,
  },
  {
    text: 'Porto',
    question: 'Where do you live?',
    kind: 'fact',
    visibility: 'everywhere',
    daysAgo: 240,
    in: 'general',
    type: 'discord',
  },
  {
    text: 'I prefer Rust over Go for command line tools',
    kind: 'preference',
    visibility: 'everywhere',
    daysAgo: 96,
    in: 'dev',
  },
  {
    text: 'Our parser has to run without a network',
    kind: 'constraint',
    visibility: 'server',
    daysAgo: 41,
    in: 'dev',
    type: 'discord',
  },
  {
    text: 'I usually review pull requests before lunch',
    kind: 'workflow',
    visibility: 'server',
    daysAgo: 201,
    in: 'dev',
    type: 'summary',
  },
  {
    text: 'I grow tomatoes, beans and basil on the balcony',
    kind: 'project',
    visibility: 'server',
    daysAgo: 9,
    in: 'garden',
    type: 'discord',
  },
  {
    text: 'The balcony gets sun only until two in the afternoon',
    kind: 'fact',
    visibility: 'server',
    daysAgo: 8,
    in: 'garden',
    type: 'summary',
  },
  { text: 'I am learning the cello', kind: 'fact', visibility: 'dm', daysAgo: 30 },
  { text: 'I practise the cello on Sundays', kind: 'fact', visibility: 'dm', daysAgo: 2 },
  {
    text: 'My sister Inês visits me on 21 March',
    kind: 'person',
    visibility: 'dm',
    daysAgo: 5,
    when: '2026-03-21',
    type: 'discord',
  },
  {
    text: 'I have an appointment with the dentist on 2 March',
    kind: 'fact',
    visibility: 'dm',
    daysAgo: 20,
    when: '2026-03-02',
  },
];

/** By channel; `dm` is the direct messages. */
const conversations = {
  dm: {
    daysAgo: 2,
    summary:
      'Alice is learning the cello and practises on Sundays. Her sister Inês visits on 21 March; Alice wants to cook without peanuts for both.',
    texts: [
      'I practise the cello on Sundays',
      'How far are you with the first suite?',
      'Inês, my sister, visits me next week',
      'Shall I remember what she likes to eat?',
    ],
  },
  garden: {
    daysAgo: 8,
    summary:
      'Alice plans her balcony: tomatoes, beans and basil, in sun until two. She wants to start seeds indoors in the middle of March and to share cuttings with Bob.',
    texts: [
      'I grow tomatoes, beans and basil on the balcony',
      'That goes well together. Give the tomatoes the sunniest place; beans put up with a little shade.',
      'The balcony gets sun only until two in the afternoon',
      'Then cherry tomatoes are the safer choice: they ripen with less sun.',
      'When should I start the seeds?',
      'Indoors in the middle of March, and outside from the end of April.',
    ],
  },
  dev: {
    daysAgo: 41,
    summary:
      'The team writes a parser that has to run without a network. Alice prefers Rust for it, and asked for a release before Easter.',
    texts: [
      'Our parser has to run without a network',
      'Then it has to bring its grammar along: I would build it into the binary.',
      'Can we release before Easter?',
      'If the grammar is final by the middle of March, yes.',
    ],
  },
  general: {
    daysAgo: 121,
    summary: 'Alice is allergic to peanuts and asked which sauces to avoid.',
    texts: ['Which sauces should I avoid?', 'Satay and many pestos: both often have peanuts in them.'],
  },
};

const notebook = {
  'USER.md':
    '# Alice\n> Summary: who Alice is\n\n- lives in Porto, works on developer tools\n- likes short answers with an example\n',
  'MEMORY.md':
    '# What matters now\n> Summary: plans of this spring\n\n- Inês visits on 21 March\n- the parser is released before Easter\n',
  'topics/garden.md':
    '# Balcony\n> Summary: what grows on the balcony\n\n- sun until two: cherry tomatoes\n- seeds indoors from the middle of March\n',
};

const answers: Readonly<Record<string, string>> = {
  'what can I sow this weekend?':
    'Your tomatoes and basil, indoors: it is the middle of March. The beans go outside at the end of April.',
  'when does Inês come?': 'On 21 March, which is next Saturday.',
  'what should I write the release script in?':
    'In Rust, as you prefer for command line tools. It also runs without a network, as your parser has to.',
};

/** What a vendor would count. */
const tokens: Readonly<Record<string, number>> = {
  input_tokens: 412,
  cache_read_input_tokens: 4380,
  cache_creation_input_tokens: 310,
  output_tokens: 58,
};

/** Writes all that is remembered of the sandbox's owner into the bot's folder; resolves with what the bot has to be configured by. */
export async function writePicturedPerson(sandbox: SandboxServer, folder: string): Promise<Environment> {
  for (const name of ['garden']) await sandbox.addChannel({ name });
  const { owner, guilds, channels } = await sandbox.info();
  const [guildId = ''] = Object.values(guilds);
  const dm = await sandbox.openDm({ person: owner.name });
  const placeIn = (channelName: string | undefined): Place => {
    const channelId = channels[channelName ?? ''] ?? dm.id;
    return channelName === undefined
      ? { audience: 'dm', channelId, homeId: channelId }
      : { audience: 'public', channelId, homeId: channelId, guildId, channelName };
  };
  const store = await createFileStore({
    dataDir: join(folder, 'data'),
    workspaceDir: join(folder, 'workspace'),
    clock: () => new Date(),
    logger: silent,
  });
  const said = new Map<string, string>();
  for (const [name, { daysAgo, summary, texts }] of Object.entries(conversations)) {
    const ids = await writeConversation(
      store,
      owner.id,
      placeIn(name === 'dm' ? undefined : name),
      picturedNow - daysAgo * dayMs,
      {
        texts,
        summary,
      },
    );
    for (const [index, id] of ids.entries()) said.set(texts[2 * index] ?? '', id);
  }
  const items = told.map(
    ({ daysAgo, in: channelName, type = 'manual', pinned = false, ...item }, index): DurableItem => {
      const at = new Date(picturedNow - daysAgo * dayMs - index * 1_234_567).toISOString();
      const { channelId, homeId: _, audience: __, ...place } = placeIn(channelName);
      const source = { type, channelId, messageId: said.get(item.text) ?? '', ...place };
      return {
        ...item,
        id: `a${index}`.padStart(8, '0'),
        status: 'active',
        pinned,
        source,
        createdAt: at,
        updatedAt: at,
      };
    },
  );
  await store.update(durableKey(owner.id), durableDocumentKind, () => ({ ...emptyDurableDocument, items }));
  for (const [path, text] of Object.entries(notebook)) await store.writeText(`workspace/${path}`, text);
  await writeUsage(store, picturedNow);
  await store.close();
  const model = await startModelServer(({ messages = [], tools }) => {
    // A summary.
    if (tools === undefined) return { text: conversations.dm.summary };
    const asked =
      messages
        .at(-1)
        ?.content.map(({ text = '' }) => text)
        .join('') ?? '';
    const [, answer = 'Understood.'] =
      Object.entries(answers).find(([question]) => asked.includes(question)) ?? [];
    const events = streamedMessage({ blocks: [{ type: 'text', pieces: [answer] }], stop: 'end_turn' });
    return { events: JSON.parse(JSON.stringify(events), (key, value) => tokens[key] ?? value) };
  });
  return {
    ANTHROPIC_BASE_URL: model.url,
    DISCOCLAW_TIMEZONE: 'UTC',
  };
}

/** Has the person ask, so that there are answers to look into. */
export async function talk(sandbox: SandboxServer, bot: Awaited<ReturnType<typeof startBot>>): Promise<void> {
  const { owner } = await sandbox.info();
  for (const text of Object.keys(answers)) {
    const { id, channelId } = await sandbox.say({ as: owner.name, in: 'dm', text });
    await sandbox.waitForReply({ in: channelId, after: id });
    await bot.idle();
  }
}
