/**
 * The least that a bot does, with discord.js and caches as small as it allows: logs in; puts a person's direct message on disk, shows that it types and asks
 * the model through its SDK unless it is a command, sends the answer, and puts that on disk; everything else it only hears.
 */
import { open } from 'node:fs/promises';

import { Client, Events, GatewayIntentBits, Options, Partials } from 'discord.js';

const { DISCORD_TOKEN: token, DISCORD_API_URL: apiUrl, MODEL_URL: modelUrl } = process.env;
const log = await open('floor.jsonl', 'a');

const intents = [
  GatewayIntentBits.Guilds,
  GatewayIntentBits.GuildMessages,
  GatewayIntentBits.GuildMessageReactions,
  GatewayIntentBits.DirectMessages,
  GatewayIntentBits.DirectMessageReactions,
  GatewayIntentBits.MessageContent,
];
const client = new Client({
  intents,
  partials: [Partials.Channel],
  rest: { api: apiUrl.replace(/\/v\d+$/u, '') },
  makeCache: Options.cacheWithLimits({
    ...Options.DefaultMakeCacheSettings,
    GuildEmojiManager: 0,
    GuildMemberManager: { maxSize: 0, keepOverLimit: ({ id }) => id === client.user.id },
    GuildStickerManager: 0,
    MessageManager: 0,
    PresenceManager: 0,
    ReactionManager: 0,
    ReactionUserManager: 0,
    ThreadMemberManager: 0,
    UserManager: { maxSize: 0, keepOverLimit: ({ id }) => id === client.user.id },
    VoiceStateManager: 0,
  }),
});

async function write(record) {
  await log.appendFile(`${JSON.stringify(record)}\n`);
  await log.datasync();
}

const sdk =
  modelUrl === undefined
    ? undefined
    : new (await import('@anthropic-ai/sdk')).default({ apiKey: 'none', baseURL: modelUrl });

/** What was said before goes along, as in any conversation. */
const history = [];

async function ask(text) {
  history.push({ role: 'user', content: text });
  const stream = sdk.messages.stream({ model: 'any', max_tokens: 4096, messages: history.slice(-59) });
  const answer = await stream.finalText();
  history.push({ role: 'assistant', content: answer });
  return answer;
}

client.on(Events.MessageCreate, async ({ author, channelId, content, guildId }) => {
  if (author.bot || guildId !== null) return;
  const isCommand = content.startsWith('!');
  if (!isCommand) void client.rest.post(`/channels/${channelId}/typing`).catch(() => {});
  await write({ channelId, content });
  const answer = isCommand || sdk === undefined ? 'Hello.' : await ask(content);
  await client.rest.post(`/channels/${channelId}/messages`, { body: { content: answer } });
  await write({ channelId, answer });
});
client.once(Events.ClientReady, () => process.send?.('ready'));
process.once('SIGTERM', () => void client.destroy().then(() => log.close()));
await client.login(token);
