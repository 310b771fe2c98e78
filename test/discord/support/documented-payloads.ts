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

const time = '2026-01-15T10:00:00.000000+00:00';

/**
 * Every event that the bot has a use for, and some others, with the documented fields that are read. What takes something away (a server, a channel,
 * a role) concerns something that nobody uses; leaving it out would not be a fault.
 */
export function documentedEvents(ids: PayloadIds, pick: <T>(all: readonly T[]) => T): readonly Dispatch[] {
  const { guildId: guild_id, botId, personId, threadId, dmId, fresh } = ids;
  const channel_id = pick(ids.channelIds);
  const user = { id: personId, username: 'bob', global_name: 'Bob', bot: false };
  const member = { roles: [], nick: 'Bobby', permissions: '2147483647', communication_disabled_until: null };
  const role = { id: fresh(), name: 'helpers', permissions: '104324673', tags: { bot_id: botId } };
  const everyone = { ...role, id: guild_id, name: '@everyone', permissions: '559623605575360' };
  const permission_overwrites = [{ id: personId, type: 1, allow: '1024', deny: '0' }];
  const channel = {
    id: channel_id,
    type: 0,
    guild_id,
    name: 'a-channel',
    permission_overwrites,
    parent_id: null,
    nsfw: false,
  };
  const newChannel = { ...channel, id: fresh() };
  const threadMember = { id: threadId, user_id: botId };
  const thread = {
    id: threadId,
    type: 11,
    guild_id,
    parent_id: ids.channelIds[0],
    owner_id: personId,
    name: 'a-thread',
    last_message_id: fresh(),
    thread_metadata: { archived: false, locked: false },
    member: {},
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
  const bare = {
    id: fresh(),
    channel_id,
    author: user,
    content: 'Words of nobody',
    edited_timestamp: null,
    mentions: [{ ...user, member }],
    mention_roles: [role.id],
    attachments: [attachment],
    embeds: [embed],
    components: [
      { type: 1, components: [{ type: 2, style: 1, label: 'Next', custom_id: 'next', emoji }] },
      { type: 17, components: [{ type: 10, content: 'Inside' }] },
    ],
    type: 0,
    flags: 0,
    sticker_items: [{ id: fresh(), name: 'Wave' }],
    poll: {
      question: { text: 'Tea?' },
      answers: [{ answer_id: 1, poll_media: { text: 'Yes', emoji } }],
      results: { is_finalized: false, answer_counts: [{ id: 1, count: 2, me_voted: false }] },
    },
  };
  const message_reference = { type: 0, message_id: fresh(), channel_id, guild_id };
  const message = {
    ...bare,
    type: 19,
    channel_type: 0,
    guild_id,
    member,
    application_id: fresh(),
    message_reference,
    referenced_message: { ...bare, id: fresh() },
    thread: { ...thread, id: fresh() },
  };
  const forwarded = {
    ...bare,
    id: fresh(),
    guild_id,
    message_reference: { ...message_reference, type: 1 },
    message_snapshots: [{ message: { ...bare, author: undefined } }],
  };
  const dm = { ...bare, id: fresh(), channel_id: dmId, channel_type: 1 };
  const interaction = {
    id: fresh(),
    application_id: fresh(),
    token: 'a-token-of-nobody',
    guild_id,
    channel_id,
    channel,
    member: { ...member, user },
    context: 0,
  };
  const resolved = { messages: { [message.id]: message }, attachments: { [attachment.id]: attachment } };
  const words = { name: 'text', type: 3, value: 'tea', focused: true };
  const data = { id: fresh(), name: 'memory', type: 1, guild_id, options: [words] };
  const guild = { id: fresh(), name: 'Elsewhere', owner_id: personId, roles: [everyone, role] };
  const created = {
    ...guild,
    id: guild_id,
    unavailable: false,
    members: [{ ...member, user }],
    channels: [newChannel, { ...newChannel, id: fresh(), type: 15 }],
    threads: [{ ...thread, id: fresh() }],
  };
  const ready = {
    user: { ...user, id: botId, username: 'Discoclaw', bot: true },
    guilds: [{ id: guild_id, unavailable: true }],
    session_id: 'a-session-of-nobody',
    resume_gateway_url: 'ws://127.0.0.1:9',
    application: { id: fresh(), flags: 0 },
  };
  const events: readonly (readonly [t: string, d: object])[] = [
    ['MESSAGE_CREATE', message],
    ['MESSAGE_CREATE', { ...bare, id: fresh(), channel_id: threadId, guild_id }],
    ['MESSAGE_CREATE', forwarded],
    ['MESSAGE_CREATE', dm],
    ['MESSAGE_CREATE', { ...dm, channel_id: fresh() }],
    ['MESSAGE_UPDATE', { ...message, edited_timestamp: time }],
    ['MESSAGE_UPDATE', { id: fresh(), channel_id, guild_id, embeds: [embed] }],
    ['MESSAGE_DELETE', { id: fresh(), channel_id, guild_id }],
    ['MESSAGE_DELETE_BULK', { ids: [fresh(), fresh()], channel_id, guild_id }],
    ['MESSAGE_REACTION_ADD', { user_id: personId, channel_id, message_id: fresh(), guild_id, emoji }],
    ['INTERACTION_CREATE', { ...interaction, type: 2, data: { ...data, resolved } }],
    ['INTERACTION_CREATE', { ...interaction, type: 4, data }],
    ['INTERACTION_CREATE', { ...interaction, type: 3, message, data: { custom_id: 'next' } }],
    ['GUILD_CREATE', created],
    ['GUILD_UPDATE', { ...guild, id: guild_id, roles: undefined }],
    ['GUILD_DELETE', { id: fresh(), unavailable: true }],
    ['GUILD_ROLE_CREATE', { guild_id, role: { ...role, id: fresh() } }],
    ['GUILD_ROLE_UPDATE', { guild_id, role: everyone }],
    ['GUILD_ROLE_DELETE', { guild_id, role_id: fresh() }],
    ['GUILD_MEMBER_UPDATE', { ...member, user, guild_id }],
    ['GUILD_MEMBER_REMOVE', { user: { ...user, id: fresh() }, guild_id }],
    ['CHANNEL_CREATE', newChannel],
    ['CHANNEL_UPDATE', channel],
    ['CHANNEL_DELETE', { ...newChannel, id: fresh() }],
    ['THREAD_CREATE', { ...thread, id: fresh() }],
    ['THREAD_UPDATE', thread],
    ['THREAD_DELETE', { id: fresh(), guild_id, parent_id: channel_id, type: 11 }],
    [
      'THREAD_LIST_SYNC',
      { guild_id, channel_ids: [ids.channelIds[0]], threads: [thread], members: [threadMember] },
    ],
    ['THREAD_MEMBER_UPDATE', { ...threadMember, guild_id }],
    ['THREAD_MEMBERS_UPDATE', { id: threadId, guild_id, added_members: [threadMember] }],
    ['USER_UPDATE', { ...user, id: botId, bot: true }],
    ['TYPING_START', { channel_id, user_id: personId, timestamp: 1, guild_id }],
    ['READY', ready],
    ['RESUMED', {}],
    ['AN_EVENT_OF_TOMORROW', { id: fresh(), guild_id }],
    ['error', { message: 'the name of an event that an emitter throws' }],
  ];
  return events.map(([t, d]) => ({ t, d }));
}
