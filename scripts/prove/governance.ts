import { readFile } from 'node:fs/promises';

import { z } from 'zod';

import { govern, type Governance } from '../../test/simulator/household.ts';
import type { Figure } from './page.ts';

const fileSchema = z.array(
  z.object({
    docs: z.array(
      z.object({ id: z.string(), spk: z.string(), text: z.string(), bot: z.boolean().default(false) }),
    ),
    qs: z.array(
      z.object({
        q: z.string(),
        asker: z.string(),
        upto: z.int().min(1),
        gold: z.array(z.union([z.string(), z.array(z.string()).min(1)])),
      }),
    ),
  }),
);

/** Households of a file of GateMem's, each with a bot of its own. */
export async function governanceFigures(file: string): Promise<readonly Figure[]> {
  const households = fileSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  const all: Governance[] = [];
  for (const { docs, qs } of households) {
    const people = docs.filter(({ bot }) => !bot);
    const saidBy = (upto: number): number => docs.slice(0, upto).filter(({ bot }) => !bot).length;
    const questions = qs.map(({ q, asker, upto, gold }) => ({
      text: q,
      asker,
      upTo: saidBy(upto),
      gold: gold.map((some) => (typeof some === 'string' ? [some] : some)),
    }));
    const messages = people.map(({ id, spk, text }) => ({ id, author: spk, text }));
    all.push(await govern({ messages, questions }));
  }
  const sum = (key: keyof Governance): number => all.reduce((total, each) => total + each[key], 0);
  const [mayKnow, given] = [sum('mayKnow'), sum('given')];
  return [
    {
      promise: 'what one said oneself, and may be told here, is in the prompt',
      tried: `${mayKnow} parts of answers to ${sum('asked')} questions in ${all.length} households`,
      outcome: `${((100 * given) / mayKnow).toFixed(1)} % given`,
    },
    {
      promise: 'what others said, or what was said in a narrower place, is not',
      tried: `${sum('mustNotKnow')} messages that would answer`,
      outcome: `${sum('leaked')} given`,
    },
    {
      promise: 'nor is what was deleted',
      tried: `${sum('deleted')} looks for a deleted message`,
      outcome: `${sum('stillGiven')} given`,
    },
  ];
}
