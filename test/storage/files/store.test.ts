import { describeStoreContract } from '../store-contract.ts';
import { createTemporaryStores } from './temporary-store.ts';

describeStoreContract('createFileStore', async () => {
  const stores = await createTemporaryStores();
  const blockLines = 4;
  let store = await stores.open({ blockLines });
  return {
    store: () => store,
    async reopen() {
      await store.close();
      store = await stores.open({ blockLines });
    },
    everything: () => Promise.resolve(stores.everything()),
    dispose: () => stores.dispose(),
  };
});
