import { pathToFileURL } from 'node:url';
import { personaSource } from '../src/memory/settings/place-settings.ts';
import { parseArgs } from 'node:util';

import { botName, type Memory } from '../src/bot/layers.ts';
import { layersAlone } from '../test/support/layers-alone.ts';
import { openStore } from '../src/bot/open-store.ts';
import { createModel } from '../src/bot/create-model.ts';
import { loadEnvironment, readConfig, type Config, type Environment } from '../src/config/config.ts';
import type { ChatMessage } from '../src/core/message.ts';
import { estimateTokens, textOf, type TextBlock } from '../src/core/model.ts';
import type { Place, SessionKey } from '../src/core/place.ts';
import { snowflakeAt } from '../src/core/snowflake.ts';
import { createLogger } from '../src/observability/logger.ts';
import type { Prompt } from '../src/prompt/build-prompt.ts';
import { createPromptComposer } from '../src/turn/prompt-input.ts';

const clock = () => new Date();

const usage = `Prints the prompt that a person's next message in a channel would be sent with.

npm run prompt -- --user <id or name> --channel <id, name or dm> [--message <text>] [--owner]

History is taken from the session's own log. What may be done on Discord is known to the running bot only, and left out. --owner: as the bot's owner, whose DMs hold the workspace; known by itself where
DISCOCLAW_OWNER_IDS is set.`;

type Wish = Readonly<Record<'user' | 'channel' | 'message', string> & { owner: boolean }>;

async function reportPrompt(config: Config, wish: Wish): Promise<string> {
  const logger = createLogger({ level: 'warn' });
  // Beside a running bot: nothing is locked and nothing is written.
  const { store } = await openStore(config, { as: 'reader', clock, logger });
  try {
    const model = await createModel(config.model, logger);
    const servers = new Set<string>();
    const memory = layersAlone(config, {
      store,
      model,
      server: { hasSeveral: () => servers.size > 1 },
      logger,
    });
    const { session, place, speakerName } = await findSession(memory, wish, servers);
    // As the bot does it, where there is no Discord.
    const composer = createPromptComposer({
      always: [memory.workspace.channelContext, personaSource(memory.placeSettings)],
      layers: memory.layers,
      soul: memory.workspace.soul,
      history: {
        recent: async (channelId, limit) =>
          (await memory.sessionLog.since(session, 0)).messages
            .slice(-limit)
            .map(({ message }): ChatMessage => {
              const { id, author: name, text, at, attachments } = message;
              const isOwn = message.role === 'assistant';
              const kind = isOwn ? 'self' : 'human';
              const author = { id: isOwn ? id : message.authorId, name, kind } as const;
              return { id, channelId, author, text, at, attachments };
            }),
      },
      attachments: { open: () => Promise.resolve([]) },
      readReplied: () => Promise.resolve('gone'),
      log: memory.sessionLog,
      people: memory.people,
      botName,
      timeZoneOf: memory.people.timeZoneOf,
      historyBudget: config.prompt.historyBudget,
      maxChars: config.prompt.maxChars,
      logger,
    });
    const now = clock();
    const isOwner = wish.owner || config.discord.ownerIds.includes(session.userId);
    const { prompt } = await composer.compose(
      {
        speaker: { id: session.userId, name: speakerName, isOwner },
        place,
        messages: [{ id: snowflakeAt(now), text: wish.message, at: now.toISOString(), attachments: [] }],
        now,
        work: session,
        hasThirdPartyText: true,
      },
      { isMemoryOff: await memory.placeSettings.isMemoryOff(place), areActionsOff: true },
      { tools: [], actions: new Set(), answerTokens: config.model.answerMaxTokens },
      new AbortController().signal,
    );
    return renderPromptReport(prompt);
  } finally {
    await store.close();
  }
}

/** Adds the servers that anything was said in to `servers`. */
async function findSession(memory: Memory, { user, channel }: Wish, servers: Set<string>) {
  const known: { readonly session: SessionKey; readonly place: Place; readonly speakerName: string }[] = [];
  for (const session of await memory.sessionLog.allSessions()) {
    const { place, speakerName = '' } = await memory.states.read(session);
    if (place !== undefined) known.push({ session, place, speakerName });
    if (place?.guildId !== undefined) servers.add(place.guildId);
  }
  const found = known.find(
    ({ session, place, speakerName }) =>
      isNamed(user, session.userId, speakerName) &&
      isNamed(channel.replace(/^#/u, ''), session.channelId, nameOf(place)),
  );
  if (found !== undefined) return found;
  const lines = known.map(({ session, place, speakerName }) => {
    return `  --user ${session.userId} (${speakerName}) --channel ${session.channelId} (${nameOf(place)})`;
  });
  throw new RangeError(
    lines.length === 0
      ? 'Nobody has talked with the bot yet.'
      : `No such conversation. There are:\n${lines.join('\n')}`,
  );
}

function nameOf(place: Place): string {
  return place.audience === 'dm' ? 'dm' : (place.channelName ?? '');
}

function isNamed(wanted: string, id: string, name: string): boolean {
  return wanted === id || wanted.toLowerCase() === name.toLowerCase();
}

const barCells = 50;

/**
 * The prompt as it would be sent, then characters and estimated tokens a part as a bar chart [P5]. The parts
 * add up to the total.
 */
function renderPromptReport(prompt: Prompt): string {
  return [...transcript(prompt), ...chart(prompt)].join('\n');
}

function transcript(prompt: Prompt): readonly string[] {
  return [
    '═══ system ═══',
    ...prompt.system.map(renderBlock),
    ...prompt.messages.flatMap((message) => [
      `═══ ${message.role} ═══`,
      ...message.content.flatMap((block) => (block.type === 'text' ? [renderBlock(block)] : [])),
    ]),
  ];
}

function renderBlock(block: TextBlock): string {
  return `${block.text.trimEnd()}${block.cache === undefined ? '' : '\n─── cached up to here ───'}`;
}

/** The parts stand end to end, so their texts can be cut from the whole. */
function chart({ system, messages, parts }: Prompt): readonly string[] {
  const whole = textOf(system) + messages.map((message) => textOf(message.content)).join('');
  let start = 0;
  const rows = parts.map(({ name, slot, characters }) => {
    const text = whole.slice(start, start + characters);
    start += characters;
    return { label: `${slot} · ${name}`, characters, tokens: estimateTokens(text) };
  });
  const tokens = rows.reduce((sum, row) => sum + row.tokens, 0);
  const all = [...rows, { label: 'total', characters: start, tokens }];
  const width = Math.max(...all.map(({ label }) => label.length));
  const line = (label: string, ...cells: readonly (string | number)[]): string =>
    `${label.padEnd(width)} ${cells.map((cell) => String(cell).padStart(7)).join(' ')}`;
  return [
    '═══ sizes ═══',
    line('part', 'chars', 'tokens'),
    ...all.map((row) =>
      `${line(row.label, row.characters, row.tokens)}  ${'█'.repeat(Math.round((barCells * row.characters) / start))}`.trimEnd(),
    ),
  ];
}

/**
 * What the script prints for these words of its command line.
 * @throws {RangeError} that says what is wrong with them.
 */
export async function runPrompt(words: readonly string[], environment: Environment): Promise<string> {
  const { values } = parseArgs({
    args: [...words],
    options: {
      user: { type: 'string' },
      channel: { type: 'string' },
      message: { type: 'string', default: '(the next message)' },
      owner: { type: 'boolean', default: false },
    },
  });
  const { user, channel } = values;
  if (user === undefined || channel === undefined) throw new RangeError(usage);
  return reportPrompt(readConfig(environment).config, { ...values, user, channel });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  try {
    process.stdout.write(await runPrompt(process.argv.slice(2), loadEnvironment()));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
