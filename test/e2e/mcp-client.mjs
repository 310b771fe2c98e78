// A program of its own, as people's assistants are: the official client, with a token. It makes the calls that standard input lists and prints
// what they answer.
import { text } from 'node:stream/consumers';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const { url, token, calls } = JSON.parse(await text(process.stdin));
const client = new Client({ name: 'assistant', version: '1' });
await client.connect(
  new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  }),
);
const { tools } = await client.listTools();
const answers = [];
for (const [name, input] of calls) {
  const { content } = await client.callTool({ name, arguments: input });
  answers.push(content.map((part) => part.text).join('\n'));
}
await client.close();
console.log(JSON.stringify({ tools: tools.map(({ name }) => name), answers }));
