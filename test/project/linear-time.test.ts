import { expect, it } from 'vitest';

import { parseCommand } from '../../src/commands/command.ts';
import { jsonIn } from '../../src/core/lenient-json.ts';
import { ownWords } from '../../src/core/own-words.ts';
import { maskSecrets } from '../../src/core/secrets.ts';
import { dataLine, dataText } from '../../src/core/section.ts';
import {
  clipAtSentence,
  clipAtWord,
  normalizeText,
  sameItemForm,
  terms,
  withoutFence,
  withoutInvisible,
} from '../../src/core/text.ts';
import { readableText } from '../../src/discord/normalise.ts';
import { splitReply, visiblePart } from '../../src/discord/replies/split-reply.ts';
import { parseNote } from '../../src/memory/log/kept-summary.ts';
import {
  applyPatches,
  formatAppended,
  formatWritten,
  summaryOf,
  withoutEmptyParts,
} from '../../src/memory/notebook/format.ts';
import { readMark } from '../../src/memory/notebook/tree.ts';
import { distinctiveTerms } from '../../src/memory/notebook/withdraw.ts';
import { createDates } from '../../src/memory/recall/dates.ts';
import { addUnit, createSegment } from '../../src/memory/recall/segments.ts';
import { TermReader } from '../../src/memory/recall/words.ts';
import { memoryWishIn, statementsIn } from '../../src/model/offline/phrases.ts';
import { quoted } from '../../src/prompt/quoted.ts';
import { mostHeld } from '../support/event-loop.ts';
import { shaped, shapes } from '../support/shapes.ts';

/** Characters of a message with Nitro, of a notebook's file and of an attached text at most. */
const sizes = { message: 4000, note: 65_000, file: 100_000 };

const facts = {
  part: 'facts',
  name: 'user',
  path: 'facts/user.md',
  key: 'facts',
  queueKey: 'alice',
} as const;
const episodes = { ...facts, part: 'episodes', name: '2026-01' } as const;
const today = { today: '2026-01-15' };
const names = { user: () => 'Bob', channel: () => 'general', role: () => 'staff' };
const readers = { terms: new TermReader(), dates: createDates('UTC') };
const noted = {
  author: 'Alice',
  at: '2026-01-15T12:00:00Z',
  isBot: false,
  hasThirdPartyText: false,
  reach: { visibility: 'dm', homeId: '1' },
  stretch: 0,
  reference: { kind: 'item', id: '1' },
} as const;

/** What reads people's texts, by the size of the longest that it is given. */
const readersOfTexts: Readonly<
  Record<keyof typeof sizes, Readonly<Record<string, (text: string) => unknown>>>
> = {
  message: {
    ownWords,
    maskSecrets,
    memoryWishIn,
    statementsIn,
    parseCommand: (text) => parseCommand(`!memory ${text}`, []),
    readableText: (text) => readableText(text, names, ['100000000000000009']),
    splitReply: (text) => splitReply(text),
    visiblePart,
    withoutFence,
  },
  note: {
    normalizeText,
    sameItemForm,
    terms,
    distinctiveTerms,
    dataLine,
    readMark,
    parseNote,
    summaryOf,
    jsonIn: (text) => jsonIn(`{}${text}`),
    withoutEmptyParts,
    clipAtWord: (text) => clipAtWord(text, text.length - 1),
    clipAtSentence: (text) => clipAtSentence(text, text.length - 1),
    formatFacts: (text) => formatWritten(facts, text, today),
    formatEpisodes: (text) => formatWritten(episodes, text, today),
    formatAppended: (text) => formatAppended(facts, text, text, today),
    applyPatches: (text) =>
      applyPatches(text, [{ oldText: `${text.slice(0, 500)}b${text.slice(0, 499)}`, newText: '' }]),
    index: (text) => addUnit(createSegment(noted.reach), { ...noted, text }, readers),
  },
  file: { withoutInvisible, dataText, quoted: (text) => quoted(text) },
};

const all = (['message', 'note', 'file'] as const).flatMap((size) =>
  Object.entries(readersOfTexts[size]).map(([name, read]) => ({ name, read, length: sizes[size] })),
);

it.each(all)('$name takes little time for $length characters of any form [L4]', ({ read, length }) => {
  const slow = Object.keys(shapes).flatMap((shape) => {
    const text = shaped(shape, length);
    const begun = process.cpuUsage();
    read(text);
    const { user, system } = process.cpuUsage(begun);
    const time = Math.round((user + system) / 1000);
    return time > mostHeld ? [`${shape}: ${time} ms`] : [];
  });
  expect(slow).toEqual([]);
});
