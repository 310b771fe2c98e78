import { describeStoreContract, openStoreUnderTest } from '../store-contract.ts';
import { createTemporaryStores } from './temporary-store.ts';

describeStoreContract('createFileStore', async () => openStoreUnderTest(await createTemporaryStores()));
