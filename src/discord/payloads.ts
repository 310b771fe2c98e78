import {
  ChannelType,
  GatewayDispatchEvents as Event,
  InteractionType,
  MessageReferenceType,
} from 'discord.js';
import { z } from 'zod';

import { isSnowflake } from '../core/snowflake.ts';

// The library trusts every field, keeps it, and throws late [L5]. So it is given the fields listed here and no others,
// and nothing of a payload in which one of them is malformed, but for those on which no visibility rests: these are lost
// alone.

const id = z.string().refine(isSnowflake);
/** Discord's longest name has 100 characters; its longest text, a message's embeds together, 6,000. */
const name = z.string().min(1).max(200);
const text = z.string().max(10_000);
const time = z.string().max(50);
const flag = z.boolean();
const count = z.int().min(0);
const permissions = z.string().regex(/^[0-9]{1,30}$/u);

const user = z.object({
  id,
  username: name,
  global_name: name.nullish().catch(undefined),
  bot: flag.optional(),
});

const memberFields = {
  nick: name.nullish().catch(undefined),
  roles: z.array(id).optional(),
  communication_disabled_until: time.nullish(),
  permissions: permissions.optional(),
};
const member = z.object({ ...memberFields, user });
const memberAlone = z.object({ ...memberFields, user: user.optional() });

const role = z.object({
  id,
  name,
  permissions,
  tags: z.object({ bot_id: id.nullish() }).nullish(),
});

/** Stands for unreadable overwrites: nobody knows who reads in the channel then [V0]. */
export const unknownOverwrite = { id: '0', type: 1, allow: '0', deny: '0' };
const overwrite = z.object({ id, type: z.int(), allow: permissions, deny: permissions });
const overwrites = z.array(overwrite).catch([unknownOverwrite]);

const threadMember = z.object({ id: id.optional(), user_id: id.optional() });

/** The library forgets a channel whose kind it does not know. */
function channelOf(...types: readonly ChannelType[]) {
  return z.object({
    id,
    type: z.literal(types),
    guild_id: id.optional(),
    last_message_id: id.nullish(),
    owner_id: id.optional(),
    name: name.catch('unnamed'),
    parent_id: id.nullish(),
    nsfw: flag.optional(),
    permission_overwrites: overwrites,
    thread_metadata: z.object({ archived: flag, locked: flag.optional() }).optional(),
    member: threadMember.optional(),
    recipients: z.array(user).optional(),
  });
}
const guildChannel = channelOf(
  ChannelType.GuildText,
  ChannelType.GuildVoice,
  ChannelType.GuildCategory,
  ChannelType.GuildAnnouncement,
  ChannelType.GuildStageVoice,
  ChannelType.GuildDirectory,
  ChannelType.GuildForum,
  ChannelType.GuildMedia,
);
const thread = channelOf(ChannelType.PublicThread, ChannelType.PrivateThread, ChannelType.AnnouncementThread);
const dmChannel = channelOf(ChannelType.DM, ChannelType.GroupDM);
const channel = z.union([guildChannel, thread, dmChannel]);

const attachment = z.object({
  id,
  filename: name.catch('file'),
  size: count,
  url: text,
  content_type: name.optional().catch(undefined),
  width: count.optional().catch(undefined),
  height: count.optional().catch(undefined),
  duration_secs: z.number().optional().catch(undefined),
});
const embed = z.object({
  author: z.object({ name: text.optional() }).optional(),
  title: text.optional(),
  description: text.optional(),
  fields: z.array(z.object({ name: text, value: text })).optional(),
  footer: z.object({ text: text.optional() }).optional(),
});
const emoji = z.object({ id: id.optional(), name: name.optional() });
const emojiFlags = { animated: flag.optional(), available: flag.optional() };
const guildEmoji = z.object({ id, name, ...emojiFlags, roles: z.array(id).optional() });

const messageFields = {
  content: text.default(''),
  type: count,
  edited_timestamp: time.nullish(),
  flags: count.optional(),
  mentions: z.array(user.extend({ member: memberAlone.optional() })).optional(),
  mention_roles: z.array(id).optional(),
  attachments: usableOf(attachment).optional(),
  embeds: usableOf(embed).optional(),
  components: z.array(z.looseObject({ type: count })).optional(),
  sticker_items: usableOf(z.object({ id, name })).optional(),
  poll: z.looseObject({ question: z.object({ text: text.optional() }) }).optional(),
};
const reference = z.object({
  type: count.optional(),
  message_id: id.optional(),
  channel_id: id.optional(),
  guild_id: id.optional(),
});
const snapshot = z.object(messageFields).partial().extend({ content: text.optional() });
const wholeMessage = z.object({
  ...messageFields,
  id,
  channel_id: id,
  guild_id: id.optional(),
  channel_type: count.optional(),
  author: user,
  webhook_id: id.optional(),
  application_id: id.optional(),
  member: memberAlone.optional(),
  thread: thread.optional(),
  message_reference: reference.optional(),
  message_snapshots: z.array(z.object({ message: snapshot })).optional(),
});

/** A reference points into its own channel by default; a forwarded message always has one. */
function withReference(message: z.infer<typeof wholeMessage>) {
  const {
    id: messageId,
    channel_id: channelId,
    message_reference: own,
    message_snapshots: forwarded = [],
  } = message;
  if (own === undefined && forwarded.length === 0) return message;
  const forward = forwarded.length > 0 ? { type: MessageReferenceType.Forward, message_id: messageId } : {};
  return { ...message, message_reference: { channel_id: channelId, ...forward, ...own } };
}

const repliedMessage = wholeMessage.transform(withReference);
const message = wholeMessage
  .extend({ referenced_message: repliedMessage.optional() })
  .transform(withReference);

const interaction = z
  .object({
    id,
    application_id: id,
    token: text.min(1),
    type: z.literal([
      InteractionType.ApplicationCommand,
      InteractionType.ApplicationCommandAutocomplete,
      InteractionType.MessageComponent,
      InteractionType.ModalSubmit,
    ]),
    guild_id: id.optional(),
    channel_id: id.optional(),
    // It leaves out who reads there.
    channel: z.union([guildChannel.pick({ id: true, type: true }), thread, dmChannel]).optional(),
    user: user.optional(),
    member: member.optional(),
    context: count.optional(),
    message: message.optional(),
    // Chosen channels and roles would replace fuller ones in the caches.
    data: z.looseObject({
      resolved: z
        .object({ messages: z.record(id, message), attachments: z.record(id, attachment) })
        .partial()
        .optional(),
    }),
  })
  .refine((one) => one.user !== undefined || one.member !== undefined)
  .transform((one) => ({
    ...one,
    channel: one.channel ?? (one.channel_id === undefined ? undefined : { id: one.channel_id }),
    // The library needs these two.
    entitlements: [],
    authorizing_integration_owners: {},
  }));

const nullable: ReadonlySet<string> = new Set([
  'edited_timestamp',
  'nick',
  'global_name',
  'communication_disabled_until',
  'parent_id',
  'last_message_id',
]);

function removeNulls(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    const part: unknown = Reflect.get(value, key);
    if (part !== null) removeNulls(part);
    else if (!nullable.has(key) && !Array.isArray(value)) Reflect.deleteProperty(value, key);
  }
}

/** Other servers may send `null` where Discord leaves a field out. `value` is changed. */
function read<Told>(schema: z.ZodType<Told>, value: unknown): Told | undefined {
  removeNulls(value);
  return schema.safeParse(value).data;
}

/** Leaves out unusable parts: a server stays one with a channel of a new kind. */
function usableOf<Part>(part: z.ZodType<Part>) {
  return z.array(z.unknown()).transform((all) => all.flatMap((one) => read(part, one) ?? []));
}

const guildFields = { id, name, owner_id: id.optional() };
const guild = z
  .object({
    ...guildFields,
    // The library would keep the earlier value.
    unavailable: flag.default(false),
    roles: z.array(role),
    channels: usableOf(guildChannel),
    threads: usableOf(thread).default([]),
    members: usableOf(member).default([]),
    emojis: usableOf(guildEmoji).catch([]),
  })
  .refine(hasEveryone);
/** Unless all roles can be read, those that are known hold. */
const changedGuild = z
  .object({ ...guildFields, roles: z.array(role).optional().catch(undefined) })
  .transform((one) => (hasEveryone(one) ? one : { ...one, roles: undefined }));

/** Without @everyone nobody can tell what anybody may do. */
function hasEveryone({ id: guildId, roles = [] }: { id: string; roles?: { id: string }[] | undefined }) {
  return roles.some((each) => each.id === guildId);
}

const inGuild = { guild_id: id };
const ofChannel = { channel_id: id, guild_id: id.optional() };
const roleChanged = z.object({ ...inGuild, role });
const memberChanged = z.object({ ...memberFields, ...inGuild, user });
const taken = z.object({ id, guild_id: id.optional() });

const events: Readonly<Record<string, z.ZodType<object>>> = {
  [Event.Ready]: z.object({
    session_id: name,
    resume_gateway_url: z
      .url({ protocol: /^wss?$/u })
      .optional()
      .catch(undefined),
    user,
    guilds: z.array(z.object({ id, unavailable: flag.optional() })),
    application: z.object({ id, flags: count.default(0) }),
  }),
  [Event.Resumed]: z.unknown().transform(() => ({})),
  [Event.MessageCreate]: message,
  [Event.MessageUpdate]: wholeMessage.partial().extend({ id, channel_id: id, content: text.optional() }),
  [Event.MessageDelete]: z.object({ ...ofChannel, id }),
  [Event.MessageDeleteBulk]: z.object({ ...ofChannel, ids: z.array(id) }),
  [Event.MessageReactionAdd]: z.object({ ...ofChannel, message_id: id, user_id: id, emoji }),
  [Event.InteractionCreate]: interaction,
  [Event.GuildCreate]: z.union([z.object({ id, unavailable: z.literal(true) }), guild]),
  [Event.GuildUpdate]: changedGuild,
  [Event.GuildEmojisUpdate]: z.object({ ...inGuild, emojis: usableOf(guildEmoji) }),
  [Event.GuildDelete]: z.object({ id, unavailable: flag.optional() }),
  [Event.GuildRoleCreate]: roleChanged,
  [Event.GuildRoleUpdate]: roleChanged,
  [Event.GuildRoleDelete]: z.object({ ...inGuild, role_id: id }),
  [Event.GuildMemberAdd]: memberChanged,
  [Event.GuildMemberUpdate]: memberChanged,
  [Event.GuildMemberRemove]: z.object({ ...inGuild, user }),
  [Event.ChannelCreate]: guildChannel,
  [Event.ChannelUpdate]: guildChannel,
  [Event.ChannelDelete]: taken,
  [Event.ThreadCreate]: thread,
  [Event.ThreadUpdate]: thread,
  [Event.ThreadDelete]: taken,
  [Event.ThreadListSync]: z
    .object({
      ...inGuild,
      // Without these it would concern all threads of the server.
      channel_ids: z.array(id).optional(),
      threads: usableOf(thread).default([]),
      members: usableOf(threadMember).default([]),
    })
    .transform((sync) => ({
      ...sync,
      threads: sync.threads.map((one) => ({ ...one, guild_id: sync.guild_id })),
    })),
  [Event.ThreadMemberUpdate]: threadMember.extend({ id, user_id: id }),
  [Event.ThreadMembersUpdate]: z.object({
    id,
    ...inGuild,
    added_members: z.array(threadMember.extend({ user_id: id })).optional(),
    removed_member_ids: z.array(id).optional(),
  }),
  [Event.UserUpdate]: user,
};

/** The event if the bot has a use for it and it is not malformed; `data` is changed. */
export function usableEvent(type: string, data: unknown): object | 'malformed' | undefined {
  const schema = Object.hasOwn(events, type) ? events[type] : undefined;
  return schema && (read(schema, data) ?? 'malformed');
}

/** Of a message that cannot be read it is known that it is there: a page without it would say that it was deleted. */
const unreadable = z.object({ id, channel_id: id }).transform((one) => ({
  ...one,
  type: -1,
  content: '',
  author: { id: one.id, username: 'unknown', bot: true },
}));
const anyMessage = z
  .unknown()
  .transform((one) => read(message, one) ?? read(unreadable, one))
  .refine((one) => one !== undefined);
const page = z.array(anyMessage);

const answers: readonly (readonly [route: RegExp, schema: z.ZodType<object>])[] = [
  [/^GET \/channels\/\d+\/messages$/u, page],
  [/^POST \/channels\/\d+\/messages$/u, anyMessage],
  [/^(?:GET|PATCH) \/channels\/\d+\/messages\/\d+$/u, anyMessage],
  [/^(?:PATCH|POST) \/webhooks\/\d+\/[^/]+(?:\/messages\/[^/]+)?$/u, anyMessage],
  [/^(?:GET|PATCH) \/channels\/\d+$/u, channel],
  [/^POST \/channels\/\d+(?:\/messages\/\d+)?\/threads$/u, thread],
  [/^POST \/users\/@me\/channels$/u, dmChannel],
];

/** `path` is without the API's version. @throws {Error} where the answer cannot be used. */
export function usableAnswer(method: string, path: string, answer: unknown): unknown {
  const [, schema] = answers.find(([route]) => route.test(`${method} ${path}`)) ?? [];
  const usable = schema === undefined ? answer : read(schema, answer);
  const [, channelId, messageId] = /^\/channels\/(\d+)\/messages\/(\d+)$/u.exec(path) ?? [];
  // What Discord answered with 2xx is done.
  if (usable === undefined && method === 'PATCH') return { id: messageId, channel_id: channelId };
  if (usable === undefined) throw new Error('Discord gave an answer that cannot be used');
  return usable;
}
