import { MessageFlags, MessageReferenceType, MessageType } from 'discord-api-types/v10';
import type {
  APIEmbed,
  APIMessage,
  APIUser,
  Attachment,
  Client,
  Embed,
  GuildMember,
  Message,
  User,
} from 'discord.js';

import {
  isOthersText,
  type AttachedFile,
  type ChatMessage,
  type ForwardedMessage,
  type IncomingMessage,
  type ShownPiece,
} from '../core/message.ts';
import { mention } from '../core/own-words.ts';
import { reminderSign } from '../core/reply.ts';
import { snowflakeTime } from '../core/snowflake.ts';
import { clipAtWord, isBlank, toSingleLine, unseenStart } from '../core/text.ts';
import { localMoment } from '../core/time.ts';
import { isPublic } from './place.ts';
import { splitFooter } from './replies/split-reply.ts';

const spokenTypes: ReadonlySet<MessageType> = new Set([MessageType.Default, MessageType.Reply]);

/** Not a join, a pin, an answer to a slash command, or anything that one person alone sees. */
export function isSpoken(message: Message): boolean {
  return spokenTypes.has(message.type) && !message.flags.has(MessageFlags.Ephemeral);
}

/** Who speaks in a copy that a proxy posted [G2a]; `undefined` where it is none. */
type SpeakerOf = (message: Message) => string | undefined;

export function chatMessageOf(message: Message, botId: string, speakerOf?: SpeakerOf): ChatMessage {
  const { author, channelId } = message;
  const speaker = speakerOf?.(message);
  const isOwn = author.id === botId;
  const isReply = message.type === MessageType.Reply && message.reference?.channelId === channelId;
  const replied = message.reference?.messageId;
  const forwards = isOwn ? [] : forwardsOf(message);
  const shown = [...forwards.map(forwardPiece), ...shownIn(message, isOwn)];
  return {
    id: message.id,
    channelId,
    author: {
      id: speaker ?? author.id,
      name: userName(author, message.member),
      kind: speaker === undefined ? authorKindOf(message, botId) : 'human',
      isProxied: message.applicationId === null ? undefined : true,
    },
    text: textOf(message),
    at: message.createdAt.toISOString(),
    editedAt: message.editedAt?.toISOString(),
    attachments: filesOf(message).map(({ name }) => name),
    shown: shown.length === 0 ? undefined : shown,
    hasThirdPartyText: hasThirdPartyText(message, shown, botId) ? true : undefined,
    answers: isReply && isOwn ? replied : undefined,
    saidFor: isOwn ? personOf(message.content) : undefined,
    repliesTo: isReply && !isOwn && replied !== undefined ? { id: replied, channelId } : undefined,
  };
}

export function textOf({ client, author, channelId, guildId, content, mentions }: Message): string {
  const authorId = author.id;
  return textIn(client, { content, authorId, channelId, guildId, mentioned: [...mentions.users.values()] });
}

/** Without the footer, where the message is the bot's own [K6]. */
export function textIn(client: Client, { content: whole, authorId, ...where }: Written): string {
  const isOwn = authorId === client.user?.id && !isSentForSomebody(whole);
  const content = isOwn ? splitFooter(whole).text : whole;
  if (!content.includes('<')) return content.toWellFormed().trim();
  return readableText(content, namesIn(client, where), ownIdsIn(client, where.guildId));
}

/** The bot's own message, as the answer to its request tells it. */
export function sentMessageOf(client: Client, message: APIMessage): ChatMessage {
  const { id, channel_id: channelId, author } = message;
  const channel = client.channels.cache.get(channelId);
  const guildId = channel === undefined || channel.isDMBased() ? null : channel.guildId;
  return {
    id,
    channelId,
    author: { id: author.id, name: userName(author), kind: 'self' },
    text: textIn(client, {
      content: message.content,
      authorId: author.id,
      channelId,
      guildId,
      mentioned: message.mentions,
    }),
    at: snowflakeTime(id).toISOString(),
    attachments: message.attachments.map(({ filename }) => filename.toWellFormed()),
    answers: message.message_reference?.message_id,
  };
}

export function authorKindOf({ author, webhookId }: Message, botId: string): ChatMessage['author']['kind'] {
  if (author.id === botId) return 'self';
  return author.bot || webhookId !== null ? 'bot' : 'human';
}

interface Written extends WrittenIn {
  readonly content: string;
  readonly authorId: string | undefined;
}

interface WrittenIn {
  readonly channelId: string;
  readonly guildId: string | null;
  readonly mentioned: readonly (User | APIUser)[];
}

/** `undefined` where a name is unknown or must not be told. */
export interface Names {
  user(id: string): string | undefined;
  channel(id: string): string | undefined;
  role(id: string): string | undefined;
}

/** Well-formed [S5]. A mention of `ownIds` at the start is left out unless it is all there is. */
export function readableText(content: string, names: Names, ownIds: readonly string[]): string {
  const text = content.toWellFormed().replace(unseenStart, '');
  const address = /\s*<@[!&]?([0-9]+)>[\s,:]*/uy;
  let start = 0;
  while (ownIds.includes(address.exec(text)?.[1] ?? '')) start = address.lastIndex;
  const body = text.slice(start).trim();
  return withNames(body === '' ? text.trim() : body, names);
}

const kinds: Readonly<Record<string, 'channel' | 'role'>> = { '#': 'channel', '@&': 'role' };

function withNames(text: string, names: Names): string {
  return text
    .replaceAll(/<\/([^<>:\n]{1,100}):[0-9]{15,21}>/gu, '/$1')
    .replaceAll(/<a?:(\w{1,32}):[0-9]{15,21}>/gu, ':$1:')
    .replaceAll(
      /<(@!?|@&|#)([0-9]{15,21})>/gu,
      (match: string, sign: string, id: string, start: number, whole: string) => {
        const name = names[kinds[sign] ?? 'user'](id);
        return name === undefined ? match : mention(sign === '#' ? '#' : '@', name, whole[start - 1]);
      },
    );
}

/** A server's own emoji by its name, as Discord reads it, if everybody there can use it. From the cache. */
export function emojiIn(client: Client, channelId: string, name: string): string | undefined {
  const channel = client.channels.cache.get(channelId);
  if (channel === undefined || channel.isDMBased()) return undefined;
  return channel.guild.emojis.cache
    .find((emoji) => emoji.name === name && emoji.available !== false && emoji.roles.cache.size === 0)
    ?.toString();
}

/** From the caches. Names of other channels are told only if they are public. */
function namesIn(client: Client, { channelId, guildId, mentioned }: WrittenIn): Names {
  const guild = guildId === null ? undefined : client.guilds.cache.get(guildId);
  return {
    user(id) {
      const user = mentioned.find((one) => one.id === id) ?? client.users.cache.get(id);
      const member = guild?.members.cache.get(id);
      return user === undefined ? member?.displayName.toWellFormed() : userName(user, member);
    },
    channel(id) {
      const channel = guild?.channels.cache.get(id);
      if (channel === undefined || (id !== channelId && !isPublic(channel))) return undefined;
      // The library's types leave out that it may have no name yet.
      const name: string | undefined = channel.name;
      return name?.toWellFormed();
    },
    role: (id) => guild?.roles.cache.get(id)?.name.toWellFormed(),
  };
}

/** Its own id, and that of its own role [G2]. */
export function ownIdsIn(client: Client, guildId: string | null): readonly string[] {
  if (client.user === null) return [];
  const role = client.guilds.cache.get(guildId ?? '')?.roles.botRoleFor(client.user.id);
  return role ? [client.user.id, role.id] : [client.user.id];
}

/** The first that somebody can see. */
export function userName(user: User | APIUser, member?: Pick<GuildMember, 'displayName'> | null): string {
  const chosen = 'globalName' in user ? user.globalName : user.global_name;
  const names = [member?.displayName ?? '', chosen ?? ''];
  return (names.find((name) => !isBlank(name)) ?? user.username).toWellFormed();
}

/** Empty lists are absent. */
export function enclosuresOf(
  message: Message,
): Pick<IncomingMessage, 'files' | 'voice' | 'forwards' | 'mentions'> {
  const files = filesOf(message);
  const recording =
    message.content === '' && isVoiceMessage(message) ? message.attachments.first() : undefined;
  const forwards = forwardsOf(message);
  const ownIds = ownIdsIn(message.client, message.guildId);
  const mentions = [...message.content.matchAll(/<@[!&]?(\d+)>/gu)].flatMap(([mentioned, whose = '']) =>
    ownIds.includes(whose) ? [] : mentioned,
  );
  return {
    files: files.length === 0 ? undefined : files,
    voice: recording && { ...attachedFile(recording), seconds: recording.duration ?? 0 },
    forwards: forwards.length === 0 ? undefined : forwards,
    mentions: mentions.length === 0 ? undefined : mentions,
  };
}

/** A reply to this bot does not; what the bot sent for somebody does. */
function hasThirdPartyText(
  { type, author, content, mentions, attachments, messageSnapshots }: Message,
  shown: readonly ShownPiece[],
  botId: string,
): boolean {
  // Its words may be those of the person it was sent for [M5a].
  if (author.id === botId) return isSentForSomebody(content);
  const repliedId = mentions.repliedUser?.id;
  const isToOther = type === MessageType.Reply && repliedId !== author.id && repliedId !== botId;
  return isToOther || attachments.size > 0 || messageSnapshots.size > 0 || shown.some(isOthersText);
}

const sentForForm = /\n-# for <@(?<userId>\d+)>$/u;
const reminderForm = new RegExp(`^${reminderSign}<@(?<userId>\\d+)>`, 'u');

function isSentForSomebody(content: string): boolean {
  return sentForForm.test(content);
}

/** Whose words a message of the bot's own says, as it names them. */
function personOf(content: string): string | undefined {
  return (reminderForm.exec(content) ?? sentForForm.exec(content))?.groups?.['userId'];
}

export function sentFor(text: string, userId: string): string {
  return `${text}\n-# for <@${userId}>`;
}

export function filesOf(message: Pick<Message, 'attachments' | 'flags'>): readonly AttachedFile[] {
  return isVoiceMessage(message) ? [] : message.attachments.map(attachedFile);
}

export function attachedFile({ name, size, url, width, height, contentType }: Attachment): AttachedFile {
  const pixels = width === null || height === null ? undefined : Math.max(width, height);
  const charset = /;\s*charset="?([\w.:-]+)/iu.exec(contentType ?? '')?.[1];
  return { name: name.toWellFormed(), size, url, pixels, charset };
}

export function forwardsOf(message: Message): readonly ForwardedMessage[] {
  if (message.reference?.type !== MessageReferenceType.Forward) return [];
  const { client, channelId, guildId } = message;
  return message.messageSnapshots.map((snapshot) => {
    const mentioned = [...snapshot.mentions.users.values()];
    const names = namesIn(client, { channelId, guildId, mentioned });
    const text = readableText(snapshot.content, names, []);
    const at = (snapshot.createdAt ?? message.createdAt).toISOString();
    return { text, at, files: filesOf(snapshot), shown: shownIn(snapshot, false) };
  });
}

/** Together they fit a quoted message. */
const pieceMaxChars = 300;
const maxPieces = 5;
/** In later turns the words stand nowhere else. */
const forwardMaxChars = 1000;
/** Discord nests components three deep. */
const maxDepth = 4;

type Seen = Pick<Message, 'embeds' | 'components' | 'stickers' | 'flags' | 'attachments'> &
  Partial<Pick<Message, 'poll'>>;

type CardTexts = Pick<Embed | APIEmbed, 'author' | 'title' | 'description' | 'fields' | 'footer'>;

/** Of the bot's own messages only polls. */
function shownIn(message: Seen, isOwn: boolean): readonly ShownPiece[] {
  const own = [...voiceIn(message), ...pollIn(message)];
  const others = isOwn
    ? []
    : [...cardsIn(message), ...Array.from(message.stickers.values(), ({ name }) => piece('sticker', [name]))];
  return [...own, ...others].filter(({ text }) => text !== '').slice(0, maxPieces);
}

/** Discord adds the preview of a link after the message. */
export function cardsIn({
  embeds = [],
  components = [],
}: {
  readonly embeds?: readonly CardTexts[] | undefined;
  readonly components?: readonly object[] | undefined;
}): readonly ShownPiece[] {
  const texts = [...embeds.map(textsOf), ...componentTexts(components).map((text) => [text])];
  return texts.map((each) => piece('card', each)).filter(({ text }) => text !== '');
}

function isVoiceMessage({ flags }: Pick<Message, 'flags'>): boolean {
  return flags.has(MessageFlags.IsVoiceMessage);
}

/** A forwarded message, with the time it was first written [H3]. */
function forwardPiece({ text, at, files, shown = [] }: ForwardedMessage): ShownPiece {
  const names = files.length === 0 ? [] : [`attached: ${files.map(({ name }) => name).join(', ')}`];
  const others = shown.map((each) => `${each.kind}: ${each.text}`);
  const written = `written ${localMoment(new Date(at), 'UTC')} UTC`;
  return piece('forwarded message', [written, text, ...names, ...others], forwardMaxChars);
}

function piece(
  kind: ShownPiece['kind'],
  parts: readonly (string | null | undefined)[],
  max = pieceMaxChars,
): ShownPiece {
  const body = parts.map((part) => toSingleLine(part ?? '')).filter((part) => part !== '');
  return { kind, text: clipAtWord(body.join(' · '), max).toWellFormed() };
}

function voiceIn(message: Seen): readonly ShownPiece[] {
  if (!isVoiceMessage(message)) return [];
  return Array.from(message.attachments.values(), ({ name, duration }) => {
    const seconds = Math.round(duration ?? 0);
    return piece('voice message', [name, `${Math.floor(seconds / 60)} min ${seconds % 60} s`]);
  });
}

function pollIn({ poll }: Seen): readonly ShownPiece[] {
  if (poll === undefined || poll === null) return [];
  const answers = Array.from(poll.answers.values(), ({ text, voteCount }) =>
    poll.resultsFinalized ? `${text ?? ''} (${voteCount ?? 0})` : text,
  );
  return [piece('poll', [poll.question.text, ...answers])];
}

function textsOf({ author, title, description, fields, footer }: CardTexts) {
  const named = (fields ?? []).map(({ name, value }) => `${name}: ${value}`);
  return [author?.name, title, description, ...named, footer?.text];
}

/** At any depth. Labels of buttons and menus are not content. */
function componentTexts(components: readonly object[], depth = maxDepth): readonly string[] {
  if (depth === 0) return [];
  return components.flatMap((component) => {
    if ('content' in component && typeof component.content === 'string') return [component.content];
    return 'components' in component && Array.isArray(component.components)
      ? componentTexts(
          component.components.filter((inner) => typeof inner === 'object' && inner !== null),
          depth - 1,
        )
      : [];
  });
}
