import { setImmediate } from 'node:timers/promises';

import { createBot, type Bot } from '../../src/bot/create-bot.ts';
import { readConfig } from '../../src/config/config.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import type { IncomingMessage } from '../../src/core/message.ts';
import { textOf, type ModelRequest } from '../../src/core/model.ts';
import type { Place } from '../../src/core/place.ts';
import { logRecordSchema, type LogRecord } from '../../src/memory/log/records.ts';
import { createOutbox } from '../../src/turn/outbox.ts';
import { closedEdges } from '../support/closed-edges.ts';
import { fakeReplies } from '../support/fake-replies.ts';
import { aliceId } from '../support/incoming.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { ScriptedModel } from '../support/scripted-model.ts';
import { SharedData, type SharedProcess } from '../support/shared-store.ts';
import { Posted } from '../visibility/posted.ts';

/** One process has a server and the DMs, the other one another server. */
export type ProcessName = 'first' | 'second';
export type PlaceName = 'dm' | 'hall' | 'yard';

const ownerOf = { dm: 'first', hall: 'first', yard: 'second' } as const;
const placeNames = ['dm', 'hall', 'yard'] as const;

export const places: Readonly<Record<PlaceName, Place>> = {
  dm: { audience: 'dm', channelId: '600000000000000001', homeId: '600000000000000001' },
  hall: publicPlace('600000000000000002', '700000000000000001', 'hall'),
  yard: publicPlace('600000000000000003', '700000000000000002', 'yard'),
};

function publicPlace(channelId: string, guildId: string, channelName: string): Place {
  return { audience: 'public', channelId, homeId: channelId, guildId, channelName };
}

/** Words that nobody says by chance. */
const wordPattern = /\bz(?:[a-y]){4}z\b/gu;

export function wordOf(index: number): string {
  const letters = Array.from({ length: 4 }, (_, place) =>
    String.fromCharCode(97 + (Math.floor(index / 25 ** place) % 25)),
  );
  return `z${letters.join('')}z`;
}

interface Running {
  readonly process: SharedProcess;
  readonly bot: Bot;
}

export interface SceneOptions {
  readonly pause?: () => number;
  readonly arrives?: () => boolean;
  /** While a model call runs. */
  readonly duringModelCall?: (request: ModelRequest) => Promise<void>;
}

/** Two whole bots between their ports over one store; one person talks in places of both. */
export class ProcessesScene {
  readonly posted = new Posted();
  readonly data: SharedData;
  /** What models were given, newest last. */
  readonly inputs: string[] = [];
  readonly #options: SceneOptions;
  readonly #running = new Map<ProcessName, Running>();

  constructor(options: SceneOptions = {}) {
    this.#options = options;
    const { pause, arrives } = options;
    this.data = new SharedData({
      pause,
      ...(arrives === undefined ? {} : { arrives }),
      now: () => this.posted.now.getTime(),
    });
  }

  async start(): Promise<void> {
    for (const name of ['first', 'second'] as const) await this.#open(name);
  }

  async #open(name: ProcessName): Promise<void> {
    const process = this.data.open();
    const recent = new RecentChanges();
    const outbox = createOutbox({ store: process.store, changes: recent });
    const { config } = readConfig({
      DISCOCLAW_TIMEZONE: 'UTC',
      DISCOCLAW_RATE_PER_MINUTE: '0',
      DISCOCLAW_SUMMARY_EVERY_N_TURNS: '2',
      DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
      DISCOCLAW_REFLECTION_ENABLED: 'false',
    });
    const bot = createBot(config, {
      keeping: { store: process.store, shared: process.shared, recent, outbox },
      model: {
        client: new ScriptedModel(async (request) => {
          this.inputs.push(textIn(request));
          await this.#options.duringModelCall?.(request);
          if (request.purpose === 'chat') return 'Fine.';
          return `Said: ${[...new Set(textIn(request).match(wordPattern))].join(' ')}.`;
        }),
      },
      discord: {
        ...closedEdges,
        replies: fakeReplies({ nextId: () => this.posted.nextId() }),
        channels: {
          placeOf: (channelId) =>
            Promise.resolve(placesOf(name).find((each) => each.channelId === channelId)),
        },
        history: {
          recent: async (channelId, limit) => {
            const isHidden = await outbox.hiddenIn(channelId);
            return this.posted
              .in(channelId)
              .filter(({ id }) => !isHidden(id))
              .slice(-limit);
          },
        },
      },
      time: { timer: () => () => {}, clock: () => this.posted.now },
      ownerIds: [],
      logger: recordingLogger(),
    });
    this.#running.set(name, { process, bot });
    await bot.recovery.finishChanges();
  }

  /** Alice says something; resolves when it was answered. */
  async say(place: PlaceName, text: string): Promise<void> {
    const { bot } = this.#at(ownerOf[place]);
    const { channelId } = places[place];
    const { id, at } = this.posted.add(channelId, { id: aliceId, name: 'Alice', kind: 'human' }, text);
    const message: IncomingMessage = {
      id,
      channelId,
      author: { id: aliceId, name: 'Alice', kind: 'human' },
      text,
      at,
      attachments: [],
      place: places[place],
      isOwner: false,
    };
    await bot.handlers.message(message);
  }

  /** Gives a command; resolves with the answer and the lines of its buttons. */
  async command(place: PlaceName, words: string) {
    const { bot } = this.#at(ownerOf[place]);
    const command = bot.commands.parse(`!memory ${words}`);
    if (command === undefined) throw new Error(`No command: ${words}`);
    const answered = await bot.handlers.command({
      id: this.posted.nextId(),
      command,
      speaker: { id: aliceId, name: 'Alice', isOwner: false },
      place: places[place],
      ephemeral: false,
      at: this.posted.now.toISOString(),
    });
    const lines = (answered.buttons ?? []).flatMap(({ line }) => (line === undefined ? [] : [line]));
    return { text: answered.text, lines };
  }

  /** The same with the confirmation that it asks for. */
  async confirmed(place: PlaceName, words: string): Promise<string | undefined> {
    const asked = await this.command(place, words);
    const line = asked?.lines.find((each) => each.startsWith('memory confirm '));
    if (asked === undefined || line === undefined) return asked?.text;
    return (await this.command(place, line.replace(/^memory /u, '')))?.text;
  }

  /** A process takes what waits of work after turns, for as long as there is any. */
  async work(name: ProcessName): Promise<void> {
    const { process } = this.#at(name);
    while (await process.takeWork());
  }

  /** Everything is done, by whichever process. */
  async settle(): Promise<void> {
    while (this.data.isBusy) {
      await this.work('first');
      await this.work('second');
      await setImmediate();
    }
    await Promise.all((['first', 'second'] as const).map((name) => this.#at(name).bot.idle()));
  }

  /** What stands in the log of a place. */
  async logOf(place: PlaceName): Promise<readonly LogRecord[]> {
    const records: LogRecord[] = [];
    const key = `sessions/${places[place].channelId}/${aliceId}/messages.jsonl`;
    for await (const { record } of this.data.common.scan(key, logRecordSchema)) records.push(record);
    return records;
  }

  #at(name: ProcessName): Running {
    const running = this.#running.get(name);
    if (running === undefined) throw new Error(`${name} does not run`);
    return running;
  }
}

/** The channels of servers that a process has. */
function placesOf(name: ProcessName): readonly Place[] {
  return placeNames.flatMap((place) => (place !== 'dm' && ownerOf[place] === name ? [places[place]] : []));
}

function textIn({ system, messages }: ModelRequest): string {
  const said = messages.map(({ content }) => textOf(content));
  return [...system.map(({ text }) => text), ...said].join('\n');
}
