import { readFileSync } from 'node:fs';

import { z } from 'zod';

import { noUsage, textOf, type ModelRequest, type ModelResponse } from '../../../src/core/model.ts';
import { ownWords } from '../../../src/core/own-words.ts';
import { unconditional } from '../../../src/core/writes.ts';
import { sentencesQuoted } from '../../../src/memory/durable/evidence.ts';
import { createExtraction } from '../../../src/memory/durable/extraction.ts';
import { inZone } from '../../support/sessions.ts';
import { aliceId, createMemory, dm } from './fixtures.ts';

const language = z.string();
/** What is said, and what of it should be kept; all other sentences should not. */
const said = [z.string(), z.string(), z.array(z.string())] as const;
const answerBefore = z.string();
const turnSchema = z.union([z.tuple([language, ...said]), z.tuple([language, ...said, answerBefore])]);

const turns = readFileSync(new URL('ordinary-talk.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => turnSchema.parse(JSON.parse(line)));
const languages = [...new Set(turns.map(([each]) => each))];

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

function sentencesOf(text: string): readonly string[] {
  return Array.from(segmenter.segment(ownWords(text)), ({ segment }) => segment.trim());
}

/** Three a message is what extraction takes at most. */
function takenOf(text: string): readonly string[] {
  const quoted = sentencesOf(text).flatMap((quote) => sentencesQuoted(quote, text) ?? []);
  return [...new Set(quoted)].slice(0, 3);
}

interface Tally {
  readonly good: number;
  /** What is kept and should not be, or is kept already. */
  readonly junk: number;
  readonly lost: number;
}

function tallyOf(of: string, kept: readonly string[]): Tally {
  const wanted = turns.filter(([each]) => each === of).flatMap(([, , , keep]) => keep);
  const good = wanted.filter((quote) => kept.some((text) => text.includes(quote))).length;
  return { good, junk: kept.length - good, lost: wanted.length - good };
}

/** What memory holds after one person's turns, where the model takes every sentence that it may. */
async function keptOf(of: string): Promise<readonly string[]> {
  const { memory } = createMemory({ maxItems: 1000 });
  const messages = turns
    .filter(([each]) => each === of)
    .map(([, , text, , before], index) => {
      const time = Date.parse('2026-03-12T09:00:00Z') + index * 420_000;
      const id = String(BigInt(time - Date.parse('2015-01-01T00:00:00Z')) << 22n);
      return { id, text, answerBefore: before, at: new Date(time).toISOString(), place: dm };
    });
  const model = {
    complete(request: ModelRequest): Promise<ModelResponse> {
      const told = request.messages.map(({ content }) => textOf(content)).join('');
      const items = messages
        .filter(({ id }) => told.includes(`[${id}]`))
        .flatMap(({ id, text }) =>
          sentencesOf(text).map((quote) => ({ kind: 'fact', quote, messageId: id })),
        );
      const text = JSON.stringify({ items });
      return Promise.resolve({ content: [{ type: 'text', text }], stop: 'end', usage: noUsage });
    },
  };
  const extraction = createExtraction({
    model,
    modelName: 'haiku',
    timeZoneOf: inZone('Europe/Berlin'),
    durable: memory,
  });
  for (const message of messages)
    await extraction.extract(unconditional(aliceId), 'Alice', [message], () => Promise.resolve(message.text));
  return (await memory.list(aliceId)).map(({ text }) => text);
}

function sumOf(tallies: readonly Tally[]): Tally {
  const sum = (of: keyof Tally): number => tallies.reduce((total, tally) => total + tally[of], 0);
  return { good: sum('good'), junk: sum('junk'), lost: sum('lost') };
}

/** What is taken of all talk, and what of it is kept, where the model takes every sentence [A2]. */
export async function tallyTalk(): Promise<{ readonly before: Tally; readonly after: Tally }> {
  const before = languages.map((each) => {
    const taken = turns.filter(([of]) => of === each).flatMap(([, , text]) => takenOf(text));
    return tallyOf(each, [...new Set(taken)]);
  });
  const after: Tally[] = [];
  for (const each of languages) after.push(tallyOf(each, await keptOf(each)));
  return { before: sumOf(before), after: sumOf(after) };
}
