import {
  ChannelType,
  DiscordAPIError,
  PermissionFlagsBits,
  RESTJSONErrorCodes,
  type Channel,
  type GuildBasedChannel,
  type GuildMember,
  type GuildTextBasedChannel,
  type SendableChannels,
} from 'discord.js';
import { z } from 'zod';

import type { ChannelPort, HistoryPort } from '../../core/channels.ts';
import { withoutMentionMarks } from '../../core/own-words.ts';
import { hasMoreReaders, type Place } from '../../core/place.ts';
import type { Logger } from '../../core/logger.ts';
import { toSingleLine } from '../../core/text.ts';
import { checkedTool, refusal, type Offer, type Tool, type ToolOutcome } from '../../core/tool.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { worksInChannel, type AccessSettings } from '../access.ts';
import { capabilities, memberMay, neededToRead, type Capability } from '../permissions.ts';
import { placeOf, type Places } from '../place.ts';
import { explanationOf, hasErrorCode } from '../refusals.ts';
import { compareSnowflakes, messageReferenceIn } from '../../core/snowflake.ts';

export interface ActionOptions {
  readonly places: Places;
  readonly history: Pick<HistoryPort, 'recent'>;
  readonly settings: Pick<AccessSettings, 'channelIds'>;
  readonly logger: Logger;
}

interface ActionTurn {
  readonly context: TurnContext;
  readonly here: SendableChannels;
  /** The same in the same order when the turn is run again, so that nothing is posted twice [G3]. */
  readonly nextNonce: () => string;
  readonly signal: AbortSignal;
}

/** `text` is for the model, `note` for people, `ids` for the log. */
interface ActionResult {
  readonly text: string;
  readonly note: string;
  readonly ids: Readonly<Record<string, string>>;
}

/** Each function throws {@link ActionRefusal} where it may not be done, or Discord's own errors. */
interface Plan {
  /** Default: offered by a button where others' words or a file are in the context [M8]. */
  readonly offered?: 'always' | 'never' | undefined;
  readonly permit: () => Promise<void>;
  readonly show: () => Promise<Pick<Offer, 'what' | 'words'>>;
  readonly act: () => Promise<ActionResult>;
}

interface Action<Input> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  readonly plan: (input: Input, turn: ActionTurn, options: ActionOptions) => Promise<Plan>;
}

const needsButton = "Not done: this takes the person's own click.";
const notAsShown = 'it is not any more as it was shown. Please ask again.';

/** A tool that does something on Discord for the speaker, or offers it by a button [M8]. */
export function actionTool<Input>(action: Action<Input>): (options: ActionOptions) => Tool {
  const { name, description, input: schema } = action;
  return (options) => {
    const { places, logger } = options;
    const posted = new WeakMap<TurnContext, number>();

    function nextNonce(context: TurnContext): string {
      const count = (posted.get(context) ?? 0) + 1;
      posted.set(context, count);
      const lastId = context.messages.at(-1)?.id ?? '';
      return `${lastId}${name.at('discord_'.length) ?? ''}${count}`;
    }

    async function planFor(input: Input, context: TurnContext, signal: AbortSignal): Promise<Plan> {
      if (context.speaker.isBot !== undefined) throw new ActionRefusal('another bot may not ask for it.');
      const here = await places.find(context.place.channelId);
      if (here?.isSendable() !== true) throw new ActionRefusal('I cannot see this channel any more.');
      return action.plan(input, { context, here, nextNonce: () => nextNonce(context), signal }, options);
    }

    async function carryOut(plan: Plan, ids: object): Promise<ActionResult> {
      await plan.permit();
      const done = await plan.act();
      logger.info('an action was carried out', { ...ids, ...done.ids });
      return done;
    }

    async function run(input: Input, context: TurnContext, signal: AbortSignal): Promise<ToolOutcome> {
      const { speaker, place, hasThirdPartyText } = context;
      const ids = { action: name, userId: speaker.id, channelId: place.channelId };
      const refused = (error: unknown): string => {
        const reason = error instanceof ActionRefusal ? { reason: error.message } : { error };
        logger.info('an action was not carried out', { ...ids, ...reason });
        return failureText(error);
      };
      try {
        const plan = await planFor(input, context, signal);
        if (plan.offered === 'always' || (hasThirdPartyText && plan.offered !== 'never')) {
          await plan.permit();
          const offer = await plan.show();
          return {
            ...refusal(needsButton),
            offer: { ...offer, carryOut: (pressed) => press(offer, pressed) },
          };
        }
        const { text, note } = await carryOut(plan, ids);
        return { ok: true, text, note };
      } catch (error) {
        signal.throwIfAborted();
        return refusal(refused(error));
      }

      /** Does what was offered, if it is still the same. */
      async function press(offer: Pick<Offer, 'what' | 'words'>, pressed: AbortSignal): Promise<string> {
        try {
          const plan = await planFor(input, context, pressed);
          const { what, words } = await plan.show();
          if (what !== offer.what || words !== offer.words) throw new ActionRefusal(notAsShown);
          const { note } = await carryOut(plan, { ...ids, isOffered: true });
          return note;
        } catch (error) {
          return addressed(refused(error));
        }
      }
    }

    return checkedTool({ name, description, input: schema, notDone: 'Not done', run });
  };
}

function addressed(text: string): string {
  return text
    .replaceAll('the person lacks', 'you lack')
    .replaceAll('the person', 'you')
    .replace(claimNothing, '');
}

export async function showMessage(verb: string, channel: SendableChannels, messageId: string) {
  const { url, content } = await channel.messages.fetch({ message: messageId, cache: false, force: true });
  return { what: `${verb}: ${url}`, words: content === '' ? undefined : content };
}

export function line(maxChars: number) {
  return z.string().transform(toSingleLine).pipe(z.string().min(1).max(maxChars));
}

/** The message is what the model is told, and contains nobody's words. */
export class ActionRefusal extends Error {
  override readonly name = 'ActionRefusal';
}

const claimNothing = ' Do not claim that it was.';

function failureText(error: unknown): string {
  if (error instanceof ActionRefusal) return `Not done: ${error.message}`;
  if (error instanceof DiscordAPIError) return `Not done: ${explanationOf(error)}`;
  return `Discord could not be reached, so it is not known whether it was done.${claimNothing}`;
}

export const messageInput = z
  .string()
  .describe(
    '`current`: the message you are answering; `replied_to`: the one that it replies to; `my_last`: your own last before it; or the id or link of one in this channel.',
  );

/** In other tools, which are offered only together with the first. */
export const messageAsThere = 'As for discord_react.';

const lookedThrough = 50;

const inOther = 'That message is in another channel.';

/** @throws {ActionRefusal} where it means none. */
export async function messageIn(
  reference: string,
  { messages, place }: Pick<TurnContext, 'messages' | 'place'>,
  history: Pick<HistoryPort, 'recent'>,
): Promise<string> {
  const trimmed = reference.trim();
  switch (trimmed) {
    case 'current':
      return known(messages.at(-1)?.id, 'There is no message.');
    case 'replied_to': {
      const target = messages.findLast(({ repliesTo }) => repliesTo !== undefined)?.repliesTo;
      if (target !== undefined && target.channelId !== place.channelId) throw new ActionRefusal(inOther);
      return known(target?.id, 'The message you are answering replies to none.');
    }
    case 'my_last': {
      const first = messages[0]?.id ?? '0';
      const recent = await history.recent(place.channelId, lookedThrough);
      const own = recent.findLast(
        ({ id, author }) => author.kind === 'self' && compareSnowflakes(id, first) < 0,
      );
      return known(own?.id, 'You have said nothing here lately.');
    }
    default: {
      const linked = messageReferenceIn(trimmed);
      if ((linked?.channelId ?? place.channelId) !== place.channelId) throw new ActionRefusal(inOther);
      return known(linked?.id, 'Name a message by `current`, `replied_to`, `my_last`, its id or its link.');
    }
  }
}

function known(id: string | undefined, otherwise: string): string {
  if (id === undefined) throw new ActionRefusal(otherwise);
  return id;
}

/** The same whether it exists or not, so that nobody learns of a channel by asking. */
export const noSuchChannel = 'there is no such channel that the person and I can both see.';
const unknownRights = 'I cannot find out right now what the person may do there.';

/** What cannot be known is not allowed. @throws {ActionRefusal} */
export async function permit(
  capability: Capability,
  channel: Channel,
  context: Pick<TurnContext, 'speaker' | 'place'>,
  settings: Pick<AccessSettings, 'channelIds'>,
): Promise<void> {
  if (channel.isDMBased()) {
    const isTheirs = context.place.audience === 'dm' && channel.id === context.place.channelId;
    if (isTheirs && capability !== 'start-thread' && capability !== 'start-private-thread') return;
    throw new ActionRefusal('that is not possible in direct messages.');
  }
  const { me } = channel.guild.members;
  // Where the bot sees nothing, the person is not looked up.
  if (me === null || !has(channel, me, neededToRead(channel))) throw new ActionRefusal(noSuchChannel);
  const speaker = await seeingMember(channel, context.speaker.id);
  if (!worksInChannel(settings, channel)) throw new ActionRefusal('I do not work in that channel.');
  if (memberMay(capability, channel, me) !== true)
    throw new ActionRefusal(`I lack the permission to ${capabilities[capability]} there.`);
  if (memberMay(capability, channel, speaker) !== true)
    throw new ActionRefusal(`the person lacks the permission to ${capabilities[capability]} there.`);
}

/** Of the same server; from a direct message, of all servers. */
export function channelsCalled(reference: string, here: Channel): readonly GuildTextBasedChannel[] {
  const target = channelReference(reference);
  return [...here.client.channels.cache.values()].filter(
    (channel): channel is GuildTextBasedChannel =>
      channel.isTextBased() &&
      !channel.isDMBased() &&
      (here.isDMBased() || channel.guildId === here.guildId) &&
      ('id' in target ? channel.id === target.id : channel.name.toLowerCase() === target.name),
  );
}

/** `#name` or `name`, `<#id>` or an id. */
function channelReference(reference: string): { readonly id: string } | { readonly name: string } {
  const plain = withoutMentionMarks(reference).trim();
  const id = /^(?:<#)?(?<id>[0-9]{15,21})>?$/u.exec(plain)?.groups?.['id'];
  return id === undefined ? { name: plain.replace(/^#/u, '').trim().toLowerCase() } : { id };
}

function has(channel: GuildBasedChannel, member: GuildMember, permission: bigint): boolean {
  return channel.permissionsFor(member)?.has(permission) ?? false;
}

/** Fetched from Discord. @throws {ActionRefusal} where they do not see the channel. */
async function seeingMember(channel: GuildBasedChannel, userId: string): Promise<GuildMember> {
  const member = await channel.guild.members.fetch({ user: userId, force: true }).catch((cause: unknown) => {
    const isUnknown = hasErrorCode(cause, RESTJSONErrorCodes.UnknownMember, RESTJSONErrorCodes.UnknownUser);
    throw new ActionRefusal(isUnknown ? noSuchChannel : unknownRights, { cause });
  });
  const isSeen =
    has(channel, member, neededToRead(channel)) &&
    (channel.type !== ChannelType.PrivateThread ||
      has(channel, member, PermissionFlagsBits.ManageThreads) ||
      (await succeeds(channel.members.fetch({ member: member.id, force: true }))));
  if (!isSeen) throw new ActionRefusal(noSuchChannel);
  return member;
}

export function createChannelPort(places: Places): ChannelPort {
  return {
    async placeOf(channelId) {
      const channel = await places.find(channelId);
      return channel && placeOf(channel, places);
    },
  };
}

const maxCandidates = 10;

/** Of channels with one name, those that can be used; looked at one after the other, since each takes a request. */
export async function usableOf(
  called: readonly GuildTextBasedChannel[],
  isUsable: (channel: GuildTextBasedChannel) => Promise<boolean>,
): Promise<readonly GuildTextBasedChannel[]> {
  const usable = [];
  for (const channel of called.slice(0, maxCandidates)) if (await isUsable(channel)) usable.push(channel);
  return usable;
}

/** Whether a person can read a channel of a server now; what cannot be known counts as no. */
export async function mayRead(places: Places, userId: string, channelId: string): Promise<boolean> {
  const channel = await places.find(channelId);
  return channel !== undefined && !channel.isDMBased() && succeeds(seeingMember(channel, userId));
}

export async function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

/** @throws {ActionRefusal} where that cannot be known. */
export async function currentPlaceOf(channel: Channel, places: Places): Promise<Place> {
  const place = await placeOf(channel, places);
  if (place === undefined) throw new ActionRefusal('I do not know who can read along there.');
  return place;
}

/** Nobody may read here who could not when the model's words were made [V2]. @throws {ActionRefusal} */
export async function requireSameAudience(
  here: Channel,
  context: TurnContext,
  places: Places,
): Promise<void> {
  if (hasMoreReaders(context.place, await currentPlaceOf(here, places)))
    throw new ActionRefusal('this channel has become visible to more people in the meantime.');
}
