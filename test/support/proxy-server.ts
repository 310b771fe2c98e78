import { createServer } from 'node:http';
import { connect } from 'node:net';
import { Transform } from 'node:stream';

export interface ProxyServer {
  /** To be used as `HTTP_PROXY`. */
  readonly url: string;
  /** The hosts that it was asked to connect to, in order. */
  readonly hosts: readonly string[];
  close(): Promise<void>;
}

/** A proxy on loopback that tunnels to this machine, whatever the host that it is asked for. */
export async function startProxyServer(): Promise<ProxyServer> {
  const hosts: string[] = [];
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on('connect', ({ url = '' }, socket, head) => {
    const { hostname, port } = new URL(`http://${url}`);
    hosts.push(hostname);
    const target = connect(Number(port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.write(head);
      target.pipe(socket).pipe(asLoopback(hostname)).pipe(target);
    });
    target.on('error', () => socket.destroy());
    socket.on('error', () => target.destroy());
    server.once('close', () => target.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    hosts,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The sandbox answers to the names of this machine alone. */
function asLoopback(hostname: string): Transform {
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const text = chunk.toString('latin1').replace(`host: ${hostname}:`, 'host: 127.0.0.1:');
      done(null, Buffer.from(text, 'latin1'));
    },
  });
}
