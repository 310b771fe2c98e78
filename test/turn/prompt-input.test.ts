import { describe, expect, it, vi } from 'vitest';

import type { AttachedFile, ChatMessage } from '../../src/core/chat.ts';
import type { Section, SectionSource } from '../../src/core/section.ts';
import type { TurnContext } from '../../src/core/turn-context.ts';
import { PromptComposer, type PromptPorts, type SwitchedOff } from '../../src/turn/prompt-input.ts';
import { aliceId, bobId, generalId } from '../support/incoming.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { aliceContext } from '../model/alice-context.ts';

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

function composerOver(
  history: readonly ChatMessage[] | Error,
  ports: Partial<PromptPorts> = {},
): PromptComposer {
  return new PromptComposer({
    channelContext: reader('about', 'channel_context'),
    layers: [notes],
    actions: wave,
    soul: () => Promise.resolve(''),
    history: {
      recent: () => (history instanceof Error ? Promise.reject(history) : Promise.resolve(history)),
    },
    attachments: {
      open: (files) => Promise.resolve(files.map(({ name }) => ({ kind: 'text', name, text: 'x' }))),
    },
    readReplied: () => Promise.resolve('gone'),
    log: { answersWithOthersWords: () => Promise.resolve(new Set()) },
    botName: 'Discoclaw',
    timeZone: 'UTC',
    historyBudget: 200,
    maxChars: 40_000,
    logger: new RecordingLogger(),
    ...ports,
  });
}

const { signal } = new AbortController();
const allOn: SwitchedOff = { isMemoryOff: false, areActionsOff: false };

async function thirdPartyTextIn(
  history: readonly ChatMessage[] | Error,
  files: readonly AttachedFile[] = [],
): Promise<boolean> {
  const messages = aliceContext.messages.map((each) => ({ ...each, files }));
  const turn = { ...aliceContext, messages };
  return (await composerOver(history).compose(turn, allOn, signal)).hasThirdPartyText;
}

async function promptWhere(off: Partial<SwitchedOff>): Promise<string> {
  const { prompt } = await composerOver([]).compose(aliceContext, { ...allOn, ...off }, signal);
  return JSON.stringify(prompt.messages);
}

describe('what is switched off', () => {
  it('stands in no prompt, and that memory is off does [Y2]', async () => {
    expect(await promptWhere({})).toMatch(/- notes.*- wave/u);
    const withoutActions = await promptWhere({ areActionsOff: true });
    expect(withoutActions).toContain('- notes');
    expect(withoutActions).not.toContain('wave');
    const withoutMemory = await promptWhere({ isMemoryOff: true });
    expect(withoutMemory).not.toContain('notes');
    expect(withoutMemory).toMatch(/Memory is switched off in this channel.*- wave/u);
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
    const { prompt } = await composer.compose(aliceContext, allOn, signal);
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
  it('is none where only the speaker and the bot have spoken', async () => {
    expect(await thirdPartyTextIn([])).toBe(false);
    expect(await thirdPartyTextIn([alice, bot, message(3, aliceId, 'human')])).toBe(false);
    expect(await thirdPartyTextIn(new Error('no history'))).toBe(false);
  });

  it.each([
    ['a person', message(3, bobId, 'human')],
    ['another bot', message(3, bobId, 'bot')],
  ])('is there once %s has spoken', async (_, other) => {
    expect(await thirdPartyTextIn([alice, other])).toBe(true);
  });

  it('is there although their message is too old for the prompt: an answer that is shown may repeat it', async () => {
    const longAgo = message(1, bobId, 'human', 'x'.repeat(190));
    expect(await thirdPartyTextIn([longAgo, bot, message(3, aliceId, 'human', 'y'.repeat(150))])).toBe(true);
  });

  it('is there with a file of the turn, and while an answer to an earlier one may repeat it', async () => {
    expect(
      await thirdPartyTextIn([alice, bot], [{ name: 'a.txt', size: 1, url: 'https://cdn.discordapp.com/a' }]),
    ).toBe(true);
    expect(await thirdPartyTextIn([{ ...alice, hasThirdPartyText: true }, bot])).toBe(true);
  });

  it('is there with an answer to a question that was deleted since', async () => {
    expect(await thirdPartyTextIn([alice, { ...bot, answers: alice.id }])).toBe(false);
    expect(await thirdPartyTextIn([{ ...bot, answers: alice.id }])).toBe(true);
  });

  it('is there with what the bot has sent for somebody', async () => {
    expect(await thirdPartyTextIn([alice, { ...bot, hasThirdPartyText: true }])).toBe(true);
  });
});

describe('an earlier answer that may repeat others’ words [M5a]', () => {
  const old = { ...alice, at: '2026-01-15T08:00:00.000Z' };
  const answer = { ...bot, text: 'Mallory said: canary', answers: alice.id, at: '2026-01-15T08:00:05.000Z' };
  const dm = { ...aliceContext, place: { audience: 'dm', channelId: generalId, homeId: generalId } } as const;
  const log: PromptPorts['log'] = {
    answersWithOthersWords: (_, ids) => Promise.resolve(new Set(ids.filter((id) => id === answer.id))),
  };

  async function composed(context: TurnContext, saidAt: string, ports: Partial<PromptPorts> = { log }) {
    const messages = context.messages.map((each) => ({ ...each, at: saidAt }));
    const { prompt, hasThirdPartyText } = await composerOver([old, answer], ports).compose(
      { ...context, messages },
      allOn,
      signal,
    );
    return { hasThirdPartyText, isShown: JSON.stringify(prompt.messages).includes('canary') };
  }

  it('counts as others’ words', async () => {
    const soon = '2026-01-15T08:10:00.000Z';
    const clean = { log: { answersWithOthersWords: () => Promise.resolve(new Set<string>()) } };
    expect(await composed(aliceContext, soon, clean)).toEqual({ hasThirdPartyText: false, isShown: true });
    expect(await composed(aliceContext, soon)).toEqual({ hasThirdPartyText: true, isShown: true });
    expect(await composed(dm, soon)).toEqual({ hasThirdPartyText: true, isShown: true });
  });

  it('is left out in a DM after a pause, and then counts no more; elsewhere it stays', async () => {
    const later = '2026-01-15T08:30:05.000Z';
    expect(await composed(dm, later)).toEqual({ hasThirdPartyText: false, isShown: false });
    expect(await composed(aliceContext, later)).toEqual({ hasThirdPartyText: true, isShown: true });
  });

  it('is any answer where the log cannot be read', async () => {
    const broken = { log: { answersWithOthersWords: () => Promise.reject(new Error('no disk')) } };
    expect(await composed(dm, '2026-01-15T08:10:00.000Z', broken)).toEqual({
      hasThirdPartyText: true,
      isShown: true,
    });
  });

  it('and memory that may repeat them are known to whoever writes', async () => {
    const marked: SectionSource<TurnContext> = {
      name: 'marked',
      sections: async () => [
        {
          name: 'conversation_summary',
          slot: 'fast',
          title: 'So far:',
          lines: ['x'],
          budget: 99,
          hasThirdPartyText: true,
        },
      ],
    };
    expect(
      (await composerOver([], { layers: [marked] }).compose(aliceContext, allOn, signal)).hasThirdPartyText,
    ).toBe(true);
  });
});
