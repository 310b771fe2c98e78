import { describeStoreContract } from '../storage/store-contract.ts';
import { MemoryStore } from './memory-store.ts';

describeStoreContract('MemoryStore', async () => {
  const store = new MemoryStore();
  return Promise.resolve({
    store: () => store,
    reopen: () => Promise.resolve(),
    everything: () => store.everything(),
    dispose: () => Promise.resolve(),
  });
});
