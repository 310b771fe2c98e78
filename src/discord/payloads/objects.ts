import { ChannelType, ComponentType, MessageReferenceType } from 'discord.js';
import {
  all,
  boolean,
  both,
  count,
  each,
  either,
  flag,
  id,
  integer,
  isObject,
  lazy,
  list,
  maybe,
  maybeId,
  maybeName,
  maybeTime,
  maybeWords,
  name,
  number,
  object,
  oneOf,
  optional,
  orNull,
  otherwise,
  permissions,
  type Schema,
  time,
  unused,
  unusedOrNull,
  where,
  whole,
  words,
} from './schema.ts';

const userFields = {
  global_name: maybeName,
  discriminator: maybe(name),
  avatar: maybeWords,
  ...each(flag, 'bot', 'system'),
  public_flags: count,
  ...each(unusedOrNull, 'banner', 'accent_color', 'avatar_decoration', 'avatar_decoration_data'),
  ...each(unusedOrNull, 'collectibles', 'primary_guild'),
};
export const user = object({ ...userFields, id, username: name });

export const memberFields = {
  nick: maybeName,
  roles: maybe(all(id)),
  ...each(maybeTime, 'joined_at', 'communication_disabled_until'),
  flags: count,
  pending: flag,
  permissions: maybe(permissions),
  avatar: maybeWords,
  ...each(unusedOrNull, 'banner', 'premium_since', 'avatar_decoration_data', 'collectibles'),
};
export const member = object({ ...memberFields, user });
/** Where the user stands beside it, as in messages. */
const memberAlone = object({ ...memberFields, user: maybe(user) });

export const role = object({
  id,
  name,
  permissions,
  ...each(count, 'position', 'flags'),
  ...each(flag, 'managed', 'hoist', 'mentionable'),
  tags: maybe(object({ bot_id: maybe(id), integration_id: maybe(id) })),
  ...each(unused, 'color', 'colors'),
});

/** Stands for overwrites that were not told, or not all of them: then nobody knows who reads in a channel [V0]. It is nobody's. */
export const unknownOverwrite = { id: '0', type: 1, allow: '0', deny: '0' } as const;
const overwrites = otherwise(all(object({ id, type: whole, allow: permissions, deny: permissions })), [
  unknownOverwrite,
]);
export const threadMemberFields = {
  join_timestamp: maybe(time),
  flags: count,
  ...each(unused, 'member', 'presence'),
};
export const threadMember = object({ ...threadMemberFields, id: maybe(id), user_id: maybe(id) });
const threadMetadata = object({
  archived: boolean,
  ...each(flag, 'locked', 'invitable'),
  auto_archive_duration: count,
  archive_timestamp: maybe(time),
  create_timestamp: maybeTime,
});
const channelFields = {
  id,
  guild_id: maybe(id),
  ...each(maybeId, 'parent_id', 'last_message_id'),
  owner_id: maybe(id),
  position: maybe(integer),
  topic: maybeWords,
  nsfw: flag,
  permissions: maybe(permissions),
  ...each(count, 'flags', 'rate_limit_per_user', 'message_count', 'member_count', 'total_message_sent'),
  recipients: maybe(list(user)),
  applied_tags: maybe(all(id)),
  available_tags: maybe(list(object({ id, name, moderated: flag }))),
  thread_metadata: maybe(threadMetadata),
  member: maybe(threadMember),
  ...each(unused, 'last_pin_timestamp', 'default_reaction_emoji', 'message', 'messages'),
};

const threadTypes = [ChannelType.PublicThread, ChannelType.PrivateThread, ChannelType.AnnouncementThread];
const dmTypes = [ChannelType.DM, ChannelType.GroupDM];
const otherTypes = Object.values(ChannelType).filter(
  (type) => typeof type === 'number' && ![...threadTypes, ...dmTypes].includes(type),
);

/** Of kinds that the library knows: it forgets a channel that becomes one of another kind. */
const guildChannelFields = {
  ...channelFields,
  type: oneOf(...otherTypes),
  permission_overwrites: overwrites,
  recipients: unused,
};
/** Every thread has a parent. */
const threadFields = {
  ...channelFields,
  type: oneOf(...threadTypes),
  parent_id: maybe(id),
  recipients: unused,
};
/** Stands for the name of a channel that has none. */
const named = { name: otherwise(name, 'unnamed') };
export const guildChannel = object({ ...guildChannelFields, ...named });
export const thread = object({ ...threadFields, ...named });
/** What has changed of one that has a name already. */
export const changedGuildChannel = object({ ...guildChannelFields, name: maybe(name) });
export const changedThread = object({ ...threadFields, name: maybe(name) });
export const dmChannel = object({ ...channelFields, type: oneOf(...dmTypes), name: maybeName });
export const channel = either(guildChannel, thread, dmChannel);
/** As an interaction tells of the one it comes from: of a channel of a server it leaves out who reads there. */
export const interactionChannel = either(
  both(object(guildChannelFields), (value) => ({ id: Object(value).id })),
  thread,
  dmChannel,
);

export const emoji = object({ id: maybeId, name: maybeName, animated: flag });
export const attachment = object({
  id,
  // A name is only told; without one it is a file all the same.
  filename: otherwise(name, 'file'),
  size: whole,
  url: words,
  proxy_url: maybe(words),
  ...each(maybe(orNull(whole)), 'width', 'height'),
  ...each(maybeWords, 'title', 'description'),
  content_type: maybeName,
  duration_secs: maybe(where((value) => Number.isFinite(value) && Number(value) >= 0)),
  waveform: maybe(words),
  flags: count,
  ephemeral: flag,
});
const media = object({ url: words });
const embed = object({
  type: maybe(name),
  ...each(maybeWords, 'title', 'description', 'url'),
  timestamp: maybeTime,
  color: count,
  fields: maybe(list(object({ name: words, value: words, inline: flag }))),
  ...each(maybe(object({ name: maybeWords, url: maybeWords })), 'author', 'provider'),
  footer: maybe(object({ text: maybeWords })),
  ...each(maybe(media), 'image', 'thumbnail'),
  video: maybe(object({ url: maybeWords })),
});
/** By kind, the part that a component cannot be without. */
const indispensable: Readonly<Record<number, string>> = {
  [ComponentType.ActionRow]: 'components',
  [ComponentType.Section]: 'accessory',
  [ComponentType.Thumbnail]: 'media',
  [ComponentType.MediaGallery]: 'items',
  [ComponentType.File]: 'file',
  [ComponentType.Container]: 'components',
};
const component: Schema = lazy(() =>
  both(
    object({
      type: whole,
      id: maybe(integer),
      ...each(maybeWords, 'label', 'content', 'custom_id', 'description'),
      // A section has components besides its accessory; the library asks for them.
      components: optional(otherwise(list(component), [])),
      accessory: maybe(component),
      ...each(maybe(media), 'media', 'file'),
      items: maybe(list(object({ media, description: maybeWords }))),
    }),
    where((one) => {
      const { type } = Object(one);
      const part = indispensable[type];
      return part === undefined || Object.hasOwn(Object(one), part);
    }),
  ),
);
const poll = object({
  question: object({ text: maybeWords }),
  answers: list(object({ answer_id: whole, poll_media: object({ text: maybeWords, emoji: maybe(emoji) }) })),
  expiry: maybeTime,
  allow_multiselect: flag,
  layout_type: count,
  results: maybe(
    object({ is_finalized: flag, answer_counts: list(object({ id: whole, count: whole, me_voted: flag })) }),
  ),
});
const sticker = object({ id, name, format_type: whole });
const reference = object({ type: count, ...each(maybe(id), 'message_id', 'channel_id', 'guild_id') });
const mentioned = object({ ...userFields, id, username: name, member: maybe(memberAlone) });

export const messageFields = {
  content: maybe(words),
  type: count,
  timestamp: maybe(time),
  edited_timestamp: maybeTime,
  ...each(count, 'flags', 'position'),
  ...each(flag, 'mention_everyone', 'pinned', 'tts'),
  mentions: maybe(list(mentioned)),
  mention_roles: maybe(list(id)),
  attachments: maybe(list(attachment)),
  embeds: maybe(list(embed)),
  components: maybe(list(component)),
  sticker_items: maybe(list(sticker)),
  poll: maybe(poll),
  nonce: maybe(either(words, number)),
  ...each(maybe(id), 'webhook_id', 'application_id'),
  ...each(unused, 'mention_channels', 'stickers', 'reactions', 'activity', 'application', 'resolved'),
  ...each(unused, 'role_subscription_data', 'interaction', 'interaction_metadata', 'call'),
};
/** What a forwarded message was: without its author, and under the id of the reference. */
const snapshot = object({
  ...messageFields,
  ...each(unused, 'id', 'author', 'member', 'channel_id', 'guild_id', 'thread'),
  ...each(unused, 'message_reference', 'referenced_message', 'message_snapshots'),
});
const contextOfAny = {
  channel_id: id,
  guild_id: maybe(id),
  channel_type: count,
  member: maybe(memberAlone),
  thread: maybe(thread),
  message_reference: maybe(reference),
  message_snapshots: maybe(list(object({ message: snapshot }))),
};
const wholeMessage = { ...messageFields, id, author: user, content: otherwise(words, ''), type: whole };

/** A reference that does not say so points to a message of its own channel; what was forwarded stands under the ids of one, whether they are told or not. */
function withReference(value: unknown): unknown {
  if (!isObject(value)) return value;
  const {
    id: messageId,
    channel_id: channelId,
    message_reference: told,
    message_snapshots: forwarded,
  } = value;
  const hasForwarded = Array.isArray(forwarded) && forwarded.length > 0;
  if (told === undefined && !hasForwarded) return value;
  const own = {
    channel_id: channelId,
    ...(hasForwarded && { type: MessageReferenceType.Forward, message_id: messageId }),
  };
  return { ...value, message_reference: { ...own, ...Object(told) } };
}

const bareMessage = both(
  object({ ...wholeMessage, ...contextOfAny, referenced_message: unused }),
  withReference,
);
export const contextFields = { ...contextOfAny, referenced_message: maybe(orNull(bareMessage)) };
export const message = both(object({ ...wholeMessage, ...contextFields }), withReference);
