import { createTemporaryDatabase } from '../storage/postgres/temporary-database.ts';
import type { SceneMemory } from './scene.ts';

/** Memory in a database of its own, as a process has it that shares it with others. */
export async function memoryInDatabase(): Promise<SceneMemory> {
  const database = await createTemporaryDatabase();
  const store = await database.open({ connections: 4 });
  return {
    store,
    shared: { processes: store, work: store.work },
    // What waits for a time does so by the server's clock.
    beginsAt: Date.now(),
    [Symbol.asyncDispose]: () => database.dispose(),
  };
}
