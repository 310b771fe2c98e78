import { ChannelType, ComponentType } from 'discord.js';
import { z } from 'zod';

import {
  count,
  flag,
  id,
  list,
  maybe,
  maybeId,
  maybeTime,
  maybeWords,
  name,
  object,
  permissions,
  type Schema,
  time,
  unused,
  whole,
  words,
} from './schema.ts';

const userFields = {
  global_name: maybe(name.nullable()),
  discriminator: maybe(name),
  avatar: maybeWords,
  bot: flag,
  system: flag,
  public_flags: count,
  banner: unused,
  accent_color: unused,
  avatar_decoration: unused,
  avatar_decoration_data: unused,
  collectibles: unused,
  primary_guild: unused,
};
export const user = object({ ...userFields, id, username: name });

export const memberFields = {
  nick: maybe(name.nullable()),
  roles: maybe(z.array(id)),
  joined_at: maybeTime,
  flags: count,
  pending: flag,
  permissions: maybe(permissions),
  communication_disabled_until: maybeTime,
  avatar: maybeWords,
  banner: unused,
  premium_since: unused,
  avatar_decoration_data: unused,
  collectibles: unused,
};
export const member = object({ ...memberFields, user });
/** Where the user stands beside it, as in messages. */
const memberAlone = object({ ...memberFields, user: maybe(user) });

export const role = object({
  id,
  name,
  permissions,
  position: count,
  managed: flag,
  hoist: flag,
  mentionable: flag,
  flags: count,
  tags: maybe(object({ bot_id: maybe(id), integration_id: maybe(id) })),
  color: unused,
  colors: unused,
});

/** Without its overwrites nobody knows who reads in a channel, so a single bad one spoils all. */
const overwrites = z.array(z.looseObject({ id, type: whole, allow: permissions, deny: permissions }));
export const threadMemberFields = {
  join_timestamp: maybe(time),
  flags: count,
  member: unused,
  presence: unused,
};
export const threadMember = object({ ...threadMemberFields, id: maybe(id), user_id: maybe(id) });
const threadMetadata = object({
  archived: z.boolean(),
  locked: flag,
  invitable: flag,
  auto_archive_duration: count,
  archive_timestamp: maybe(time),
  create_timestamp: maybeTime,
});
const channelFields = {
  id,
  guild_id: maybe(id),
  parent_id: maybeId,
  owner_id: maybeId,
  last_message_id: maybeId,
  position: maybe(z.int()),
  topic: maybeWords,
  nsfw: flag,
  flags: count,
  permissions: maybe(permissions),
  rate_limit_per_user: count,
  recipients: maybe(list(user)),
  applied_tags: maybe(z.array(id)),
  available_tags: maybe(list(object({ id, name, moderated: flag }))),
  thread_metadata: maybe(threadMetadata),
  member: maybe(threadMember),
  message_count: count,
  member_count: count,
  total_message_sent: count,
  last_pin_timestamp: unused,
  default_reaction_emoji: unused,
  message: unused,
  messages: unused,
};

const threadTypes = [ChannelType.PublicThread, ChannelType.PrivateThread, ChannelType.AnnouncementThread];
const dmTypes = [ChannelType.DM, ChannelType.GroupDM];
const otherTypes = Object.values(ChannelType).filter(
  (type) => typeof type === 'number' && ![...threadTypes, ...dmTypes].includes(type),
);

/** Of kinds that the library knows: it forgets a channel that becomes one of another kind. */
export const guildChannelFields = {
  ...channelFields,
  type: z.literal(otherTypes),
  name,
  permission_overwrites: overwrites.optional(),
};
export const guildChannel = object(guildChannelFields);
export const threadFields = { ...channelFields, type: z.literal(threadTypes), name };
export const thread = object(threadFields);
export const dmChannel = object({ ...channelFields, type: z.literal(dmTypes), name: maybe(name.nullable()) });
/** As an interaction tells of the one it comes from. */
export const channel = z.union([guildChannel, thread, dmChannel]);

export const emoji = object({ id: maybeId, name: maybe(name.nullable()), animated: flag });
const attachment = object({
  id,
  // A name is only told; without one it is a file all the same.
  filename: name.catch('file'),
  size: whole,
  url: words,
  proxy_url: maybe(words),
  width: maybe(whole.nullable()),
  height: maybe(whole.nullable()),
  title: maybeWords,
  description: maybeWords,
  content_type: maybe(name.nullable()),
  duration_secs: maybe(z.number().nonnegative()),
  waveform: maybe(words),
  flags: count,
  ephemeral: flag,
});
const media = object({ url: words });
const embed = object({
  type: maybe(name),
  title: maybeWords,
  description: maybeWords,
  url: maybeWords,
  timestamp: maybeTime,
  color: count,
  fields: maybe(list(object({ name: words, value: words, inline: flag }))),
  author: maybe(object({ name: maybeWords, url: maybeWords })),
  footer: maybe(object({ text: maybeWords })),
  provider: maybe(object({ name: maybeWords, url: maybeWords })),
  image: maybe(media),
  thumbnail: maybe(media),
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
const component: Schema = z.lazy(() =>
  object({
    type: whole,
    id: maybe(z.int()),
    label: maybeWords,
    content: maybeWords,
    custom_id: maybeWords,
    description: maybeWords,
    // A section has components besides its accessory; the library asks for them.
    components: list(component).catch([]).optional(),
    accessory: maybe(component),
    media: maybe(media),
    items: maybe(list(object({ media, description: maybeWords }))),
    file: maybe(media),
  }).refine((one) => {
    const type: unknown = Reflect.get(Object(one), 'type');
    const part = typeof type === 'number' ? indispensable[type] : undefined;
    return part === undefined || Object.hasOwn(Object(one), part);
  }),
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
const reference = object({
  type: count,
  message_id: maybe(id),
  channel_id: maybe(id),
  guild_id: maybe(id),
});
const mentioned = object({ ...userFields, id, username: name, member: maybe(memberAlone) });

export const messageFields = {
  content: words.optional(),
  type: whole.optional(),
  timestamp: maybe(time),
  edited_timestamp: maybeTime,
  flags: count,
  mentions: maybe(list(mentioned)),
  mention_roles: maybe(list(id)),
  mention_everyone: flag,
  attachments: maybe(list(attachment)),
  embeds: maybe(list(embed)),
  components: maybe(list(component)),
  sticker_items: maybe(list(sticker)),
  poll: maybe(poll),
  pinned: flag,
  tts: flag,
  nonce: maybe(z.union([words, z.number()])),
  position: count,
  webhook_id: maybe(id),
  application_id: maybe(id),
  mention_channels: unused,
  stickers: unused,
  reactions: unused,
  activity: unused,
  application: unused,
  resolved: unused,
  role_subscription_data: unused,
  interaction: unused,
  interaction_metadata: unused,
  call: unused,
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
  referenced_message: maybe(bareMessage.nullable()),
  message_snapshots: maybe(snapshots),
};
const isForward = z.looseObject({ message_reference: z.object({ message_id: id, channel_id: id }) });
export const message = object({
  ...messageFields,
  ...contextFields,
  id,
  author: user,
  content: words,
  type: whole,
})
  // A forwarded message stands under the ids of the reference to it.
  .transform((all) =>
    isForward.safeParse(all).success ? all : object({ message_snapshots: unused }).parse(all),
  );
