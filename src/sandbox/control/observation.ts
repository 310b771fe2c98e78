import { Snowflake } from '@sapphire/snowflake';

import type { RecordedRequest } from '../rest/request-log.ts';
import type { Message } from '../world/entities.ts';
import { messagesOf } from '../world/messages.ts';
import type { World, WorldEvent } from '../world/world.ts';
import type { CheckedInput } from './control-inputs.ts';
import { findChannel, findPerson, requireView } from './references.ts';
import { SandboxError } from './sandbox-control.ts';

/**
 * Messages of a channel, oldest first, by who wrote them; a person sees what the bot shows to them alone too.
 * @throws {SandboxError} for an unknown channel, or one that the person cannot see.
 */
export function observedMessages(
  world: World,
  input: Pick<CheckedInput<'messages'>, 'in' | 'after' | 'from' | 'as'>,
): readonly Message[] {
  const { after, from } = input;
  const viewer = input.as === undefined ? undefined : findPerson(world, input.as);
  const channel = findChannel(world, input.in, viewer);
  if (viewer !== undefined) requireView(world, channel, viewer);
  const forViewer = [...world.ephemerals.values()].filter(
    ({ channelId, viewerId }) => channelId === channel.id && viewerId === viewer?.id,
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

/** The bot's first message in a channel after a given one that fits the wish. @throws {SandboxError} when none comes. */
export async function waitForReply(world: World, wish: CheckedInput<'waitForReply'>): Promise<Message> {
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
  wish: CheckedInput<'requests'>,
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

interface Waiting<T> {
  /** What is waited for, or `undefined` while it is not so; asked at once and after every event. */
  check(): T | undefined;
  /** Whether an event restarts the quiet time. */
  disturbs?(event: WorldEvent): boolean;
  /** How long it must have been quiet, in milliseconds. */
  readonly settleMs?: number;
  readonly timeoutMs: number;
  /** Ends the sentence "Waited 100 ms in vain for …". */
  readonly what: () => string;
}

/** Resolves with what `check` finds, once it has been quiet for `settleMs`. @throws {SandboxError} after `timeoutMs`. */
export async function waitUntil<T>(world: World, waiting: Waiting<T>): Promise<T> {
  const settleMs = waiting.settleMs ?? 0;
  return await new Promise<T>((resolve, reject) => {
    let quiet: NodeJS.Timeout | undefined;
    const look = (): void => {
      const found = waiting.check();
      if (found === undefined) return;
      if (settleMs > 0 && quiet === undefined) {
        quiet = setTimeout(() => {
          quiet = undefined;
          const settled = waiting.check();
          if (settled !== undefined) finish(() => resolve(settled));
        }, settleMs);
      } else if (settleMs === 0) {
        finish(() => resolve(found));
      }
    };
    const unsubscribe = world.subscribe((event) => {
      if (quiet !== undefined && (waiting.disturbs?.(event) ?? false)) {
        clearTimeout(quiet);
        quiet = undefined;
      }
      look();
    });
    const timer = setTimeout(() => {
      finish(() => reject(new SandboxError(`Waited ${waiting.timeoutMs} ms in vain for ${waiting.what()}`)));
    }, waiting.timeoutMs);
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      clearTimeout(quiet);
      unsubscribe();
      settle();
    };
    look();
  });
}
