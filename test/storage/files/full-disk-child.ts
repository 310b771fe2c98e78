/**
 * A process of its own whose files may not grow over a limit that its starter set, as on a disk that fills up in the middle of a
 * write. Prints what became of its changes as JSON.
 */
import { counterKind, document, increment, log, notesOf, text } from '../store-fixtures.ts';
import { createFileStore } from '../../../src/storage/files/store.ts';
import { createRecordingLogger } from './temporary-store.ts';

const [dataDir = '', workspaceDir = ''] = process.argv.slice(2);
const store = await createFileStore({
  dataDir,
  workspaceDir,
  clock: () => new Date(),
  logger: createRecordingLogger([]),
});
// The system tells of the limit by a signal too, which would end the process.
process.on('SIGXFSZ', () => undefined);
const large = 'x'.repeat(400_000);

await store.update(document, counterKind, increment);
await store.writeText(text, 'good');
await store.append(log, { note: 'good' });
const [tooLong, tooLongForLog] = await Promise.allSettled([
  store.writeText(text, large),
  store.append(log, { note: large }),
]);
await store.append(log, { note: 'next' });
const report = {
  outcomes: [tooLong.status, tooLongForLog.status],
  text: await store.readText(text),
  notes: await notesOf(store, log),
  files: (await store.list('users')).map(({ path }) => path),
};
await store.close();
process.stdout.write(JSON.stringify(report));
