/** Writes to the database that its command line names until it is killed, and prints the number of each note that was acknowledged. */
import { createPostgresStore } from '../../../src/storage/postgres/store.ts';
import { createRecordingLogger } from '../files/temporary-store.ts';
import { counterKind, document, increment, log } from '../store-fixtures.ts';

const store = await createPostgresStore({ url: process.argv[2] ?? '', logger: createRecordingLogger([]) });
for (let number = 0; ; number += 1) {
  await store.append(log, { note: `${number}` });
  await store.update(document, counterKind, increment);
  process.stdout.write(`${number}\n`);
}
