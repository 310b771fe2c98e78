import type { Config } from '../config/config.ts';

/** Never asked of a proxy, which would look for them on its own machine. */
const loopback = ['localhost', '127.0.0.1', '[::1]'];

/** Sends all requests of this process through the operator's proxy [M10], but not the gateway's socket. */
export async function useProxy({ http = '', https = '', except = '' }: Config['proxy']): Promise<void> {
  if (http === '' && https === '') return;
  const { default: undici } = await import('undici');
  const { fetch, Headers, Request, Response, FormData, EnvHttpProxyAgent, setGlobalDispatcher } = undici;
  // Not every version of Node.js lets its own take this package's dispatcher.
  Object.assign(globalThis, { fetch, Headers, Request, Response, FormData });
  const noProxy = [except, ...loopback].join(',');
  setGlobalDispatcher(new EnvHttpProxyAgent({ httpProxy: http, httpsProxy: https, noProxy }));
}
