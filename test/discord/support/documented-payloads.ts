import type { RawFrame } from '../../../src/sandbox/gateway/gateway.ts';

/** Whom and what the payloads speak of. */
export interface PayloadIds {
  readonly guildId: string;
  readonly botId: string;
  readonly personId: string;
  /** Text channels of the guild. */
  readonly channelIds: readonly string[];
  readonly threadId: string;
  readonly dmId: string;
  /** An id that nothing has yet. */
  readonly fresh: () => string;
}

type Dispatch = Extract<RawFrame, { readonly t: string }>;

function event(t: string, d: unknown): Dispatch {
  return { t, d };
}

const time = '2026-01-15T10:00:00.000000+00:00';

/**
 * Every event that the bot has a use for, and some others, with the documented fields that are read, and one that is not. What takes something away
 * (a server, a channel, a role) concerns something that nobody uses; leaving it out would not be a fault.
 */
export function documentedEvents(ids: PayloadIds, pick: <T>(all: readonly T[]) => T): readonly Dispatch[] {
  const { guildId, botId, personId, threadId, dmId, fresh } = ids;
  const channelId = pick(ids.channelIds);
  const user = { id: personId, username: 'bob', global_name: 'Bob', avatar: null, bot: false };
  const member = {
    roles: [],
    nick: 'Bobby',
    joined_at: time,
    permissions: '2147483647',
    communication_disabled_until: null,
  };
  const role = { id: fresh(), name: 'helpers', permissions: '104324673', tags: { bot_id: botId } };
  const everyone = { ...role, id: guildId, name: '@everyone', permissions: '559623605575360' };
  const channel = {
    id: channelId,
    type: 0,
    guild_id: guildId,
    name: 'a-channel',
    permission_overwrites: [{ id: personId, type: 1, allow: '1024', deny: '0' }],
    parent_id: null,
    nsfw: false,
  };
  const newChannel = { ...channel, id: fresh() };
  const forum = { ...newChannel, type: 15, available_tags: [] };
  const threadMember = { id: threadId, user_id: botId, join_timestamp: time };
  const thread = {
    id: threadId,
    type: 11,
    guild_id: guildId,
    parent_id: ids.channelIds[0],
    owner_id: personId,
    name: 'a-thread',
    last_message_id: fresh(),
    thread_metadata: { archived: false, archive_timestamp: time, locked: false },
    member: { join_timestamp: time },
  };
  const attachment = {
    id: fresh(),
    filename: 'cat.png',
    content_type: 'image/png',
    size: 1234,
    url: 'https://cdn.discordapp.com/attachments/1/2/cat.png',
    height: 10,
    width: 10,
    duration_secs: 1.5,
  };
  const emoji = { id: null, name: '👍' };
  const embed = {
    title: 'Title',
    description: 'Words',
    footer: { text: 'Footer' },
    author: { name: 'Author' },
    fields: [{ name: 'a', value: 'b' }],
  };
  const components = [
    { type: 1, id: 1, components: [{ type: 2, style: 1, label: 'Next', custom_id: 'next', emoji }] },
    { type: 17, components: [{ type: 10, content: 'Inside' }, { type: 14 }] },
  ];
  const poll = {
    question: { text: 'Tea?' },
    answers: [{ answer_id: 1, poll_media: { text: 'Yes', emoji } }],
    expiry: time,
    results: { is_finalized: false, answer_counts: [{ id: 1, count: 2, me_voted: false }] },
  };
  const bare = {
    id: fresh(),
    channel_id: channelId,
    author: user,
    content: 'Words of nobody',
    timestamp: time,
    edited_timestamp: null,
    mentions: [{ ...user, member }],
    mention_roles: [role.id],
    attachments: [attachment],
    embeds: [embed],
    components,
    type: 0,
    flags: 0,
    sticker_items: [{ id: fresh(), name: 'Wave', format_type: 1 }],
    poll,
  };
  const message = {
    ...bare,
    type: 19,
    channel_type: 0,
    guild_id: guildId,
    member,
    webhook_id: undefined,
    application_id: fresh(),
    message_reference: { type: 0, message_id: fresh(), channel_id: channelId, guild_id: guildId },
    referenced_message: { ...bare, id: fresh() },
    thread: { ...thread, id: fresh() },
    resolved: { users: { [personId]: user }, members: { [personId]: member }, channels: {}, roles: {} },
  };
  const forwarded = {
    ...bare,
    id: fresh(),
    guild_id: guildId,
    message_reference: { type: 1, message_id: fresh(), channel_id: channelId, guild_id: guildId },
    message_snapshots: [{ message: { ...bare, author: undefined } }],
  };
  const dm = { ...bare, id: fresh(), channel_id: dmId, channel_type: 1, components: [], poll: undefined };
  const reaction = {
    user_id: personId,
    channel_id: channelId,
    message_id: fresh(),
    guild_id: guildId,
    emoji,
  };
  const interaction = {
    id: fresh(),
    application_id: fresh(),
    token: 'a-token-of-nobody',
    guild_id: guildId,
    channel_id: channelId,
    channel: { ...channel, permissions: '2147483647' },
    member: { ...member, user },
    context: 0,
  };
  const resolved = {
    users: { [personId]: user },
    members: { [personId]: member },
    roles: { [role.id]: role },
    channels: { [channelId]: channel },
    messages: { [message.id]: message },
    attachments: { [attachment.id]: attachment },
  };
  const command = { id: fresh(), name: 'memory', type: 1, guild_id: guildId };
  const words = { name: 'text', type: 3, value: 'tea', focused: true };
  const remember = { name: 'remember', type: 1, options: [words, { name: 'who', type: 6, value: personId }] };
  const guild = { id: fresh(), name: 'Elsewhere', owner_id: personId, roles: [] };
  const created = {
    ...guild,
    roles: [{ ...everyone, id: guild.id }, role],
    joined_at: time,
    unavailable: false,
    members: [{ ...member, user }],
    channels: [{ ...newChannel, id: fresh() }, forum],
    threads: [{ ...thread, id: fresh() }],
  };
  const ready = {
    v: 10,
    user: { ...user, id: botId, username: 'Discoclaw', bot: true },
    guilds: [{ id: guildId, unavailable: true }],
    session_id: 'a-session-of-nobody',
    resume_gateway_url: 'ws://127.0.0.1:9',
    shard: [0, 1],
    application: { id: fresh(), flags: 0 },
  };
  return [
    event('MESSAGE_CREATE', message),
    event('MESSAGE_CREATE', { ...bare, guild_id: guildId, member }),
    event('MESSAGE_CREATE', { ...bare, id: fresh(), channel_id: threadId, guild_id: guildId }),
    event('MESSAGE_CREATE', forwarded),
    event('MESSAGE_CREATE', dm),
    event('MESSAGE_CREATE', { ...dm, channel_id: fresh() }),
    event('MESSAGE_UPDATE', { ...message, edited_timestamp: time }),
    event('MESSAGE_UPDATE', { id: fresh(), channel_id: channelId, guild_id: guildId, embeds: [embed] }),
    event('MESSAGE_DELETE', { id: fresh(), channel_id: channelId, guild_id: guildId }),
    event('MESSAGE_DELETE_BULK', { ids: [fresh(), fresh()], channel_id: channelId, guild_id: guildId }),
    event('MESSAGE_REACTION_ADD', reaction),
    event('INTERACTION_CREATE', {
      ...interaction,
      type: 2,
      data: { ...command, options: [remember], resolved },
    }),
    event('INTERACTION_CREATE', {
      ...interaction,
      type: 2,
      data: { ...command, type: 3, name: 'Remember this', target_id: message.id, resolved },
    }),
    event('INTERACTION_CREATE', { ...interaction, type: 4, data: { ...command, options: [remember] } }),
    event('INTERACTION_CREATE', {
      ...interaction,
      type: 3,
      message,
      data: { component_type: 2, custom_id: 'next', id: 1 },
    }),
    event('INTERACTION_CREATE', {
      ...interaction,
      type: 5,
      data: {
        custom_id: 'm',
        components: [{ type: 18, component: { type: 4, custom_id: 'a', value: 'b' } }],
      },
    }),
    event('INTERACTION_CREATE', {
      ...interaction,
      type: 2,
      guild_id: undefined,
      guild: undefined,
      member: undefined,
      user,
      context: 1,
      channel_id: dmId,
      channel: { id: dmId, type: 1, recipients: [user], last_message_id: null },
      data: { ...command, options: [remember] },
    }),
    event('GUILD_CREATE', created),
    event('GUILD_CREATE', { ...created, id: guildId, roles: [everyone] }),
    event('GUILD_UPDATE', { ...guild, id: guildId, roles: undefined }),
    event('GUILD_UPDATE', guild),
    event('GUILD_DELETE', { id: fresh(), unavailable: true }),
    event('GUILD_ROLE_CREATE', { guild_id: guildId, role: { ...role, id: fresh() } }),
    event('GUILD_ROLE_UPDATE', { guild_id: guildId, role: everyone }),
    event('GUILD_ROLE_DELETE', { guild_id: guildId, role_id: fresh() }),
    event('GUILD_MEMBER_ADD', { ...member, user, guild_id: guildId }),
    event('GUILD_MEMBER_UPDATE', { ...member, user, guild_id: guildId }),
    event('GUILD_MEMBER_REMOVE', { user: { ...user, id: fresh() }, guild_id: guildId }),
    event('CHANNEL_CREATE', newChannel),
    event('CHANNEL_CREATE', forum),
    event('CHANNEL_UPDATE', channel),
    event('CHANNEL_DELETE', { ...newChannel, id: fresh() }),
    event('THREAD_CREATE', { ...thread, id: fresh(), newly_created: true }),
    event('THREAD_UPDATE', thread),
    event('THREAD_DELETE', { id: fresh(), guild_id: guildId, parent_id: channelId, type: 11 }),
    event('THREAD_LIST_SYNC', {
      guild_id: guildId,
      channel_ids: [ids.channelIds[0]],
      threads: [thread],
      members: [threadMember],
    }),
    event('THREAD_MEMBER_UPDATE', { ...threadMember, guild_id: guildId }),
    event('THREAD_MEMBERS_UPDATE', {
      id: threadId,
      guild_id: guildId,
      member_count: 2,
      added_members: [threadMember],
      removed_member_ids: [fresh()],
    }),
    event('USER_UPDATE', { ...user, id: botId, bot: true }),
    event('USER_UPDATE', user),
    event('TYPING_START', { channel_id: channelId, user_id: personId, timestamp: 1, guild_id: guildId }),
    event('READY', ready),
    event('RESUMED', {}),
    event('AN_EVENT_OF_TOMORROW', { id: fresh(), guild_id: guildId }),
    event('error', { message: 'the name of an event that an emitter throws' }),
  ];
}
