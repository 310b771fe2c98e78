import { describeStoreContract, openStoreUnderTest } from '../store-contract.ts';
import { createTemporaryDatabase } from './temporary-database.ts';

describeStoreContract('createPostgresStore', async () => openStoreUnderTest(await createTemporaryDatabase()));
