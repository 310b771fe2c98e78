import { describeStoreContract } from '../store-contract.ts';
import { createTemporaryDatabase } from './temporary-database.ts';

describeStoreContract('createPostgresStore', async () => {
  const database = await createTemporaryDatabase();
  const blockLines = 4;
  let store = await database.open({ blockLines });
  return {
    store: () => store,
    async reopen() {
      await store.close();
      store = await database.open({ blockLines });
    },
    everything: () => database.everything(),
    dispose: () => database.dispose(),
  };
});
