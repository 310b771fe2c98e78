import { expect, it } from 'vitest';

import { listModels } from '../../../src/model/anthropic/anthropic-client.ts';
import { startModelServer, type ModelList } from '../../support/model-server.ts';

it.each<readonly [string, ReturnType<ModelList>, readonly string[] | 'key']>([
  ['as the vendor lists them', { data: [{ type: 'model', id: 'a' }], has_more: false }, ['a']],
  ['as others do', { object: 'list', data: [{ id: 'b/c' }, { id: 'd:4b' }] }, ['b/c', 'd:4b']],
  ['none yet, as Ollama says it', { object: 'list', data: null }, []],
  ['no list at all', undefined, []],
  ['another key', 401, 'key'],
])('a server’s models are read [M10]: %s', async (_, answer, models) => {
  const server = await startModelServer(
    () => 'silent',
    undefined,
    () => answer,
  );
  expect(await listModels({ apiKey: 'sk-1', baseUrl: server.url, timeoutMs: 20_000 })).toEqual(models);
  await server.close();
});
