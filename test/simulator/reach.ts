import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import tsBlankSpace from 'ts-blank-space';
import { parseAstAsync } from 'vitest/node';
import { z } from 'zod';

import { copyOfTheTree } from '../project/copy-of-the-tree.ts';
import type { PlantedFault } from './planted-faults.ts';
import { runTests } from './test-run.ts';

/** By test file, the names of the faults whose lines it reaches. */
export type Reach = Readonly<Record<string, readonly string[]>>;

/** A whole run of all test files. */
const wholeRunMs = 3 * 3_600_000;

const reachedSchema = z.object({ file: z.string(), reached: z.array(z.string()) });

/** The functions of a source, as places of what they do. */
interface Body {
  readonly start: number;
  readonly end: number;
  /** An expression instead of statements. */
  readonly isExpression: boolean;
}

/**
 * Which test files, by default all, reach which faults' lines, by one run of them in a copy of the tree in which the function around each line tells of itself.
 * What no function is around counts as reached where any function of its file is. Programs that tests start tell nothing.
 */
export async function findReach(
  faults: readonly PlantedFault[],
  files: readonly string[] = [],
): Promise<Reach> {
  const tree = await copyOfTheTree();
  const found = join(tree, 'reached.jsonl');
  try {
    for (const file of new Set(faults.map((fault) => fault.file))) {
      const source = await readFile(join(tree, file), 'utf8');
      const own = faults.filter((fault) => fault.file === file);
      await writeFile(join(tree, file), await withProbes(source, own));
    }
    await appendFile(join(tree, 'test/support/setup.ts'), tellingSetup(found, tree));
    await writeFile(found, '');
    await runTests(tree, files, wholeRunMs);
    const lines = (await readFile(found, 'utf8')).split('\n').filter((line) => line !== '');
    return Object.fromEntries(
      lines.map((line) => {
        const { file, reached } = reachedSchema.parse(JSON.parse(line));
        return [file, reached];
      }),
    );
  } finally {
    await rm(tree, { recursive: true });
  }
}

async function withProbes(source: string, faults: readonly PlantedFault[]): Promise<string> {
  const bodies = bodiesIn(await parseAstAsync(tsBlankSpace(source)));
  const places = faults.flatMap(({ name, find }) => {
    const at = source.indexOf(find);
    const around = bodies.filter(({ start, end }) => start <= at && at < end);
    const innermost = around.toSorted((one, other) => one.end - one.start - (other.end - other.start))[0];
    return (innermost === undefined ? bodies : [innermost]).map((body) => ({ body, name }));
  });
  const pieces = places.flatMap(({ body: { start, end, isExpression }, name }) => {
    const tells = `globalThis.reachedFaults?.add('${name}')`;
    return isExpression
      ? [
          { at: start, text: `(${tells}, ` },
          { at: end, text: ')' },
        ]
      : [{ at: start + 1, text: ` ${tells};` }];
  });
  let probed = source;
  for (const { at, text } of pieces.toSorted((one, other) => other.at - one.at))
    probed = probed.slice(0, at) + text + probed.slice(at);
  return probed;
}

function bodiesIn(node: unknown): readonly Body[] {
  if (typeof node !== 'object' || node === null) return [];
  const { type, body }: { readonly type?: unknown; readonly body?: unknown } = node;
  const isFunction = typeof type === 'string' && /Function/u.test(type);
  const own = isFunction ? placeSchema.safeParse(body).data : undefined;
  const inside = Object.values(node).flatMap(bodiesIn);
  if (own === undefined) return inside;
  return [{ start: own.start, end: own.end, isExpression: own.type !== 'BlockStatement' }, ...inside];
}

const placeSchema = z.object({ type: z.string(), start: z.number(), end: z.number() });

/** What a test file adds to the setup of each: it writes down what it has reached. */
function tellingSetup(found: string, tree: string): string {
  return `
import { appendFileSync as append } from 'node:fs';
import { expect } from 'vitest';
const reached = (globalThis.reachedFaults = new Set());
afterAll(() => {
  const file = (expect.getState().testPath ?? '').slice(${tree.length + 1});
  append('${found}', JSON.stringify({ file, reached: [...reached] }) + '\\n');
});
`;
}
