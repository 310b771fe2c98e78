import {
  DiscordAPIError,
  type APIMessage,
  type RawFile,
  type RESTPostAPIChannelMessageJSONBody,
} from 'discord.js';
import { describe, expect, it } from 'vitest';

import { createDirectMessages } from '../../../src/discord/replies/replies.ts';

const userId = '140000000000000001';
const dmId = '200000000000000009';
const commandId = '400000000000000001';

function messageOf(id: string, authorId: string): APIMessage {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is looked at
  return { id, author: { id: authorId } } as APIMessage;
}

interface Post {
  readonly body: RESTPostAPIChannelMessageJSONBody;
  readonly files: readonly RawFile[];
}

/** Direct messages over an API that answers the first ones, and then with this. */
function directOver(
  failure?: { readonly code: number; readonly after: number },
  standing: readonly APIMessage[] = [],
) {
  const deleted: string[] = [];
  const posts: Post[] = [];
  const seen: string[] = [];
  const port = createDirectMessages(
    {
      openDm: () => Promise.resolve(dmId),
      postMessage(_channelId, body, files = []) {
        if (failure !== undefined && posts.length >= failure.after) {
          const { code } = failure;
          return Promise.reject(
            new DiscordAPIError({ code, message: '' }, code, 403, 'POST', 'http://x/', {}),
          );
        }
        posts.push({ body, files });
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is looked at
        return Promise.resolve({ id: `${posts.length}` } as APIMessage);
      },
      messagesAfter: (_channelId, id) =>
        Promise.resolve(standing.filter((each) => BigInt(each.id) > BigInt(id)).slice(0, 2)),
      deleteMessage: async (_channelId, id) => void deleted.push(id),
    },
    () => 'bot',
  );
  const send = (messages: Parameters<typeof port.send>[1]) =>
    port.send(userId, messages, commandId, async (channelId, id) => void seen.push(`${channelId} ${id}`));
  return { posts, seen, send, port, deleted };
}

describe('direct messages that answer a command [K10]', () => {
  it('go in order, split, pinging nobody, each under a nonce of its own, and are told of', async () => {
    const { posts, seen, send } = directOver();
    const file = { name: 'a.zip', bytes: Buffer.from('a') };
    expect(await send([{ text: 'word '.repeat(600), files: [file] }, { text: 'second' }])).toBe('sent');
    expect(posts.map(({ files }) => files.map(({ name }) => name))).toEqual([[], ['a.zip'], []]);
    for (const [index, { body }] of posts.entries()) {
      expect(body.content?.length).toBeLessThanOrEqual(2000);
      expect(body).toMatchObject({
        allowed_mentions: { parse: [] },
        nonce: `${commandId}-d${index}`,
        enforce_nonce: true,
      });
      expect(String(body.nonce).length).toBeLessThanOrEqual(25);
    }
    expect(seen).toEqual([`${dmId} 1`, `${dmId} 2`, `${dmId} 3`]);
  });

  it.each([50007, 50278])('recognise by %d that the person accepts none', async (code) => {
    expect(await directOver({ code, after: 0 }).send([{ text: 'hello' }])).toBe('closed');
  });

  it("takes away its own messages up to one, page by page, and leaves the person's [K11]", async () => {
    const authors = ['bot', 'bob', 'bot', 'bob', 'bot', 'bot'];
    const { port, deleted } = directOver(
      undefined,
      authors.map((author, index) => messageOf(`${index + 1}`, author)),
    );
    expect(await port.deleteOwn(dmId, '6')).toEqual({ deleted: 3, isAll: true });
    expect(deleted).toEqual(['1', '3', '5']);
  });
});
