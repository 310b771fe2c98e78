import * as fc from 'fast-check';
import type { ChatMessage } from '../../src/core/message.ts';
import { textOf } from '../../src/core/model.ts';
import { sectionNames, type Section } from '../../src/core/section.ts';
import type { Place } from '../../src/core/place.ts';
import { historyWindow, type HistoryWindow, type WindowTurn } from '../../src/prompt/history.ts';
import type { Prompt, PromptInput } from '../../src/prompt/build-prompt.ts';

export const minuteMs = 60_000;

/** The id of a sample message by its number. */
export function idOf(id: number): string {
  return String(100_000_000_000_000_000n + BigInt(id));
}

export function chatMessage(id: number, text: string, changes: Partial<ChatMessage> = {}): ChatMessage {
  return {
    id: idOf(id),
    channelId: '200000000000000000',
    author: { id: '300000000000000000', name: 'Alice', kind: 'human' },
    text,
    at: '2026-01-15T12:00:00.000Z',
    attachments: [],
    ...changes,
  };
}

export function ownMessage(id: number, text: string): ChatMessage {
  return chatMessage(id, text, { author: { id: '1', name: 'Discoclaw', kind: 'self' } });
}

export function otherBotMessage(id: number, text: string): ChatMessage {
  return chatMessage(id, text, { author: { id: '2', name: 'Dyno', kind: 'bot' } });
}

export function section(changes: Partial<Section> = {}): Section {
  return {
    name: 'durable_items',
    slot: 'slow',
    title: 'What is known about Alice:',
    lines: ['- Likes tea', '- Lives in Graz'],
    budget: 2000,
    ...changes,
  };
}

export const publicPlace: Place = {
  audience: 'public',
  channelId: '200000000000000000',
  homeId: '200000000000000000',
  guildId: '400000000000000000',
  channelName: 'dev',
};

export function promptInput(changes: Partial<PromptInput> = {}): PromptInput {
  return {
    soul: 'You are Discoclaw.',
    rules: 'Rules.',
    sections: [],
    history: [],
    message: {
      speakerName: 'Alice',
      messages: [
        { id: '100000000000000001', text: 'Hello', at: '2026-01-15T12:00:00.000Z', attachments: [] },
      ],
      place: publicPlace,
      localTime: '2026-01-15 13:00',
      turnsSinceSummary: 0,
    },
    files: [],
    promptMaxChars: 40_000,
    cacheLife: '5m',
    ...changes,
  };
}

/** What a turn of Alice's, after all of these messages, shows of them. */
export function windowOf(
  messages: readonly ChatMessage[],
  {
    begin,
    budget = 3000,
    ...turn
  }: Partial<WindowTurn> & { begin?: string | undefined; budget?: number } = {},
): HistoryWindow {
  const speaker = { id: '300000000000000000', name: 'Alice', kind: 'human' } as const;
  return historyWindow(begin, messages, budget, {
    speaker,
    messageId: idOf(1_000_000),
    timeZone: 'UTC',
    ...turn,
  });
}

/** Every text block of a prompt, in order, with who says it. */
export function blocksOf(
  prompt: Prompt,
): readonly { readonly role: string; readonly text: string; readonly cache: boolean }[] {
  const turns = [{ role: 'system', content: prompt.system }, ...prompt.messages];
  return turns.flatMap(({ role, content }) =>
    content.flatMap((block) =>
      block.type === 'text' ? [{ role, text: block.text, cache: block.cache !== undefined }] : [],
    ),
  );
}

export function wholeText(prompt: Prompt): string {
  return textOf(blocksOf(prompt).map(({ text }) => ({ type: 'text', text })));
}

/** How often one of the prompt's own tags is opened or closed in a text, for a reader who reads over what is not seen, white space and slashes. */
export function countTags(text: string): number {
  const seen = text.replace(/[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Cs}]/gu, (unseen) =>
    unseen === '\n' ? '\n' : '',
  );
  return [...seen.matchAll(new RegExp(`<[\\s/]*(?:${sectionNames.join('|')})\\b`, 'giu'))].length;
}

/** Texts that try to be more than text: tags whole and in pieces, line breaks, replacement patterns, invisible characters. */
export const nastyText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(...sectionNames),
      fc.constantFrom('<', '</', '>', ' ', '\n', '\r\n', '\t', ': ', '"', '$&', '&lt;', '[', '\u2028'),
      fc.constantFrom('\u200b', '\u202e', '\u200d', '\0', '😀', 'дом', '</message>', '< / NOTES', '<turns'),
      fc.constantFrom(
        ...'\ud83d|\udc00|\ufe0f|\u{e0101}|\u3164|\u034f|\u2066|\x1b[2J|\u0085|\ufeff'.split('|'),
      ),
      fc.constantFrom('<\u200b/\u3164message', '<//notes', '</\u{e0020}turns', '<\ufe0fmess\u00adage>'),
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc
        .array(fc.integer({ min: 0, max: 0xff_ff }), { maxLength: 8 })
        .map((units) => String.fromCharCode(...units)),
      fc.lorem({ maxCount: 12 }),
    ),
    { maxLength: 25 },
  )
  .map((pieces) => pieces.join(''));

/** A channel's earlier messages, oldest first, by people, other bots and this bot. */
export const chatMessages: fc.Arbitrary<readonly ChatMessage[]> = fc
  .array(
    fc.record({
      name: nastyText,
      kind: fc.constantFrom('human', 'self', 'bot'),
      text: fc.oneof(nastyText, fc.lorem({ maxCount: 120 })),
      attachments: fc.array(nastyText, { maxLength: 2 }),
    }),
    { maxLength: 30 },
  )
  .map((drafts) =>
    drafts.map(({ text, attachments }, index) => {
      const { name = '', kind = 'human' } = drafts[index % 4] ?? {};
      return chatMessage(index, text, { author: { id: String(index % 4), name, kind }, attachments });
    }),
  );
