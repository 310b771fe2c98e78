import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export type McpTool = 'search_memory' | 'list_items' | 'propose_item';

/** The official client with a token; `mode` is the protocol that it speaks, with a handshake (`legacy`) or without. */
export async function connectMcp(url: string, token: string, mode: 'legacy' | 'auto' = 'legacy') {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers: { Authorization: `Bearer ${token}` } },
    }),
  );
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    /** What a tool answers. */
    async call(name: McpTool, input: Readonly<Record<string, unknown>> = {}): Promise<string> {
      const { content, isError } = await client.callTool({ name, arguments: input });
      const text = content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n');
      return isError === true ? `error: ${text}` : text;
    },
    close: () => client.close(),
  };
}

/** One request by hand, without the client; what `url` asks for behind its path is kept. */
export function postMcp(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
): Promise<Response> {
  const { origin, search } = new URL(url);
  return fetch(`${origin}/mcp${search}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body,
  });
}
