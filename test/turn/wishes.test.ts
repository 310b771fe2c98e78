import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Footer, ReplyPort } from '../../src/core/reply.ts';
import { noUsage, type ModelClient, type ModelResponse } from '../../src/core/model.ts';
import { createControlTool } from '../../src/memory/control-tool.ts';
import { createDurableMemory, type DurableMemory } from '../../src/memory/durable/durable-memory.ts';
import { createForgetItemTool, createRememberItemTool } from '../../src/memory/durable/tools.ts';
import { createPersonSettings, type PersonSettingsStore } from '../../src/memory/settings/person-settings.ts';
import { createFileStore } from '../../src/storage/files/store.ts';
import { createMemoryNotices, type MemoryNotices } from '../../src/turn/notices.ts';
import { TurnControl } from '../../src/turn/sessions.ts';
import { fakeReplies } from '../support/fake-replies.ts';
import { incoming, publicPlace } from '../support/incoming.ts';
import { durableSettings } from '../support/layer-settings.ts';
import { forgettingFor } from '../support/forgetting.ts';
import { ledgerFor } from '../support/ledger.ts';
import { silent } from '../support/sessions.ts';
import { turnWith } from './turn-harness.ts';
import { unconditional } from '../../src/core/writes.ts';
import { plainWrites } from '../support/plain-writes.ts';

/** What somebody asks of their memory, the tool that a good model calls for it, and what is remembered before. */
interface Wish {
  readonly language: string;
  readonly words: string;
  readonly tool: string;
  readonly input: { readonly action?: string };
  readonly remembered?: string | undefined;
}

const wishes = readFileSync(new URL('wishes.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line): Wish => {
    const [language, words, tool, input, remembered] = JSON.parse(line);
    return { language, words, tool, input, remembered };
  });

const byButton = new Set(['export', 'purge', 'erase']);
const clock = () => new Date('2026-01-15T10:00:00.000Z');
let folder = '';
let memory: DurableMemory;
let people: PersonSettingsStore;
let memoryNotices: MemoryNotices;
let persons = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'discoclaw-wishes-'));
  const store = await createFileStore({ dataDir: folder, workspaceDir: folder, clock, logger: silent });
  const writes = plainWrites();
  people = createPersonSettings({ store, writes, clock, logger: silent });
  memoryNotices = createMemoryNotices({ people, commandsEnabled: true });
  const forgetting = forgettingFor({
    store,
    clock,
    openLedger: () => ledgerFor(store, writes, [], { clock }),
  });
  memory = createDurableMemory({
    settings: durableSettings,
    store,
    writes,
    forgetting,
    parts: [forgetting.part],
    clock,
    timeZone: 'UTC',
    logger: silent,
  });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** A model that calls a tool once and then claims that all is done. */
function callingOnce(name: string, input: object): ModelClient {
  let calls = 0;
  return answering(() => {
    calls += 1;
    if (calls > 1) return { content: [{ type: 'text', text: 'Done!' }], stop: 'end', usage: noUsage };
    return { content: [{ type: 'tool_use', id: 'use1', name, input }], stop: 'tool_use', usage: noUsage };
  });
}

const withoutTools = answering(() => ({
  content: [{ type: 'text', text: 'Done!' }],
  stop: 'end',
  usage: noUsage,
  leftOut: ['tools'],
}));

function answering(answer: () => ModelResponse): ModelClient {
  return {
    isOffline: false,
    async complete() {
      return answer();
    },
  };
}

/** A channel that keeps the footer of the answer. */
function keepingFooter() {
  const footer: { lines: readonly string[]; buttons: Footer['buttons'] } = { lines: [], buttons: [] };
  const channel = fakeReplies();
  const replies: ReplyPort = {
    ...channel,
    begin(start) {
      const reply = channel.begin(start);
      const finish = reply.finish.bind(reply);
      reply.finish = (text, given) => finish(text, Object.assign(footer, given));
      return reply;
    },
  };
  return { footer, replies };
}

/** A whole turn of somebody new, with the real tools over files: what became of their memory, and the footer. */
async function turnOf(text: string, wish: Wish, model: ModelClient, hasThirdPartyText = false) {
  persons += 1;
  const id = String(150_000_000_000_000_000n + BigInt(persons));
  const seed = { place: publicPlace, messageId: '300000000000000001', type: 'manual' } as const;
  if (wish.remembered !== undefined)
    await memory.remember(unconditional(id), { ...seed, text: wish.remembered });
  const state = async () => ({
    items: (await memory.list(id)).map((item) => item.text),
    settings: await people.latest(id),
  });
  const { footer, replies } = keepingFooter();
  const memoryTools = [
    createControlTool({ durable: memory, people }),
    createForgetItemTool({ durable: memory }),
    createRememberItemTool({
      durable: memory,
      proposals: memory,
      sessionLog: {
        message: () => Promise.resolve(text),
        answerBefore: () => Promise.resolve(undefined),
      },
    }),
  ];
  const { run, shownOffers } = turnWith(
    () => Promise.reject(new Error('Another model answers')),
    { tools: { memory: memoryTools }, memoryNotices, people, replies, model: { client: model } },
    hasThirdPartyText,
  );
  const before = await state();
  const message = incoming({ text, author: { id, name: 'Alice', kind: 'human' } });
  expect(await run([message], new TurnControl())).toBe('answered');
  const isChanged = JSON.stringify(before) !== JSON.stringify(await state());
  return { isChanged, lines: footer.lines, buttons: footer.buttons, offers: shownOffers.length };
}

describe('plain words [K13]', () => {
  it.each(wishes)(
    'in $language are done, or offered by a button, by a model with tools: $words',
    async (wish) => {
      const isOffered = byButton.has(wish.input.action ?? '');
      const told = await turnOf(wish.words, wish, callingOnce(wish.tool, wish.input));
      expect(told).toMatchObject({ isChanged: !isOffered, lines: [expect.stringMatching(/^\p{S}/u)] });
      const offered = `memory ${Object.values(wish.input).join(' ')}`;
      expect(told.buttons.some(({ line }) => line === offered)).toBe(isOffered);
      // What was done is taken back by a button, but for an undo.
      expect(told.buttons.length > 0).toBe(wish.input.action !== 'undo');
    },
  );

  it.each(wishes)('of a stranger in $language do nothing without a button: $words', async (wish) => {
    const told = await turnOf('What does this say?', wish, callingOnce(wish.tool, wish.input), true);
    expect(told.isChanged).toBe(false);
    // What the speaker did not say replaces nothing, not even by a button.
    const shown = wish.tool === 'remember_item' ? 0 : 1;
    expect(told.buttons.length + told.offers).toBe(shown);
  });

  it.each(wishes)('in $language show the Memory button with a model without tools: $words', async (wish) => {
    const told = await turnOf(wish.words, wish, withoutTools);
    expect(told).toMatchObject({
      isChanged: false,
      lines: [expect.stringContaining('saying it in plain words stores and changes nothing')],
      buttons: [{ label: 'Memory', line: 'memory panel' }],
      offers: 0,
    });
  });
});
