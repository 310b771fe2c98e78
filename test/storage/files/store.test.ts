import { describeStoreContract } from '../store-contract.ts';
import { createTemporaryStores } from './temporary-store.ts';

describeStoreContract('createFileStore', async () => {
  const stores = await createTemporaryStores();
  let store = await stores.open();
  return {
    store: () => store,
    async reopen() {
      await store.close();
      store = await stores.open();
    },
    everything: () => Promise.resolve(stores.everything()),
    dispose: () => stores.dispose(),
  };
});
