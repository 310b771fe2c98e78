import { GatewayDispatchEvents as Event, InteractionType } from 'discord.js';
import { z } from 'zod';

import { createTimeSlice } from '../../core/time.ts';
import {
  channel,
  contextFields,
  dmChannel,
  emoji,
  guildChannel,
  guildChannelFields,
  member,
  memberFields,
  message,
  messageFields,
  role,
  thread,
  threadFields,
  threadMember,
  threadMemberFields,
  user,
} from './objects.ts';
import {
  byId,
  count,
  flag,
  id,
  list,
  maybe,
  name,
  object,
  permissions,
  type Schema,
  time,
  unused,
  usableOf,
  whole,
  words,
} from './schema.ts';

const option: Schema = z.lazy(() =>
  object({
    name,
    type: whole,
    value: maybe(z.union([words, z.number(), z.boolean()])),
    focused: flag,
    options: maybe(list(option)),
  }),
);
const resolved = object({
  messages: maybe(byId(message)),
  users: unused,
  members: unused,
  roles: unused,
  channels: unused,
  attachments: unused,
});
const commandData = object({
  id,
  name,
  type: whole,
  guild_id: maybe(id),
  options: maybe(list(option)),
  target_id: maybe(id),
  resolved: resolved.optional(),
});
const componentData = object({ custom_id: words, component_type: whole, resolved: unused });
const interactionFields = {
  id,
  application_id: id,
  token: words.min(1),
  version: count,
  guild_id: maybe(id),
  channel_id: maybe(id),
  channel: maybe(channel),
  user: maybe(user),
  member: maybe(member),
  locale: maybe(name),
  guild_locale: maybe(name),
  app_permissions: maybe(permissions),
  context: count,
  guild: unused,
};
/** Of the kinds that the bot offers; it shows no forms. */
const interaction = z
  .union([
    object({
      ...interactionFields,
      type: z.literal([InteractionType.ApplicationCommand, InteractionType.ApplicationCommandAutocomplete]),
      data: commandData,
    }),
    object({
      ...interactionFields,
      type: z.literal(InteractionType.MessageComponent),
      data: componentData,
      message,
    }),
  ])
  .pipe(
    z.looseObject({
      user: z.looseObject({}).optional(),
      member: z.looseObject({}).optional(),
      channel_id: id.optional(),
      channel: z.looseObject({}).optional(),
    }),
  )
  .refine(({ user: asker, member: askingMember }) => asker !== undefined || askingMember !== undefined)
  .transform(({ channel: from, channel_id: fromId, ...rest }) => ({
    ...rest,
    ...(fromId === undefined ? {} : { channel_id: fromId }),
    // A channel that is known already needs no more than its id.
    ...(from === undefined && fromId === undefined ? {} : { channel: from ?? { id: fromId } }),
    // The library counts on these two; the bot does not.
    entitlements: [],
    authorizing_integration_owners: {},
  }));

const roles = z.array(z.looseObject({ id: z.string() }));
/** A list whose parts were checked before. */
const checked = z.array(z.unknown());
const guildFields = {
  id,
  name,
  owner_id: maybe(id),
  features: maybe(list(name)),
  system_channel_flags: unused,
  emojis: unused,
  stickers: unused,
  presences: unused,
  voice_states: unused,
  stage_instances: unused,
  guild_scheduled_events: unused,
  soundboard_sounds: unused,
  incidents_data: unused,
};
/** Without the role of everybody nobody can tell what anybody may. */
const hasEveryone = ({
  id: guildId,
  roles: all,
}: {
  id: string;
  roles: readonly { id: string }[];
}): boolean => all.some((one) => one.id === guildId);
const guildCreated = z.union([
  object({ id, unavailable: z.literal(true) }),
  object({
    ...guildFields,
    unavailable: flag,
    roles: checked,
    channels: checked,
    threads: maybe(checked),
    members: maybe(checked),
    joined_at: maybe(time),
    member_count: count,
    large: flag,
  })
    .pipe(z.looseObject({ id: z.string(), roles }))
    .refine(hasEveryone),
]);
/** Roles that cannot all be read say nothing of what became of them; then those that are known hold. */
const guildUpdated = object({ ...guildFields, roles: maybe(z.array(role)), unavailable: unused }).transform(
  (all) => {
    const { success } = z.looseObject({ id: z.string(), roles }).refine(hasEveryone).safeParse(all);
    return success ? all : object({ roles: unused }).parse(all);
  },
);

const ready = object({
  session_id: name,
  resume_gateway_url: maybe(z.url({ protocol: /^wss?$/u })),
  user,
  guilds: list(object({ id, unavailable: flag })),
  application: z.object({ id, flags: whole.catch(0) }),
});

const ofChannel = { channel_id: id, guild_id: maybe(id) };
const inGuild = { guild_id: id };
const roleChanged = object({ ...inGuild, role });
const memberChanged = object({ ...memberFields, ...inGuild, user });
const threadChanged = object({ ...threadFields, ...inGuild });
const guildChannelChanged = object({ ...guildChannelFields, ...inGuild });
const taken = object({ id, guild_id: maybe(id) });

/** The events that the bot has a use for; no other is passed on. */
const events: Readonly<Partial<Record<string, Schema>>> = {
  [Event.Ready]: ready,
  [Event.Resumed]: z.unknown(),
  [Event.MessageCreate]: message,
  [Event.MessageUpdate]: object({ ...messageFields, ...contextFields, id, author: maybe(user) }),
  [Event.MessageDelete]: object({ ...ofChannel, id }),
  [Event.MessageDeleteBulk]: object({ ...ofChannel, ids: list(id) }),
  [Event.MessageReactionAdd]: object({
    ...ofChannel,
    message_id: id,
    user_id: id,
    emoji,
    member: maybe(member),
    burst_colors: unused,
  }),
  [Event.InteractionCreate]: interaction,
  [Event.GuildCreate]: guildCreated,
  [Event.GuildUpdate]: guildUpdated,
  [Event.GuildDelete]: object({ id, unavailable: z.boolean().optional() }),
  [Event.GuildRoleCreate]: roleChanged,
  [Event.GuildRoleUpdate]: roleChanged,
  [Event.GuildRoleDelete]: object({ ...inGuild, role_id: id }),
  [Event.GuildMemberAdd]: memberChanged,
  [Event.GuildMemberUpdate]: memberChanged,
  [Event.GuildMemberRemove]: object({ ...inGuild, user }),
  [Event.ChannelCreate]: guildChannelChanged,
  [Event.ChannelUpdate]: guildChannelChanged,
  [Event.ChannelDelete]: taken,
  [Event.ThreadCreate]: threadChanged,
  [Event.ThreadUpdate]: threadChanged,
  [Event.ThreadDelete]: taken,
  [Event.ThreadListSync]: object({
    ...inGuild,
    // Without these it would speak of all threads of the server.
    channel_ids: z.array(id).optional(),
    threads: checked,
    members: checked,
  }),
  [Event.ThreadMemberUpdate]: object({ ...threadMemberFields, id, guild_id: maybe(id), user_id: id }),
  [Event.ThreadMembersUpdate]: object({
    id,
    ...inGuild,
    member_count: count,
    added_members: maybe(list(object({ ...threadMemberFields, user_id: id }))),
    removed_member_ids: maybe(list(id)),
  }),
  [Event.UserUpdate]: user,
};

/** Lists of events that may have a thousand parts. */
const longLists: Readonly<Partial<Record<string, Readonly<Record<string, Schema>>>>> = {
  [Event.GuildCreate]: { roles: role, channels: guildChannel, threads: thread, members: member },
  [Event.ThreadListSync]: { threads: thread, members: threadMember },
};

/** The event with what is usable of its long lists, checked in slices [L4]: nothing of it changes meanwhile. */
async function withUsableLists(lists: Readonly<Record<string, Schema>>, data: unknown): Promise<object> {
  const slice = createTimeSlice();
  const event = { ...Object(data) };
  for (const [key, schema] of Object.entries(lists)) {
    const all: unknown = event[key];
    if (!Array.isArray(all)) continue;
    const usable: unknown[] = [];
    for (const one of all) {
      usable.push(...usableOf([one], schema));
      await slice();
    }
    event[key] = usable;
  }
  return event;
}

/** A dispatched event that can be used, in whole or in part; one that the bot has no use for; or one that nobody can use. Never rejects. */
export async function usableEvent(type: unknown, data: unknown) {
  const schema = typeof type === 'string' && Object.hasOwn(events, type) ? events[type] : undefined;
  if (typeof type !== 'string' || schema === undefined) return { kind: 'no-use' } as const;
  const lists = longLists[type];
  const { success, data: usable } = schema.safeParse(
    lists === undefined ? data : await withUsableLists(lists, data),
  );
  return success ? ({ kind: 'usable', data: usable } as const) : ({ kind: 'malformed' } as const);
}

/** Of a message that nobody can read it is said that it stands there: a page without it would say that it was deleted. */
const unreadable = z.object({ id, channel_id: id }).transform((ids) => ({
  ...ids,
  // No kind of message that Discord has: nobody has said it.
  type: -1,
  content: '',
  author: { id: ids.id, username: 'unknown', bot: true },
  mentions: [],
  attachments: [],
}));
const page = z.array(z.union([message, unreadable]));

const application = object({
  id,
  owner: maybe(object({ id })),
  team: maybe(object({ owner_user_id: id }).nullable()),
});

const answers: readonly (readonly [method: string, path: RegExp, schema: Schema])[] = [
  ['GET', /^\/channels\/\d+\/messages$/u, page],
  ['POST', /^\/channels\/\d+\/messages$/u, message],
  ['GET|PATCH', /^\/channels\/\d+\/messages\/\d+$/u, message],
  ['PATCH|POST', /^\/webhooks\/\d+\/[^/]+(?:\/messages\/[^/]+)?$/u, message],
  ['GET|PATCH', /^\/channels\/\d+$/u, channel],
  ['POST', /^\/channels\/\d+(?:\/messages\/\d+)?\/threads$/u, thread],
  ['POST', /^\/users\/@me\/channels$/u, dmChannel],
  ['GET', /^\/(?:oauth2\/)?applications\/@me$/u, application],
];

/**
 * What Discord answered to a request, as far as it can be used; `path` without the API's version.
 * @throws {Error} where nothing of it can.
 */
export function usableAnswer(method: string, path: string, answer: unknown): unknown {
  const found = answers.find(([methods, paths]) => methods.split('|').includes(method) && paths.test(path));
  if (found === undefined) return answer;
  const [, , schema] = found;
  const { success, data } = schema.safeParse(answer);
  if (success) return data;
  throw new Error('Discord gave an answer that cannot be used');
}
