import {
  DiscordAPIError,
  MessageFlags,
  type APIMessage,
  type RESTPostAPIChannelMessageJSONBody,
} from 'discord.js';
import { afterEach, describe, expect, it, vi } from 'vitest';

import type { FinishedReply } from '../../../src/core/reply.ts';
import { snowflakeAt } from '../../../src/core/snowflake.ts';
import type { RepliesOptions } from '../../../src/discord/replies/growing-reply.ts';
import { createReplies } from '../../../src/discord/replies/replies.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { runGateway } from '../support/gateway-harness.ts';

const channelId = '200000000000000001';
const longText = Array.from({ length: 5 }, (_, index) => `${index} ${'word '.repeat(300)}`).join('\n\n');

/** A refusal as discord.js reports it. */
function refusal(code: number, status = 403): DiscordAPIError {
  return new DiscordAPIError({ code, message: 'refused' }, code, status, 'POST', 'http://127.0.0.1/', {});
}

const notAskedFor = () => Promise.reject(new Error('not asked for'));
const unused: RepliesOptions['api'] = {
  showTyping: () => Promise.resolve(),
  messagesAfter: notAskedFor,
  message: notAskedFor,
  postMessage: notAskedFor,
  editMessage: notAskedFor,
  deleteMessage: notAskedFor,
  openThread: notAskedFor,
  openDm: notAskedFor,
  react: notAskedFor,
};

/** The messages of what was sent. */
function idsOf(sent: FinishedReply): readonly string[] {
  return sent.kind === 'sent' ? sent.ids : [];
}

/** Replies over an API that answers as told; without an instruction it accepts. */
function repliesOver(failures: readonly (Error | undefined)[] = [], changes: Partial<RepliesOptions> = {}) {
  const bodies: RESTPostAPIChannelMessageJSONBody[] = [];
  const remaining = [...failures];
  const logger = new RecordingLogger();
  const replies = createReplies({
    botId: () => '130000000000000001',
    clock: () => new Date(),
    logger,
    onSent: () => {},
    onEdited: () => {},
    onRemoved: () => {},
    retryDelaysMs: [1, 1],
    api: {
      ...unused,
      messagesAfter: () => Promise.resolve([]),
      openThread: () => Promise.resolve(),
      postMessage(_channelId, body) {
        bodies.push(body);
        const failure = remaining.shift();
        if (failure !== undefined) return Promise.reject(failure);
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is looked at
        return Promise.resolve({ id: `${bodies.length}`, content: body.content } as APIMessage);
      },
    },
    ...changes,
  });
  return { replies, bodies, logger };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('an answer that Discord refuses [G3d]', () => {
  it.each([
    ['is told by a sign alone where that is taken', {}, true, 0],
    ['is told in a DM where no sign is taken', {}, false, 1],
    ['is told nowhere where the DM is the place that refuses', { isDm: true }, false, 0],
    ['is told nowhere to another bot, which has no DMs', { isBot: true as const }, false, 0],
  ])('%s', async (_, changes, takesSign, expected) => {
    const told: [string, string | undefined][] = [];
    const { replies } = repliesOver([], {
      api: {
        ...unused,
        react: () => (takesSign ? Promise.resolve() : Promise.reject(refusal(50_013))),
        openDm: () => Promise.resolve('200000000000000005'),
        async postMessage(place, { content }) {
          told.push([place, content]);
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing is looked at
          return {} as APIMessage;
        },
      },
    });
    const question = { channelId, messageId: '1', userId: '100000000000000001', isDm: false, ...changes };
    await replies.tellRefused(question, 'place');
    const line = `⚠️ I could not send my answer in <#${channelId}>: I may not write there. Ask me here, or ask again there later.`;
    expect(told).toEqual(expected === 0 ? [] : [['200000000000000005', line]]);
  });
});

describe('replies', () => {
  it('arrive in order, as one reply and what follows it, pinging nobody', async () => {
    const { server, replies, settled } = await runGateway();
    const asked = await server.say({ as: 'bob', in: '#general', text: 'tell me a lot' });
    const ids = idsOf(
      await replies.send(asked.channelId, `@everyone <@${asked.author.id}> ${longText}`, asked.id),
    );
    await settled();
    const sent = await server.messages({ in: '#general', from: 'bot' });
    expect(sent.map(({ id }) => id)).toEqual(ids);
    expect(sent.length).toBeGreaterThan(3);
    expect(sent.map(({ replyTo }) => replyTo)).toEqual([asked.id, ...sent.slice(1).map(() => undefined)]);
    expect(sent.flatMap(({ mentions }) => mentions)).toEqual([]);
    for (const { body } of await server.requests({ method: 'POST', path: '/channels/*/messages' })) {
      expect(body).toMatchObject({
        allowed_mentions: { parse: [], replied_user: false },
        enforce_nonce: true,
      });
    }
  });

  it('are there once, though they are sent again long after Discord has forgotten the nonce', async () => {
    let now = Date.now() - 10 * 60_000;
    const running = await runGateway({ sandbox: { now: () => new Date(now) } });
    const asked = await running.server.say({ as: 'bob', in: 'dm', text: 'hello' });
    const chunks = 3;
    const text = longText.slice(0, 1900 * chunks);
    const first = idsOf(await running.replies.send(asked.channelId, text, asked.id));
    const [last] = first.slice(-1);
    await running.server.delete({ message: last ?? '' });
    now = Date.now();
    const second = idsOf(await running.replies.send(asked.channelId, text, asked.id));
    expect(second.slice(0, -1)).toEqual(first.slice(0, -1));
    expect(second.at(-1)).not.toBe(last);
    expect(await running.server.messages({ in: '@bob', from: 'bot' })).toHaveLength(first.length);
  });

  it('show no previews below several links, and that of Discord below one [G9]', async () => {
    const { replies, bodies } = repliesOver();
    for (const text of ['https://a.example', 'https://a.example and https://b.example'])
      await replies.send(channelId, text, `${snowflakeAt(new Date())}e`);
    expect(bodies.map(({ flags }) => flags)).toEqual([undefined, MessageFlags.SuppressEmbeds]);
  });

  it('go out without the reference where the bot may not read the channel’s history', async () => {
    const { replies, bodies } = repliesOver([refusal(160_002, 400)]);
    await replies.send(channelId, 'hello', snowflakeAt(new Date()));
    expect(bodies.map((body) => 'message_reference' in body)).toEqual([true, false]);
  });

  it('are there once, though the connection broke before Discord could say so', async () => {
    const { server, replies } = await runGateway();
    const asked = await server.say({ as: 'bob', in: 'dm', text: 'hello' });
    await server.setFault({ kind: 'lost', route: 'POST /channels/*/messages' });
    await replies.send(asked.channelId, 'Here.', asked.id);
    expect(await server.messages({ in: '@bob', from: 'bot' })).toHaveLength(1);
  });

  it('are refused for good by every 4xx that cannot pass by itself, because of the place or of what they say [G3d]', async () => {
    for (const [reason, status, codes] of [
      ['place', 404, [10_003]],
      ['place', 403, [50_001, 50_007, 50_013, 50_278, 160_005]],
      ['content', 400, [50_035, 200_000, 240_000, 50_006]],
    ] as const) {
      for (const code of codes) {
        const { replies } = repliesOver([undefined, refusal(code, status)]);
        expect({ code, ...(await replies.send(channelId, longText, '1')) }).toEqual({
          code,
          kind: 'refused',
          reason,
          ids: ['1'],
        });
      }
    }
  });

  it('count as refused for good if a refusal that may pass persists after some tries', async () => {
    for (const [code, status, reason] of [
      [40_058, 400, 'place'],
      [999_999, 400, 'content'],
      [999_999, 403, 'place'],
    ] as const) {
      const { replies, bodies } = repliesOver(Array.from({ length: 10 }, () => refusal(code, status)));
      expect(await replies.send(channelId, 'hello', '1')).toEqual({ kind: 'refused', reason, ids: [] });
      expect(bodies).toHaveLength(3);
    }
  });

  it('open an archived thread once', async () => {
    let opened = 0;
    const archived = refusal(50_083, 400);
    for (const failures of [[archived], [archived, archived]]) {
      const { replies } = repliesOver(failures);
      const sent = await replies.send(channelId, 'hello', '1');
      opened += sent.kind === 'sent' ? 1 : 0;
    }
    expect(opened).toBe(1);
  });

  it('tell of each message before it enters history, also where a later one fails', async () => {
    const events: string[] = [];
    const { replies } = repliesOver([undefined, undefined, refusal(50_013)], {
      onSent: ({ id }) => events.push(`${id} in history`),
    });
    const beforeSeen = async (id: string): Promise<void> => {
      await Promise.resolve();
      events.push(`told of ${id}`);
    };
    expect(await replies.send(channelId, longText, '1', beforeSeen)).toMatchObject({ ids: ['1', '2'] });
    expect(events).toEqual(['told of 1', '1 in history', 'told of 2', '2 in history']);
  });
});

describe('typing', () => {
  it('is shown in a moment, or when asked for, and every eight seconds, until the reply is there', async () => {
    vi.useFakeTimers();
    let shown = 0;
    const { replies } = repliesOver([], {
      api: {
        ...unused,
        showTyping: () => Promise.resolve(void (shown += 1)),
      },
    });
    const typing = replies.typing(channelId, channelId);
    expect(shown).toBe(0);
    await vi.advanceTimersByTimeAsync(100);
    expect(shown).toBe(1);
    await vi.advanceTimersByTimeAsync(16_400);
    expect(shown).toBe(3);
    typing.end();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(shown).toBe(3);
  });
});
