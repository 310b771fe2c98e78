/**
 * A process of its own that changes a store without end and says on its output, a line each, what was acknowledged:
 * `document`, `log`, `text` or `erased` with a number. Started by tests, which kill it.
 */
import { createFileStore } from '../../../src/storage/files/store.ts';
import { counterKind, document, increment, log, text } from '../store-fixtures.ts';
import { childText, erasedText } from './child-text.ts';
import { createRecordingLogger } from './temporary-store.ts';

const [dataDir = '', workspaceDir = ''] = process.argv.slice(2);
const store = await createFileStore({
  dataDir,
  workspaceDir,
  clock: () => new Date(),
  logger: createRecordingLogger([]),
});

function say(what: string, number: number): void {
  process.stdout.write(`${what} ${number}\n`);
}

async function forEver(change: () => Promise<void>): Promise<never> {
  for (;;) await change();
}

let texts = 0;
let erased = 0;
await Promise.all([
  forEver(async () => say('document', (await store.update(document, counterKind, increment))?.count ?? 0)),
  forEver(async () => say('log', await store.append(log, { note: 'x'.repeat(2000) }))),
  forEver(async () => say('log', await store.append(log, { note: 'y' }))),
  forEver(async () => {
    texts += 1;
    await store.writeText(text, childText(texts));
    say('text', texts);
  }),
  forEver(async () => {
    erased += 1;
    await store.writeText(erasedText, `erasing ${erased}.`);
    say('erased', erased);
  }),
]);
