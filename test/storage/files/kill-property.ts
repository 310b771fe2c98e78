import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { builtProgram } from '../../support/built-program.ts';
import { counterKind, document, entriesOf, log, text } from '../store-fixtures.ts';
import { childText, erasedText } from './child-text.ts';
import { createTemporaryStores, type TemporaryStores } from './temporary-store.ts';

let stores: TemporaryStores;
beforeEach(async () => {
  stores = await createTemporaryStores();
});
afterEach(() => stores.dispose());

const child = fileURLToPath(new URL('store-child.ts', import.meta.url));

/** Runs the child until it acknowledged `acknowledgements` changes, kills it, and gives the last number of each sort. */
async function runAndKill(acknowledgements: number): Promise<Map<string, number>> {
  const running = spawn(process.execPath, [builtProgram(child), stores.dataDir, stores.workspaceDir]);
  let output = '';
  running.stdout.setEncoding('utf8').on('data', (piece: string) => {
    output += piece;
    if (output.split('\n').length > acknowledgements) running.kill('SIGKILL');
  });
  running.stderr.setEncoding('utf8').on('data', (piece: string) => {
    output += piece;
  });
  const [, signal]: unknown[] = await once(running, 'close');
  if (signal !== 'SIGKILL') throw new Error(`The child ended by itself: ${output}`);
  const last = new Map<string, number>();
  for (const line of output.split('\n').slice(0, -1)) {
    const [what = '', number] = line.split(' ');
    last.set(what, Math.max(last.get(what) ?? 0, Number(number)));
  }
  return last;
}

/** The numbers of the erased text in all files, whatever their names. */
function numbersOnDisk(): readonly number[] {
  const found = stores.everything().matchAll(/erasing (\d+)\./gu);
  return Array.from(found, ([, number]) => Number(number));
}

/** Kills a process that changes a store after so many acknowledgements each, and looks at what it left. */
export function describeKills(kills: readonly number[]): void {
  it('everything that was acknowledged is there, whole, and the next start goes on', async () => {
    for (const acknowledgements of kills) {
      const acknowledged = await runAndKill(acknowledgements);
      // What was erased when the change was acknowledged stands nowhere, though nobody has cleaned up yet.
      expect(Math.min(Infinity, ...numbersOnDisk())).toBeGreaterThanOrEqual(acknowledged.get('erased') ?? 0);
      const store = await stores.open();
      const count = (await store.read(document, counterKind))?.count ?? 0;
      expect(count).toBeGreaterThanOrEqual(acknowledged.get('document') ?? 0);
      const entries = await entriesOf(store, log);
      expect(entries.length).toBeGreaterThanOrEqual(acknowledged.get('log') ?? 0);
      expect(entries.map(({ sequence }) => sequence)).toEqual(entries.map((_, index) => index + 1));
      const stored = (await store.readText(text)) ?? childText(0);
      expect(stored).toBe(childText(Number.parseInt(stored, 10)));
      await store.writeText(erasedText, 'erasing 0.');
      expect(new Set(numbersOnDisk())).toEqual(new Set([0]));
      await store.close();
      expect(stores.logged.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
    }
  });
}
