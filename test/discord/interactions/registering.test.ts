import { expect, it } from 'vitest';

import { openSandbox, runGateway } from '../support/gateway-harness.ts';

const route = '/applications/*/commands';

/** The bodies of what was asked, oldest first. */
async function bodies(server: Awaited<ReturnType<typeof openSandbox>>, method: string, path = route) {
  const requests = await server.requests({ method, path });
  return requests.map(({ body }) => body);
}

it('commands are registered until that is done, and only then the log says so [O7]', async () => {
  const server = await openSandbox();
  // The library itself asks four times.
  await server.setFault({ kind: 'status', status: 503, route: `PUT ${route}`, times: 4 });
  const { gateway, logger } = await runGateway({ server });
  await gateway.commandsRegistered;
  const said = logger.lines
    .filter(({ event }) => /commands (?:were|could)/u.test(event))
    .map(({ event }) => event);
  expect(said).toEqual([
    'the commands could not be registered; it is tried again',
    'commands were registered',
  ]);
});

it("an app's Entry Point command is sent along, as Discord demands [O7]", async () => {
  const server = await openSandbox();
  const entryPoint = { id: '150000000000000001', type: 4, name: 'launch', handler: 2 };
  await server.setFault({ kind: 'status', status: 400, code: 50_240, route: `PUT ${route}` });
  await server.setFault({ kind: 'answer', status: 200, body: [entryPoint], route: `GET ${route}` });
  const { gateway } = await runGateway({ server });
  await gateway.commandsRegistered;
  const [first, second] = await bodies(server, 'PUT');
  expect(second).toEqual([...(Array.isArray(first) ? first : []), entryPoint]);
});

it('a server that does not know a kind of option has all commands without that one [L5]', async () => {
  const server = await openSandbox();
  for (const method of ['PUT', 'POST'])
    await server.setFault({ kind: 'status', status: 400, code: 50_035, route: `${method} ${route}` });
  await server.setFault({ kind: 'answer', status: 201, body: {}, route: `POST ${route}`, times: 50 });
  const { gateway } = await runGateway({ server });
  await gateway.commandsRegistered;
  const [all] = await bodies(server, 'PUT');
  const [refused, again, ...others] = await bodies(server, 'POST');
  expect([refused, ...others]).toEqual(all);
  expect(again).toMatchObject({ name: Object(refused).name });
  expect(JSON.stringify(refused)).toContain('"type":11');
  expect(JSON.stringify(again)).not.toContain('"type":11');
});

it('what an app once registered in a server alone is removed where it has our names, else named [O7]', async () => {
  const server = await openSandbox();
  const old = ['memory', 'ping'].map((name, index) => ({ id: `15000000000000000${index}`, type: 1, name }));
  const guildRoute = '/applications/*/guilds/*/commands';
  await server.setFault({ kind: 'answer', status: 200, body: old, route: `GET ${guildRoute}` });
  await server.setFault({ kind: 'answer', status: 200, body: [], route: `PUT ${guildRoute}` });
  const { gateway, logger } = await runGateway({ server });
  await gateway.commandsRegistered;
  expect(await bodies(server, 'PUT', guildRoute)).toEqual([[old[1]]]);
  expect(logger.lines.map(({ data }) => data)).toContainEqual(expect.objectContaining({ names: ['ping'] }));
});
