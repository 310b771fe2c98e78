import { ChannelType, ComponentType } from 'discord.js';
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

/** Without its overwrites nobody knows who reads in a channel, so a single bad one spoils all. */
const overwrites = all(object({ id, type: whole, allow: permissions, deny: permissions }));
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
  ...each(maybeId, 'parent_id', 'owner_id', 'last_message_id'),
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
export const guildChannelFields = {
  ...channelFields,
  type: oneOf(...otherTypes),
  name,
  permission_overwrites: optional(overwrites),
};
export const guildChannel = object(guildChannelFields);
export const threadFields = { ...channelFields, type: oneOf(...threadTypes), name };
export const thread = object(threadFields);
export const dmChannel = object({ ...channelFields, type: oneOf(...dmTypes), name: maybeName });
/** As an interaction tells of the one it comes from. */
export const channel = either(guildChannel, thread, dmChannel);

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
  content: optional(words),
  type: optional(whole),
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
const bareMessage = object({ ...messageFields, id, channel_id: id, author: user });
/** What a forwarded message was: without its author, and under the id of the reference. */
const snapshots = list(
  object({ message: object({ ...messageFields, id: unused, author: unused, member: unused }) }),
);
export const contextFields = {
  channel_id: id,
  guild_id: maybe(id),
  channel_type: count,
  member: maybe(memberAlone),
  thread: maybe(thread),
  message_reference: maybe(reference),
  referenced_message: maybe(orNull(bareMessage)),
  message_snapshots: maybe(snapshots),
};
const withoutSnapshots = object({ message_snapshots: unused });

/** A forwarded message stands under the ids of the reference to it. */
function hasReference({ message_reference: from }: Readonly<Record<string, unknown>>): boolean {
  return isObject(from) && from['message_id'] !== undefined && from['channel_id'] !== undefined;
}

export const message = both(
  object({ ...messageFields, ...contextFields, id, author: user, content: words, type: whole }),
  (value) =>
    isObject(value) && 'message_snapshots' in value && !hasReference(value) ? withoutSnapshots(value) : value,
);
