import { Snowflake } from '@sapphire/snowflake';

import type { Message } from '../world/entities.ts';
import { messagesOf } from '../world/messages.ts';
import type { World } from '../world/world.ts';
import type { RecordedRequest } from '../rest/request-log.ts';
import { requireView } from './rights.ts';
import { findChannel, findPerson } from './references.ts';
import { waitUntil } from './wait-until.ts';

/**
 * Messages of a channel, oldest first, by who wrote them; a person sees what the bot shows to them alone too.
 * @throws {SandboxError} for an unknown channel, or one that the person cannot see.
 */
export function observedMessages(
  world: World,
  input: {
    readonly in: string;
    readonly after?: string | undefined;
    readonly from: 'anybody' | 'bot' | 'people';
    readonly as?: string | undefined;
  },
): readonly Message[] {
  const { after, from } = input;
  const viewer = input.as === undefined ? undefined : findPerson(world, input.as);
  const channel = findChannel(world, input.in, viewer);
  if (viewer !== undefined) requireView(world, channel, viewer);
  const forViewer = [...world.ephemerals.values()].flatMap(({ message, viewerId }) =>
    message.channelId === channel.id && viewerId === viewer?.id ? [message] : [],
  );
  const all = [...messagesOf(world, channel.id), ...forViewer].toSorted((a, b) =>
    Snowflake.compare(a.id, b.id),
  );
  return all.filter(
    (message) =>
      (after === undefined || Snowflake.compare(message.id, after) > 0) &&
      (from === 'anybody' || (message.authorId === world.botId) === (from === 'bot')),
  );
}

export interface ReplyWish {
  readonly in: string;
  readonly after?: string | undefined;
  readonly containing?: string | undefined;
  readonly settleMs: number;
  readonly timeoutMs: number;
}

/** The bot's first message in a channel after a given one that fits the wish. @throws {SandboxError} when none comes. */
export async function waitForReply(world: World, wish: ReplyWish): Promise<Message> {
  const channelId = findChannel(world, wish.in).id;
  const after = wish.after ?? observedMessages(world, { in: channelId, from: 'people' }).at(-1)?.id ?? '0';
  const posted = (): readonly Message[] => observedMessages(world, { in: channelId, after, from: 'bot' });
  const wanted = wish.containing === undefined ? '' : ` containing ${JSON.stringify(wish.containing)}`;
  return await waitUntil(world, {
    check: () => posted().find(({ text }) => text.includes(wish.containing ?? '')),
    disturbs: (event) =>
      (event.type === 'message-created' || event.type === 'message-edited') &&
      event.message.channelId === channelId &&
      event.message.authorId === world.botId,
    settleMs: wish.settleMs,
    timeoutMs: wish.timeoutMs,
    what: () =>
      `a reply of the bot in ${wish.in}${wanted}; it wrote ${JSON.stringify(posted().map(({ text }) => text))}`,
  });
}

/** The requests with this method and path, `*` in the path standing for any one segment. */
export function matchingRequests(
  requests: readonly RecordedRequest[],
  wish: { readonly method?: string | undefined; readonly path?: string | undefined },
): readonly RecordedRequest[] {
  const wanted = wish.path?.split('/');
  return requests.filter(({ method, path }) => {
    const segments = path.split('/');
    const fits =
      wanted === undefined ||
      (wanted.length === segments.length &&
        wanted.every((part, index) => part === '*' || part === segments[index]));
    return fits && (wish.method === undefined || wish.method === method);
  });
}
