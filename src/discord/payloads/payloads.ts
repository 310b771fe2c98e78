import { GatewayDispatchEvents as Event, InteractionType } from 'discord.js';
import { createTimeSlice } from '../../core/time.ts';
import {
  attachment,
  changedGuildChannel,
  changedThread,
  channel,
  contextFields,
  dmChannel,
  emoji,
  guildChannel,
  interactionChannel,
  member,
  memberFields,
  message,
  messageFields,
  role,
  thread,
  threadMember,
  threadMemberFields,
  user,
} from './objects.ts';
import {
  all,
  anything,
  boolean,
  both,
  byId,
  count,
  each,
  either,
  flag,
  id,
  isObject,
  lazy,
  list,
  maybe,
  name,
  number,
  object,
  oneOf,
  optional,
  orNull,
  otherwise,
  permissions,
  refused,
  type Schema,
  time,
  unused,
  usableOf,
  where,
  whole,
  words,
} from './schema.ts';

const option: Schema = lazy(() =>
  object({
    name,
    type: whole,
    value: maybe(either(words, number, boolean)),
    focused: flag,
    options: maybe(list(option)),
  }),
);
const resolved = object({
  messages: maybe(byId(message)),
  attachments: maybe(byId(attachment)),
  ...each(unused, 'users', 'members', 'roles', 'channels'),
});
const commandData = object({
  id,
  name,
  type: whole,
  guild_id: maybe(id),
  options: maybe(list(option)),
  target_id: maybe(id),
  resolved: optional(resolved),
});
const componentData = object({ custom_id: words, component_type: whole, resolved: unused });
const interactionFields = {
  id,
  application_id: id,
  token: where((value) => words(value) !== refused && value !== ''),
  version: count,
  guild_id: maybe(id),
  channel_id: maybe(id),
  channel: maybe(interactionChannel),
  user: maybe(user),
  member: maybe(member),
  ...each(maybe(name), 'locale', 'guild_locale'),
  app_permissions: maybe(permissions),
  context: count,
  guild: unused,
};
const field = object({ type: whole, id: unused, custom_id: name, value: words });
/** Text fields, each in a label or in a row; the library counts on one of the two being there. */
const formPart = either(
  object({ type: whole, id: unused, component: field, components: unused }),
  object({ type: whole, id: unused, component: unused, components: all(field) }),
);
const formData = object({ custom_id: words, components: list(formPart), resolved: unused });
/** Of the kinds that the bot offers. */
const interaction = both(
  either(
    object({
      ...interactionFields,
      type: oneOf(InteractionType.ApplicationCommand, InteractionType.ApplicationCommandAutocomplete),
      data: commandData,
    }),
    object({
      ...interactionFields,
      type: oneOf(InteractionType.MessageComponent),
      data: componentData,
      message,
    }),
    object({
      ...interactionFields,
      type: oneOf(InteractionType.ModalSubmit),
      data: formData,
      message: maybe(message),
    }),
  ),
  (value) => {
    const asked = Object(value);
    if (asked.user === undefined && asked.member === undefined) return refused;
    return {
      ...asked,
      // A channel that is known already needs no more than its id.
      ...(asked.channel_id !== undefined && { channel: asked.channel ?? { id: asked.channel_id } }),
      // The library counts on these two; the bot does not.
      entitlements: [],
      authorizing_integration_owners: {},
    };
  },
);

/** A list whose parts were checked before. */
const checked = all(anything);
const guildFields = {
  id,
  name,
  owner_id: maybe(id),
  features: maybe(list(name)),
  ...each(unused, 'system_channel_flags', 'emojis', 'stickers', 'presences', 'voice_states'),
  ...each(unused, 'stage_instances', 'guild_scheduled_events', 'soundboard_sounds', 'incidents_data'),
};
/** Without the role of everybody nobody can tell what anybody may. */
function hasEveryone(guild: unknown): boolean {
  const { id: guildId, roles } = Object(guild);
  return Array.isArray(roles) && roles.some((one) => isObject(one) && one['id'] === guildId);
}

const guildCreated = either(
  object({ id, unavailable: oneOf(true) }),
  both(
    object({
      ...guildFields,
      // Absent, it is there; the library would take it for what it was before.
      unavailable: otherwise(boolean, false),
      roles: checked,
      channels: checked,
      threads: maybe(checked),
      members: maybe(checked),
      joined_at: maybe(time),
      member_count: count,
      large: flag,
    }),
    where(hasEveryone),
  ),
);
const withoutRoles = object({ roles: unused });
/** Roles that cannot all be read say nothing of what became of them; then those that are known hold. */
const guildUpdated = both(
  object({ ...guildFields, roles: maybe(all(role)), unavailable: unused }),
  (guild) => (hasEveryone(guild) ? guild : withoutRoles(guild)),
);

function isGatewayUrl(value: unknown): boolean {
  return typeof value === 'string' && /^wss?:/u.test(value) && URL.canParse(value);
}

const ready = object({
  session_id: name,
  resume_gateway_url: maybe(where(isGatewayUrl)),
  user,
  guilds: list(object({ id, unavailable: flag })),
  application: object({ id, flags: otherwise(whole, 0) }),
});

const ofChannel = { channel_id: id, guild_id: maybe(id) };
const inGuild = { guild_id: id };
const roleChanged = object({ ...inGuild, role });
const memberChanged = object({ ...memberFields, ...inGuild, user });
const taken = object({ id, guild_id: maybe(id) });

/** The events that the bot has a use for; no other is passed on. */
const events: Readonly<Partial<Record<string, Schema>>> = {
  [Event.Ready]: ready,
  [Event.Resumed]: anything,
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
  [Event.GuildDelete]: object({ id, unavailable: flag }),
  [Event.GuildRoleCreate]: roleChanged,
  [Event.GuildRoleUpdate]: roleChanged,
  [Event.GuildRoleDelete]: object({ ...inGuild, role_id: id }),
  [Event.GuildMemberAdd]: memberChanged,
  [Event.GuildMemberUpdate]: memberChanged,
  [Event.GuildMemberRemove]: object({ ...inGuild, user }),
  [Event.ChannelCreate]: guildChannel,
  [Event.ChannelUpdate]: changedGuildChannel,
  [Event.ChannelDelete]: taken,
  [Event.ThreadCreate]: thread,
  [Event.ThreadUpdate]: changedThread,
  [Event.ThreadDelete]: taken,
  [Event.ThreadListSync]: object({
    ...inGuild,
    // Without these it would speak of all threads of the server.
    channel_ids: optional(all(id)),
    threads: otherwise(checked, []),
    members: otherwise(checked, []),
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
    const parts: unknown = event[key];
    if (!Array.isArray(parts)) continue;
    const usable: unknown[] = [];
    for (const one of parts) {
      usable.push(...usableOf([one], schema));
      await slice();
    }
    event[key] = usable;
  }
  return event;
}

/** A dispatched event that can be used, in whole or in part; one that the bot has no use for; or one that nobody can use. Never rejects. */
export function usableEvent(type: unknown, data: unknown): UsableEvent | Promise<UsableEvent> {
  const schema = typeof type === 'string' && Object.hasOwn(events, type) ? events[type] : undefined;
  if (typeof type !== 'string' || schema === undefined) return { kind: 'no-use' };
  const checkedEvent = (event: unknown): UsableEvent => {
    const usable = schema(event);
    return usable === refused ? { kind: 'malformed' } : { kind: 'usable', data: usable };
  };
  const lists = longLists[type];
  return lists === undefined ? checkedEvent(data) : withUsableLists(lists, data).then(checkedEvent);
}

export type UsableEvent =
  | { readonly kind: 'usable'; readonly data: unknown }
  | { readonly kind: 'no-use' | 'malformed' };

/** Of a message that nobody can read it is said that it stands there: a page without it would say that it was deleted. */
const unreadable = both(object({ id, channel_id: id }), (value) =>
  placeholder(Object(value).id, Object(value).channel_id, -1),
);

/** A message of no kind that Discord has: nobody has said it. */
function placeholder(messageId: unknown, channelId: unknown, type: number): object {
  return {
    id: messageId,
    channel_id: channelId,
    type,
    content: '',
    author: { id: messageId, username: 'unknown', bot: true },
    mentions: [],
    attachments: [],
  };
}
const unidentified = -2;

/** Whether nobody can tell which message this is, of a page that had it without an id. */
export function isUnidentified({ type }: { readonly type: number }): boolean {
  return type === unidentified;
}

/** Where one of them has no id, it stands at its place under an id next to its neighbour's: nobody knows which message that was. */
function page(value: unknown): unknown {
  if (!Array.isArray(value)) return refused;
  const read = value.map(either(message, unreadable));
  const known = read.map((one) => (one === refused ? undefined : BigInt(Object(one).id)));
  if (read.length > 0 && known.every((one) => one === undefined)) return refused;
  const channelId: unknown = Object(read.find((one) => one !== refused)).channel_id;
  return read.map((one, index) => {
    if (one !== refused) return one;
    const before = known.findLastIndex((other, at) => other !== undefined && at < index);
    const behind = known.findIndex((other, at) => other !== undefined && at > index);
    // The newest comes first.
    const ownId =
      before === -1
        ? (known[behind] ?? 0n) + BigInt(behind - index)
        : (known[before] ?? 0n) - BigInt(index - before);
    return placeholder(ownId.toString(), channelId, unidentified);
  });
}

const application = object({
  id,
  owner: maybe(object({ id })),
  team: maybe(orNull(object({ owner_user_id: id }))),
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
 * What Discord answered to a request, as far as it can be used; `path` without the API's version. `onMalformed` is told of each message of a page that cannot be
 * read: the others can.
 * @throws {Error} where nothing of it can.
 */
export function usableAnswer(
  method: string,
  path: string,
  answer: unknown,
  onMalformed: () => void = () => {},
): unknown {
  const found = answers.find(([methods, paths]) => methods.split('|').includes(method) && paths.test(path));
  if (found === undefined) return answer;
  const [, , schema] = found;
  const usable = schema(answer);
  if (schema === page && Array.isArray(usable))
    for (const { type } of usable) if (Number(type) < 0) onMalformed();
  if (usable !== refused) return usable;
  throw new Error('Discord gave an answer that cannot be used');
}
