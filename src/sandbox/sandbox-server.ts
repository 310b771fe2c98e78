import { randomBytes } from 'node:crypto';

import { Gateway, type RefuseConnection } from './gateway/gateway.ts';
import { createPeople, type People } from './people/people.ts';
import type { Interception, RestContext } from './rest/rest-context.ts';
import { apiPath, createRestServer } from './rest/rest-server.ts';
import { createDefaultWorld } from './world/default-world.ts';
import type { Clock, World, WorldEvent } from './world/world.ts';

export interface SandboxOptions {
  /** Any free one if not said. */
  readonly port?: number;
  /** A new one if not said. */
  readonly token?: string;
  readonly now?: Clock;
  /** How many shards a bot is told to run in; 1 if not said. */
  readonly shards?: number;
  /** Changes events and answers into what another server would send; may change what it is given. */
  readonly sends?: (body: unknown) => unknown;
  /** Meets every request before it is carried out. */
  readonly interception?: Interception;
  /** Refuses connections to the gateway. */
  readonly refuses?: RefuseConnection;
}

/** A running sandbox: what people do there, and what only its own process can have. */
export interface SandboxServer extends People {
  /** Everything that there is; the functions of `world/` change it, and the bot hears of that. */
  readonly world: World;
  readonly gateway: Gateway;
  /** `http://127.0.0.1:<port>`; also the address of attachments. */
  readonly url: string;
  /** What a Discord library takes as its API address. */
  readonly apiUrl: string;
  /** What the bot logs in with. No page of elsewhere knows it, and so nothing that a browser here is made to ask for is answered. */
  readonly token: string;
  /** Tells of everything that happens, synchronously. Returns how to unsubscribe. */
  subscribe(listener: (event: WorldEvent) => void): () => void;
  /** Ends all connections and stops listening. */
  close(): Promise<void>;
}

/** Starts a small Discord on 127.0.0.1: REST v10, gateway v10 and attachments. */
export async function startSandboxServer(options: SandboxOptions = {}): Promise<SandboxServer> {
  const { now = () => new Date(), shards = 1, sends = (body) => body, interception } = options;
  // By chance it could begin with `Bot`, which clients take off.
  const token = options.token ?? `sandbox-${randomBytes(24).toString('base64url')}`;
  const world = createDefaultWorld(now);
  let url = '';
  const urls = () => ({ gateway: `${url.replace(/^http/, 'ws')}/gateway`, cdn: url });
  const context: RestContext = { world, token, interception, sends, shards, urls };
  const gateway = new Gateway({ world, token, urls, sends, refuses: options.refuses ?? (() => undefined) });
  const app = createRestServer(context);
  gateway.listenOn(app.server);
  url = await app.listen({ host: '127.0.0.1', port: options.port ?? 0 });

  const addresses = { url, apiUrl: url + apiPath, token };
  return {
    ...createPeople(world, gateway, () => addresses),
    ...addresses,
    world,
    gateway,
    subscribe: (listener) => world.subscribe(listener),
    async close() {
      gateway.close();
      await app.close();
    },
  };
}
