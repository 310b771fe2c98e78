import { describe, expect, it, vi } from 'vitest';

import type { AttachedFile, ChatMessage } from '../../src/core/message.ts';
import type { Place } from '../../src/core/place.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import type { LoggedMessage } from '../../src/memory/log/records.ts';
import type { Consent } from '../../src/memory/settings/person-settings.ts';
import type { Section, SectionSource } from '../../src/core/section.ts';
import { type TurnContext, ownMark } from '../../src/core/turn-context.ts';
import {
  createPromptComposer,
  type PromptComposer,
  type PromptPorts,
  type SwitchedOff,
} from '../../src/turn/prompt-input.ts';
import { aliceId, bobId, generalId, publicPlace } from '../support/incoming.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { aliceContext } from '../model/alice-context.ts';
import { inZone } from '../support/sessions.ts';

function message(
  id: number,
  authorId: string,
  kind: ChatMessage['author']['kind'],
  text = 'hi',
): ChatMessage {
  const author = { id: authorId, name: 'somebody', kind };
  return {
    id: String(390_000_000_000_000_000n + BigInt(id)),
    channelId: generalId,
    author,
    text,
    at: '2026-01-15T09:00:00.000Z',
    attachments: [],
  };
}

const alice = message(1, aliceId, 'human');
const bot = message(2, '900000000000000001', 'self');

const notes: SectionSource<TurnContext> = reader('notes', 'overview');
const wave: SectionSource<TurnContext> = reader('wave', 'discord_actions');

function reader(line: string, name: Section['name']): SectionSource<TurnContext> {
  return {
    name: line,
    sections: () =>
      Promise.resolve([{ name, slot: 'last', title: `${line}:`, lines: [`- ${line}`], budget: 99 }]),
  };
}

function composerOver(history: readonly ChatMessage[], ports: Partial<PromptPorts> = {}): PromptComposer {
  return createPromptComposer({
    always: [reader('about', 'channel_context')],
    layers: [notes],
    actions: wave,
    soul: () => Promise.resolve(''),
    history: { recent: () => Promise.resolve(history) },
    attachments: {
      open: (files) => Promise.resolve(files.map(({ name }) => ({ kind: 'text', name, text: 'x' }))),
    },
    readReplied: () => Promise.resolve('gone'),
    log: {
      asked: async () => [],
      marksOf: (_, ids) => Promise.resolve(new Map(ids.map((id) => [id, undefined]))),
    },
    people: { erasedBy: () => Promise.resolve(() => false) },
    botName: 'Discoclaw',
    timeZoneOf: inZone('UTC'),
    historyBudget: 200,
    maxChars: 40_000,
    logger: new RecordingLogger(),
    ...ports,
  });
}

const { signal } = new AbortController();
const allOn: SwitchedOff = { isMemoryOff: false, areActionsOff: false };

async function thirdPartyTextIn(
  history: readonly ChatMessage[],
  files: readonly AttachedFile[] = [],
): Promise<boolean> {
  const messages = aliceContext.messages.map((each) => ({ ...each, files }));
  const turn = { ...aliceContext, messages };
  return (await composerOver(history).compose(turn, allOn, noTools, signal)).thirdPartyMark !== undefined;
}

const noTools = { tools: [], actions: new Set<string>(), answerTokens: 4096 };

async function promptWhere(off: Partial<SwitchedOff>): Promise<string> {
  const { prompt } = await composerOver([]).compose(aliceContext, { ...allOn, ...off }, noTools, signal);
  return JSON.stringify(prompt.messages);
}

describe('what is switched off', () => {
  it('is in no prompt, which says that memory is off [I4]', async () => {
    expect(await promptWhere({})).toMatch(/- wave.*- notes/u);
    const withoutActions = await promptWhere({ areActionsOff: true });
    expect(withoutActions).toContain('- notes');
    expect(withoutActions).not.toContain('wave');
    const withoutMemory = await promptWhere({ isMemoryOff: true });
    expect(withoutMemory).not.toContain('notes');
    expect(withoutMemory).toMatch(/- wave.*Memory is switched off in this channel/u);
  });
});

it('what the speaker wrote while they waited is in no prompt before its own turn [F3]', async () => {
  const turnId = BigInt(aliceContext.messages[0]?.id ?? '');
  const later = { ...message(3, aliceId, 'human', 'and tomorrow?'), id: String(turnId + 1n) };
  const others = { ...message(4, bobId, 'human', 'hello Alice'), id: String(turnId + 2n) };
  const composer = composerOver([alice, later, others], { historyBudget: 3000 });
  const { prompt } = await composer.compose(aliceContext, allOn, noTools, signal);
  const text = JSON.stringify(prompt.messages);
  expect(text).toContain('hello Alice');
  expect(text).not.toContain('tomorrow');
});

it('what was asked by `/ask` is in the history of the DM, where it was asked between its messages and once, and in no other place’s [EW2]', async () => {
  const idOf = (id: number) => message(id, aliceId, 'human').id;
  const common = {
    type: 'message',
    visibility: 'dm',
    homeId: generalId,
    at: '2026-01-15T09:00:00.000Z',
    isAsked: true,
  } as const;
  const asked: readonly LoggedMessage[] = [
    {
      ...common,
      attachments: [],
      role: 'user',
      id: idOf(2),
      authorId: aliceId,
      author: 'Alice',
      text: 'Asked elsewhere',
    },
    {
      ...common,
      attachments: [],
      role: 'assistant',
      id: idOf(3),
      ids: [idOf(3), idOf(5)],
      replyTo: [idOf(2)],
      author: 'Discoclaw',
      text: 'Answered there, and the rest here',
    },
  ];
  const history = [
    message(1, aliceId, 'human', 'Before it'),
    message(4, aliceId, 'human', 'After it'),
    message(5, '900000000000000001', 'self', 'and the rest here'),
  ];
  const log = { asked: async () => asked, marksOf: async () => new Map() };
  const composer = composerOver(history, { log, historyBudget: 3000 });
  const textIn = async (place: Place) =>
    JSON.stringify(
      (await composer.compose({ ...aliceContext, place }, allOn, noTools, signal)).prompt.messages,
    );
  const inDm = await textIn({ audience: 'dm', channelId: generalId, homeId: generalId });
  expect(inDm).toMatch(/Before it.*Asked elsewhere.*Answered there, and the rest here.*After it/u);
  expect(inDm.split('and the rest here')).toHaveLength(2);
  const inPublic = await textIn(publicPlace);
  expect(inPublic).toContain('and the rest here');
  expect(inPublic).not.toMatch(/elsewhere|Answered there/u);
});

function inJanuary(time: string): { readonly at: string } {
  return { at: `2026-01-${time}:00.000Z` };
}

describe('when the turn and what is before it were written [H3]', () => {
  const zone = { timeZoneOf: inZone('Europe/Berlin'), historyBudget: 3000 };

  async function textsOf(times: readonly string[], now: string): Promise<readonly string[]> {
    const messages = times.map((time, index) => ({
      ...message(9 + index, aliceId, 'human'),
      ...inJanuary(time),
    }));
    const turn = { ...aliceContext, messages, now: new Date(inJanuary(now).at) };
    const history = [
      { ...alice, ...inJanuary('08T23:30') },
      { ...bot, ...inJanuary('08T23:31') },
    ];
    const { prompt } = await composerOver(history, zone).compose(turn, allOn, noTools, signal);
    return prompt.messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === 'text' ? [block.text] : [])),
    );
  }

  it('is shown in the time zone: history by its own dates, the message by the present one', async () => {
    const texts = await textsOf(['15T12:00'], '15T12:01');
    expect(texts.slice(0, 2)).toEqual(['[Fri 2026-01-09 00:30] Alice: hi\n', 'hi\n']);
    expect(texts.at(-1)).toContain('time="Thu 2026-01-15 13:01">');
  });

  it('tells of a message that waited when it was written, each time that is apart from the one before', async () => {
    expect((await textsOf(['15T22:59'], '15T23:01')).at(-1)).toContain(
      'time="Fri 2026-01-16 00:01" written="Thu 2026-01-15 23:59">',
    );
    const several = await textsOf(['15T22:58', '15T22:59', '15T23:00', '15T23:01'], '15T23:02');
    expect(several.at(-1)).toContain(
      'time="Fri 2026-01-16 00:02" written="Thu 2026-01-15 23:58, Fri 2026-01-16 00:00">',
    );
    expect((await textsOf(['15T10:00'], '15T11:01')).at(-1)).toContain('written="Thu 2026-01-15 11:00">');
  });
});

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Composes a turn at each of these times, in milliseconds, and tells of the last how long its parts are to be kept, system prompt first. */
async function keptAfter(
  times: readonly number[],
  composer = composerOver([alice, bot], {
    layers: [{ name: 'items', sections: () => Promise.resolve([items]) }],
  }),
): Promise<string> {
  let lives = '';
  for (const time of times) {
    const turn = { ...aliceContext, now: new Date(Date.parse(alice.at) + time) };
    const { prompt } = await composer.compose(turn, allOn, noTools, signal);
    const content = prompt.messages.map((each): readonly object[] => each.content);
    lives = [prompt.system, ...content].map((blocks) => blocks.map(lifeOf)).join(' | ');
  }
  return lives;
}

function lifeOf(block: object): string {
  return 'cache' in block ? String(block.cache) : '-';
}

const items: Section = {
  name: 'durable_items',
  slot: 'items',
  title: 'items:',
  lines: ['- tea'],
  budget: 99,
};

/** Alice asks at each of these times, and is answered. */
function talkAt(...times: readonly number[]): readonly ChatMessage[] {
  return times.flatMap((time, turn) => {
    const at = new Date(Date.parse(alice.at) + time).toISOString();
    const asked = { ...message(2 * turn, aliceId, 'human'), at };
    return [asked, { ...message(2 * turn + 1, '900000000000000001', 'self'), at, answers: asked.id }];
  });
}

describe('what the vendor is to keep [P2]', () => {
  const wide = { historyBudget: 3000, layers: [{ name: 'items', sections: () => Promise.resolve([items]) }] };
  const livesAt = (time: number, ...before: readonly number[]) =>
    keptAfter([time], composerOver(talkAt(...before), wide));

  it('is what stands before the message, for five minutes while people talk', async () => {
    expect(await keptAfter([0])).toBe('5m | 5m,- | 5m | -');
    expect(await livesAt(2 * minuteMs, 0, minuteMs)).toBe('5m | 5m,- | - | - | 5m | -');
  });

  it('is kept for an hour where turns are minutes apart; of what is asked hours apart only the rules, which others share', async () => {
    const ten = 10 * minuteMs;
    expect(await livesAt(2 * ten, 0, ten)).toMatch(/^1h \| 1h.* 1h \| -$/u);
    expect(await livesAt(6 * hourMs, 0, 3 * hourMs)).toMatch(/^5m[-, |]+$/u);
  });
});

function conversation(historyBudget = 200) {
  const told = { text: 'They met.', withdrawals: 0 };
  const layer: SectionSource<TurnContext> = {
    name: 'rolling',
    sections: () =>
      Promise.resolve([
        {
          name: 'conversation_summary',
          slot: 'fast',
          title: `Summary ${told.text.length}:`,
          lines: told.text === '' ? [] : [told.text],
          budget: 99,
          summary: { withdrawals: told.withdrawals, turnsSince: 0 },
        },
      ]),
  };
  const history = [alice, bot];
  const composer = composerOver(history, { layers: [layer], historyBudget });
  let turns = 0;
  const ask = async (until = signal) => {
    turns += 1;
    const asked = message(99 + turns, aliceId, 'human');
    const { prompt } = await composer.compose({ ...aliceContext, messages: [asked] }, allOn, noTools, until);
    history.push(asked);
    return JSON.stringify(prompt.messages);
  };
  return { told, history, ask, composer };
}

describe('the summary in a running conversation [P2]', () => {
  it('stays the same, with the turns since, until the window moves', async () => {
    const { told, history, ask } = conversation();
    await ask();
    told.text = 'They met and talk of tea.';
    expect(await ask()).toMatch(/They met\..*turns-since-summary=\\"1\\"/u);
    expect(await ask()).toMatch(/They met\..*turns-since-summary=\\"2\\"/u);
    for (let id = 3; id < 12; id += 1) history.push(message(id, aliceId, 'human', 'words '.repeat(9)));
    const moved = await ask();
    expect(moved).toContain('They met and talk of tea.');
    expect(moved).not.toContain('turns-since-summary');
  });

  it('goes at once where it was withdrawn, or may not be told', async () => {
    const { told, ask, composer } = conversation();
    await ask();
    Object.assign(told, { text: 'They talk of tea.', withdrawals: 1 });
    expect(await ask()).toContain('They talk of tea.');
    const { prompt } = await composer.compose(aliceContext, { ...allOn, isMemoryOff: true }, noTools, signal);
    expect(JSON.stringify(prompt.messages)).not.toContain('tea');
    composer.evict(aliceId);
    told.text = 'They met again.';
    expect(await ask()).toContain('They met again.');
  });

  it('that a turn had read when its person was erased is not shown in the next one [K11]', async () => {
    const { told, ask, composer } = conversation();
    const erasing = new AbortController();
    const composed = ask(erasing.signal);
    composer.evict(aliceId);
    erasing.abort();
    await composed;
    told.text = 'They met again.';
    expect(await ask()).not.toContain('They met.');
  });
});

describe('a layer', () => {
  it('that fails costs a warning and nothing else, and the others are read at the same time [P1]', async () => {
    const logger = new RecordingLogger();
    let isRead = false;
    const broken: SectionSource<TurnContext> = {
      name: 'broken',
      async sections() {
        await vi.waitUntil(() => isRead);
        throw new Error('no disk');
      },
    };
    const after: SectionSource<TurnContext> = {
      ...notes,
      sections(context) {
        isRead = true;
        return notes.sections(context);
      },
    };
    const composer = composerOver([], { layers: [broken, after], logger });
    const { prompt } = await composer.compose(aliceContext, allOn, noTools, signal);
    expect(JSON.stringify(prompt.messages)).toContain('- notes');
    expect(logger.lines).toEqual([
      {
        level: 'warn',
        event: 'a memory layer could not be read',
        data: { layer: 'broken', error: new Error('no disk') },
      },
    ]);
  });
});

describe("other people's text in the context [M5a]", () => {
  it('is there as long as their message is shown, and no longer', async () => {
    const longAgo = message(1, bobId, 'human', 'x'.repeat(190));
    expect(await thirdPartyTextIn([longAgo])).toBe(true);
    expect(await thirdPartyTextIn([longAgo, bot, message(3, aliceId, 'human', 'y'.repeat(150))])).toBe(false);
  });

  it('is there with a file opened in the turn, but not with a file name in history', async () => {
    const file = { name: 'a.txt', size: 1, url: 'https://cdn.discordapp.com/a' };
    expect(await thirdPartyTextIn([alice, bot], [file])).toBe(true);
    for (const attachments of [['a.txt'], ['forwarded message']])
      expect(await thirdPartyTextIn([{ ...alice, attachments, hasThirdPartyText: true }, bot])).toBe(false);
    const voice = { kind: 'voice message', text: 'voice.ogg · 0 min 9 s' } as const;
    expect(await thirdPartyTextIn([{ ...alice, shown: [voice] }, bot])).toBe(false);
  });

  it('is there with what was heard, in the turn and as long as history shows it [G7]', async () => {
    expect(await thirdPartyTextIn([{ ...alice, heard: true }, bot])).toBe(true);
    const spoken = { ...aliceContext, messages: [{ ...alice, heard: true as const }] };
    expect((await composerOver([]).compose(spoken, allOn, noTools, signal)).thirdPartyMark).toBe(ownMark);
  });

  it('is there with an answer of the last half hour to somebody else, or to what was deleted since', async () => {
    const unlogged = logOf(new Map());
    const sent = { ...bot, id: snowflakeAt(new Date(bot.at)) };
    const later = { ...sent, id: snowflakeAt(new Date(Date.parse(bot.at) + 1)) };
    const inHistory = async (history: readonly ChatMessage[], minutes = 29) => {
      const turn = { ...aliceContext, now: new Date(Date.parse(bot.at) + minutes * minuteMs) };
      const { thirdPartyMark } = await composerOver(history, unlogged).compose(turn, allOn, noTools, signal);
      return thirdPartyMark !== undefined;
    };
    const toAlice = { ...sent, answers: alice.id };
    expect(await inHistory([alice, toAlice, later])).toBe(false);
    expect(await inHistory([sent])).toBe(true);
    expect(await inHistory([toAlice])).toBe(true);
    expect(await inHistory([toAlice], 30)).toBe(false);
  });
});

/** A log that holds Alice's question, and of answers what is given. */
function logOf(known: ReadonlyMap<string, string | undefined>): Partial<PromptPorts> {
  return {
    log: {
      asked: async () => [],
      marksOf: () => Promise.resolve(new Map([[alice.id, undefined], ...known])),
    },
  };
}

describe('an earlier answer that may repeat others’ words [M5a]', () => {
  const old = { ...alice, at: '2026-01-15T08:00:00.000Z' };
  const at = new Date('2026-01-15T08:00:05.000Z');
  const answerId = snowflakeAt(at);
  const answer = {
    ...bot,
    id: answerId,
    text: 'Mallory said: canary',
    answers: alice.id,
    at: at.toISOString(),
  };
  const dm = { ...aliceContext, place: { audience: 'dm', channelId: generalId, homeId: generalId } } as const;
  const marked = logOf(new Map([[answerId, answerId]]));

  async function composed(context: TurnContext, now: string, ports = marked, question = old) {
    const turn = { ...context, now: new Date(now) };
    const composer = composerOver([question, answer], ports);
    const { prompt, thirdPartyMark: mark } = await composer.compose(turn, allOn, noTools, signal);
    return { mark, isShown: JSON.stringify(prompt.messages).includes('canary') };
  }

  it('counts as these for half an hour, in every place, and is shown after it', async () => {
    for (const context of [aliceContext, dm]) {
      expect(await composed(context, '2026-01-15T08:30:04.999Z')).toEqual({ mark: answerId, isShown: true });
      expect(await composed(context, '2026-01-15T08:30:05.000Z')).toEqual({ mark: undefined, isShown: true });
      const clean = logOf(new Map([[answer.id, undefined]]));
      expect(await composed(context, '2026-01-15T08:10:00.000Z', clean)).toEqual({
        mark: undefined,
        isShown: true,
      });
    }
  });

  it('is one that the log does not know, where its speaker brought such words along, and any where it cannot be read', async () => {
    const unlogged = logOf(new Map());
    const brought = { ...old, hasThirdPartyText: true } as const;
    for (const [question, mark] of [
      [old, undefined],
      [brought, answerId],
    ] as const) {
      expect((await composed(dm, '2026-01-15T08:10:00.000Z', unlogged, question)).mark).toBe(mark);
      expect((await composed(dm, '2026-01-15T08:40:00.000Z', unlogged, question)).mark).toBeUndefined();
    }
    const broken = { log: { asked: async () => [], marksOf: () => Promise.reject(new Error('no disk')) } };
    for (const now of ['2026-01-15T08:10:00.000Z', '2026-01-15T08:40:00.000Z'])
      expect((await composed(dm, now, broken)).mark).toBe(ownMark);
  });

  it('is also what the speaker said to the bot and the log does not hold, as long as it is shown: no note of it could follow its deletion', async () => {
    const clean = { ...aliceContext, now: new Date('2026-01-15T09:30:00.000Z') };
    const now = clean.now.toISOString();
    const known = new Map([[answer.id, undefined]]);
    const unlogged: Partial<PromptPorts> = {
      log: { asked: async () => [], marksOf: () => Promise.resolve(known) },
    };
    expect((await composed({ ...clean, place: dm.place }, now, unlogged)).mark).toBe(ownMark);
    expect((await composed(clean, now, unlogged)).mark).toBe(ownMark);
  });
});

const at = (minute: number) => new Date(Date.parse('2026-01-15T09:00:00.000Z') + minute * 60_000);
const idAt = (minute: number) => snowflakeAt(at(minute));
const wasPaused = (time: string) => time >= at(5).toISOString() && time < at(20).toISOString();

describe('what was said in a pause that is over [K9]', () => {
  const said = (
    minute: number,
    author: ChatMessage['author'],
    text: string,
    answers?: string,
  ): ChatMessage => ({
    ...alice,
    id: snowflakeAt(at(minute)),
    at: at(minute).toISOString(),
    author,
    text,
    ...(answers === undefined ? {} : { answers }),
  });
  const bob = { id: '100000000000000002', name: 'Bob', kind: 'human' } as const;
  const history = [
    said(0, alice.author, 'a teapot'),
    said(1, bot.author, 'answers something older', idAt(-5)),
    { ...said(2, bot.author, 'a piccolo, as Alice had it sent'), saidFor: alice.author.id },
    said(10, alice.author, 'axolotl'),
    said(11, bot.author, 'of the axolotl', idAt(10)),
    said(12, bot.author, 'axolotl, second part'),
    said(13, bob, 'a cockatoo'),
    said(14, bot.author, 'of the cockatoo', idAt(13)),
    said(19, alice.author, 'another axolotl'),
    said(21, bot.author, 'of the other axolotl', idAt(19)),
    said(22, bot.author, 'its axolotl, second part'),
    said(23, alice.author, 'a bassoon'),
  ];

  async function shown(
    context: TurnContext,
    consent?: Consent,
    ports: Partial<PromptPorts> = {},
  ): Promise<string> {
    const off = consent === undefined ? allOn : { ...allOn, consent };
    const composer = composerOver(history, { historyBudget: 3000, ...ports });
    const messages = context.messages.map((each) => ({ ...each, id: idAt(60) }));
    const { prompt } = await composer.compose({ ...context, messages }, off, noTools, signal);
    return JSON.stringify(prompt.messages);
  }

  it('is left out of the prompts of who said it, with the answers to it; all else stays', async () => {
    const text = await shown(aliceContext, { isStored: true, mode: 'auto', wasPaused });
    expect(text).not.toContain('axolotl');
    for (const words of [
      'a teapot',
      'something older',
      'a piccolo',
      'a cockatoo',
      'of the cockatoo',
      'a bassoon',
    ])
      expect(text).toContain(words);
  });

  it("is left out of everybody's prompts where its person had everything erased since, with the answers to it [K11]", async () => {
    const people = {
      erasedBy: (userId: string) =>
        Promise.resolve((time: string) => userId === alice.author.id && time <= at(22).toISOString()),
    };
    const others = { ...aliceContext, speaker: { ...aliceContext.speaker, id: bob.id, name: bob.name } };
    const text = await shown(others, undefined, { people });
    expect(text).not.toMatch(/axolotl|teapot|piccolo/u);
    for (const words of ['a cockatoo', 'of the cockatoo', 'a bassoon']) expect(text).toContain(words);
  });

  it('is shown while a pause lasts, and the model knows about the pause', async () => {
    const pause = { scope: 'here', since: at(5).toISOString() } as const;
    const text = await shown(aliceContext, { isStored: false, mode: 'auto', pause });
    expect(text).toContain('axolotl');
    expect(text).toContain('has paused their memory');
  });
});
