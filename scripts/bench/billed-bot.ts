import type { MessageCreateParams } from '@anthropic-ai/sdk/resources/messages';

import { createBot, type Bot } from '../../src/bot/create-bot.ts';
import { readConfig } from '../../src/config/config.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import type { ChatMessage } from '../../src/core/message.ts';
import type { FinishedReply } from '../../src/core/reply.ts';
import {
  noUsage,
  textOf,
  type ModelPurpose,
  type ModelRequest,
  type ModelResponse,
} from '../../src/core/model.ts';
import type { Place } from '../../src/core/place.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import type { Timer } from '../../src/core/time.ts';
import { createDiscordActions } from '../../src/discord/actions/discord-actions.ts';
import { createPlaces } from '../../src/discord/place.ts';
import { requestBody } from '../../src/model/anthropic/request-body.ts';
import { createOutbox } from '../../src/turn/outbox.ts';
import { closedEdges } from '../../test/support/closed-edges.ts';
import { fakeReplies } from '../../test/support/fake-replies.ts';
import { MemoryStore } from '../../test/support/memory-store.ts';
import { recordingLogger } from '../../test/support/recording-logger.ts';
import { createStubDiscord } from '../../test/visibility/stub-discord.ts';

export interface Talker {
  readonly id: string;
  readonly name: string;
}

const start = Date.UTC(2026, 0, 15, 8);
/** Of a channel, for history: more than a prompt ever asks for. */
const keptMessages = 100;

/** In the sandbox's default world, whose roles and channels tell what may be done on Discord. */
const known = { personId: '140000000000000001', general: '120000000000000001', dm: '150000000000000001' };

/** For what the model says, from 0 up to 1, and how many of its answers it begins with a tool. */
interface BilledBotOptions {
  readonly random: () => number;
  readonly toolShare: number;
}

/** A message whose last sentence the model stores. */
export function toStore(liked: string): string {
  return `Remember this. I like ${liked}.`;
}
const askedToStore = /Remember this\. (I like [^\n]*\.)/u;

/** How many rounds of tool calls are followed by another one. */
const goesOn = 0.35;
/** How many looks back on a conversation write something down: nothing new is the usual outcome. */
const notes = 0.3;

/**
 * The bot between the ports, with the real tools for Discord, in a time that passes when it is told to; its model answers by a script. What it
 * would send to the vendor goes to `onRequest`, with the bot's time in milliseconds since 1970.
 */
export function createBilledBot(
  options: BilledBotOptions,
  onRequest: (body: MessageCreateParams, purpose: ModelPurpose, at: number) => void,
) {
  let now = start;
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  const timer: Timer = (callback, ms) => {
    const entry = { at: now + ms, callback };
    timers.add(entry);
    return () => timers.delete(entry);
  };
  const clock = (): Date => new Date(now);
  const nextId = (): string => {
    now += 1;
    return snowflakeAt(clock());
  };
  const channels = new Map<string, readonly ChatMessage[]>();
  const post = (
    channelId: string,
    author: ChatMessage['author'],
    text: string,
    answered?: Pick<ChatMessage, 'answers'>,
  ): ChatMessage => {
    const at = clock().toISOString();
    const message = { id: nextId(), channelId, author, text, at, attachments: [], ...answered };
    channels.set(channelId, [...(channels.get(channelId) ?? []), message].slice(-keptMessages));
    return message;
  };
  const self = { id: '130000000000000001', name: 'Discoclaw', kind: 'self' } as const;

  const { config } = readConfig({
    DISCOCLAW_TIMEZONE: 'UTC',
    DISCOCLAW_RATE_PER_MINUTE: '0',
    DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
    DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
  });
  const logger = recordingLogger();
  /** The bot answers people whatever fails; but what was not answered has another bill. */
  async function idle(): Promise<void> {
    await bot.idle();
    const failed = logger.lines.find(({ level }) => level === 'error');
    if (failed !== undefined) throw new Error(failed.event, { cause: failed.data?.['error'] });
  }
  const store = new MemoryStore();
  const recent = new RecentChanges();
  const history = {
    recent: (channelId: string, limit: number) =>
      Promise.resolve((channels.get(channelId) ?? []).slice(-limit)),
  };
  const { client } = createStubDiscord(nextId);
  const places = createPlaces({
    client,
    memberRole: () => Promise.resolve(undefined),
    noteGone: () => undefined,
    logger,
  });
  const settings = { channelIds: [] };
  const actions = createDiscordActions({ client, places, history, settings, logger });
  const bot: Bot = createBot(config, {
    keeping: { store, recent, outbox: createOutbox({ store, changes: recent }) },
    model: {
      client: {
        isOffline: false,
        complete(request) {
          onRequest(requestBody(request), request.purpose, now);
          return Promise.resolve(scripted(request, options));
        },
      },
    },
    time: { clock, timer },
    ownerIds: [],
    logger,
    discord: {
      ...closedEdges,
      replies: {
        ...fakeReplies(),
        send: (channelId, text) => Promise.resolve({ kind: 'sent', ids: [post(channelId, self, text).id] }),
        begin: (begun) =>
          Object.assign(fakeReplies().begin(begun), {
            show: () => {},
            takeAway: () => Promise.resolve(),
            finish(text: string): Promise<FinishedReply> {
              const { id } = post(begun.channelId, self, text, { answers: begun.nonceBase });
              return Promise.resolve({ kind: 'sent', ids: [id] });
            },
          }),
      },
      history,
      actions: {
        ...actions,
        // Everybody may do what one person of the default world may.
        sections: ({ speaker, place, ...context }) =>
          actions.sections({
            ...context,
            speaker: { ...speaker, id: known.personId },
            place: { ...place, channelId: place.audience === 'dm' ? known.dm : known.general },
          }),
      },
    },
  });

  return {
    now: (): number => now,
    async say(talker: Talker, place: Place, text: string): Promise<void> {
      const message = post(place.channelId, { ...talker, kind: 'human' }, text);
      await bot.handlers.message({ ...message, place, isOwner: false });
      await idle();
    },
    /** Gives somebody a notebook of usual size. */
    async keepNotebook({ id }: Talker): Promise<void> {
      for (const [path, lines] of Object.entries(notebook)) {
        const body = Array.from({ length: lines }, () => `- ${words(options.random, 6, 12)}`).join('\n');
        const head = `# Notes\n> Summary: ${words(options.random, 5, 8)}\n\n`;
        await store.writeText(`users/${id}/notebook/${path}`, `${head}${body}\n`);
      }
    },
    async command(talker: Talker, place: Place, text: string): Promise<void> {
      const command = bot.commands.parse(text);
      if (command === undefined) throw new RangeError(`No command: ${text}`);
      const speaker = { ...talker, isOwner: false };
      const at = clock().toISOString();
      await bot.handlers.command({ id: nextId(), command, speaker, place, ephemeral: false, at });
    },
    /** Timers that are due until then ring in their order. */
    async passUntil(time: number): Promise<void> {
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= time).toSorted((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers.delete(next);
        now = Math.max(now, next.at);
        next.callback();
        await idle();
      }
      now = Math.max(now, time);
    },
  };
}

/** A notebook's files with their lines: as long as the model is told to keep them. */
const notebook = {
  'USER.md': 25,
  'MEMORY.md': 25,
  'facts/user.md': 20,
  'facts/work.md': 20,
  'episodes/2025-12.md': 20,
  'topics/garden.md': 40,
  'topics/parser.md': 40,
};

function scripted(request: ModelRequest, { random, toolShare }: BilledBotOptions): ModelResponse {
  const last = request.messages.at(-1)?.content ?? [];
  const isFirstRound = last.every(({ type }) => type !== 'tool_result');
  const mustEnd = last.some((block) => block.type === 'tool_result' && block.text.startsWith('Not run'));
  const likely = (share: number): boolean => random() < share;
  switch (request.purpose) {
    case 'chat': {
      const [, quote] = askedToStore.exec(textOf(last)) ?? [];
      if (isFirstRound && quote !== undefined) return calls('remember_item', { quote, kind: 'preference' });
      return !mustEnd && likely(isFirstRound ? toolShare : goesOn)
        ? calls('recall_memory', { query: somethingSaid(request, random) })
        : says(words(random, 10, 90));
    }
    case 'summary':
    case 'condense':
      return says(JSON.stringify({ summary: words(random, 120, 250) }));
    case 'catch-up':
      return says(words(random, 120, 250));
    case 'extraction':
      return says('{"items":[]}');
    case 'reflection': {
      if (!isFirstRound || !likely(notes)) return says('Nothing new.');
      const [daily] = /daily\/[\d-]+\.md/u.exec(JSON.stringify(request.messages)) ?? [];
      const entry = `## Summary\n${words(random, 30, 60)}`;
      return daily === undefined
        ? calls('memory_write', {
            path: 'overview.md',
            content: `## Current Task\n${words(random, 60, 120)}`,
          })
        : calls('memory_append', { path: daily, entry });
    }
    case 'trim':
      return says('Nothing new.');
  }
}

function says(text: string): ModelResponse {
  return { content: [{ type: 'text', text }], stop: 'end', usage: noUsage };
}

function calls(name: string, input: object): ModelResponse {
  return { content: [{ type: 'tool_use', id: 'toolu_1', name, input }], stop: 'tool_use', usage: noUsage };
}

/** Some words of what the request holds, so that there is something to be found. */
function somethingSaid({ messages }: ModelRequest, random: () => number): string {
  const said = messages
    .map(({ content }) => textOf(content))
    .join(' ')
    .split(/\W+/u);
  const from = Math.floor(random() * Math.max(1, said.length - 3));
  return said.slice(from, from + 3).join(' ') || 'tea';
}

/** Some words, as long as words are and as rarely said twice. */
export function words(random: () => number, least: number, most: number): string {
  const count = least + Math.floor(random() * (most - least + 1));
  return Array.from({ length: count }, () => syllables(random)).join(' ');
}

const begins = ['b', 'st', 'm', 'tr', 'l', 'c', 'gr', 'n', 'p', 'sh'];
const vowels = ['a', 'e', 'i', 'o', 'u', 'ea', 'ou'];
const ends = ['n', 'r', 'll', 't', 'm', 'st', ''];

function syllables(random: () => number): string {
  const of = (parts: readonly string[]): string => parts[Math.floor(random() * parts.length)] ?? '';
  const count = 1 + Math.floor(random() * 2.6);
  return Array.from({ length: count }, () => of(begins) + of(vowels) + of(ends)).join('');
}
