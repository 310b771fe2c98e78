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
 * Every event that comes with the bot's intents, with the fields that Discord documents for it. What takes something away (a server, a channel,
 * a role) concerns something that nobody uses; leaving it out would not be a fault.
 */
export function documentedEvents(ids: PayloadIds, pick: <T>(all: readonly T[]) => T): readonly Dispatch[] {
  const { guildId, botId, personId, threadId, dmId, fresh } = ids;
  const channelId = pick(ids.channelIds);
  const user = {
    id: personId,
    username: 'bob',
    discriminator: '0',
    global_name: 'Bob',
    avatar: null,
    bot: false,
    system: false,
    banner: null,
    accent_color: null,
    public_flags: 64,
    avatar_decoration_data: { asset: 'a_1', sku_id: fresh() },
    collectibles: { nameplate: { sku_id: fresh(), asset: 'a/', label: 'L', palette: 'cobalt' } },
    primary_guild: { identity_guild_id: guildId, identity_enabled: true, tag: 'TAG', badge: 'b1' },
  };
  const member = {
    roles: [],
    nick: 'Bobby',
    avatar: null,
    banner: null,
    joined_at: time,
    premium_since: null,
    deaf: false,
    mute: false,
    flags: 0,
    pending: false,
    permissions: '2147483647',
    communication_disabled_until: null,
    avatar_decoration_data: null,
  };
  const role = {
    id: fresh(),
    name: 'helpers',
    color: 0,
    colors: { primary_color: 1, secondary_color: null, tertiary_color: null },
    hoist: false,
    icon: null,
    unicode_emoji: null,
    position: 1,
    permissions: '104324673',
    managed: false,
    mentionable: true,
    flags: 0,
    tags: { bot_id: botId, premium_subscriber: null },
  };
  const everyone = { ...role, id: guildId, name: '@everyone', position: 0, permissions: '559623605575360' };
  const channel = {
    id: channelId,
    type: 0,
    guild_id: guildId,
    name: 'a-channel',
    position: 1,
    permission_overwrites: [{ id: personId, type: 1, allow: '1024', deny: '0' }],
    parent_id: null,
    topic: 'A topic',
    nsfw: false,
    rate_limit_per_user: 0,
    last_message_id: fresh(),
    last_pin_timestamp: time,
    default_auto_archive_duration: 60,
    flags: 0,
  };
  const newChannel = { ...channel, id: fresh() };
  const forum = {
    ...newChannel,
    type: 15,
    available_tags: [{ id: fresh(), name: 'tag', moderated: false, emoji_id: null, emoji_name: '🏷' }],
    default_reaction_emoji: { emoji_id: null, emoji_name: '👍' },
    default_sort_order: 0,
    default_forum_layout: 1,
  };
  const threadMember = {
    id: threadId,
    user_id: botId,
    join_timestamp: time,
    flags: 0,
    member: { ...member, user },
  };
  const thread = {
    id: threadId,
    type: 11,
    guild_id: guildId,
    parent_id: ids.channelIds[0],
    owner_id: personId,
    name: 'a-thread',
    last_message_id: fresh(),
    rate_limit_per_user: 0,
    message_count: 3,
    total_message_sent: 4,
    member_count: 2,
    thread_metadata: {
      archived: false,
      auto_archive_duration: 1440,
      archive_timestamp: time,
      create_timestamp: time,
      locked: false,
      invitable: true,
    },
    applied_tags: [],
    flags: 0,
    member: { join_timestamp: time, flags: 0 },
  };
  const attachment = {
    id: fresh(),
    filename: 'cat.png',
    title: 'cat',
    description: 'A cat',
    content_type: 'image/png',
    size: 1234,
    url: 'https://cdn.discordapp.com/attachments/1/2/cat.png',
    proxy_url: 'https://media.discordapp.net/attachments/1/2/cat.png',
    height: 10,
    width: 10,
    duration_secs: 1.5,
    waveform: 'AAAA',
    flags: 0,
  };
  const emoji = { id: null, name: '👍', animated: false };
  const embed = {
    title: 'Title',
    type: 'rich',
    description: 'Words',
    url: 'https://example.com',
    timestamp: time,
    color: 1,
    footer: { text: 'Footer' },
    image: { url: 'https://example.com/a.png', width: 1, height: 1 },
    author: { name: 'Author' },
    fields: [{ name: 'a', value: 'b', inline: true }],
  };
  const button = { type: 2, style: 1, label: 'Next', custom_id: 'next', emoji, disabled: false };
  const media = { url: 'https://example.com/a.png', width: 1, height: 1 };
  const components = [
    { type: 1, id: 1, components: [button] },
    { type: 9, components: [{ type: 10, content: 'Text' }], accessory: { type: 11, media } },
    { type: 12, items: [{ media, description: 'A picture', spoiler: false }] },
    { type: 13, file: media, spoiler: false },
    {
      type: 17,
      accent_color: 1,
      components: [
        { type: 10, content: 'Inside' },
        { type: 14, divider: true },
      ],
    },
  ];
  const poll = {
    question: { text: 'Tea?' },
    answers: [{ answer_id: 1, poll_media: { text: 'Yes', emoji } }],
    expiry: time,
    allow_multiselect: false,
    layout_type: 1,
    results: { is_finalized: false, answer_counts: [{ id: 1, count: 2, me_voted: false }] },
  };
  const bare = {
    id: fresh(),
    channel_id: channelId,
    author: user,
    content: 'Words of nobody',
    timestamp: time,
    edited_timestamp: null,
    tts: false,
    mention_everyone: false,
    mentions: [{ ...user, member }],
    mention_roles: [role.id],
    mention_channels: [{ id: channelId, guild_id: guildId, type: 0, name: 'a-channel' }],
    attachments: [attachment],
    embeds: [embed],
    components,
    reactions: [
      {
        count: 1,
        count_details: { burst: 0, normal: 1 },
        me: false,
        me_burst: false,
        emoji,
        burst_colors: [],
      },
    ],
    nonce: '1',
    pinned: false,
    type: 0,
    flags: 0,
    sticker_items: [{ id: fresh(), name: 'Wave', format_type: 1 }],
    poll,
    position: 1,
  };
  const message = {
    ...bare,
    type: 19,
    channel_type: 0,
    guild_id: guildId,
    member,
    webhook_id: undefined,
    application_id: fresh(),
    application: { id: fresh(), name: 'App', icon: null, description: '' },
    activity: { type: 1, party_id: 'p' },
    message_reference: { type: 0, message_id: fresh(), channel_id: channelId, guild_id: guildId },
    referenced_message: { ...bare, id: fresh() },
    interaction_metadata: { id: fresh(), type: 2, user, authorizing_integration_owners: { '0': guildId } },
    interaction: { id: fresh(), type: 2, name: 'memory', user },
    thread: { ...thread, id: fresh() },
    role_subscription_data: {
      role_subscription_listing_id: fresh(),
      tier_name: 't',
      total_months_subscribed: 1,
      is_renewal: false,
    },
    resolved: { users: { [personId]: user }, members: { [personId]: member }, channels: {}, roles: {} },
    call: { participants: [personId], ended_timestamp: null },
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
    member: { ...member, user },
    emoji,
    message_author_id: botId,
    burst: false,
    burst_colors: [],
    type: 0,
  };
  const interaction = {
    id: fresh(),
    application_id: fresh(),
    token: 'a-token-of-nobody',
    version: 1,
    guild_id: guildId,
    guild: { id: guildId, locale: 'en-US', features: [] },
    channel_id: channelId,
    channel: { ...channel, permissions: '2147483647' },
    member: { ...member, user },
    locale: 'en-US',
    guild_locale: 'en-US',
    app_permissions: '2147483647',
    entitlements: [
      { id: fresh(), sku_id: fresh(), application_id: fresh(), user_id: personId, type: 8, deleted: false },
    ],
    authorizing_integration_owners: { '0': guildId },
    context: 0,
    attachment_size_limit: 10_485_760,
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
  const guild = {
    id: fresh(),
    name: 'Elsewhere',
    icon: null,
    splash: null,
    owner_id: personId,
    afk_timeout: 300,
    afk_channel_id: null,
    verification_level: 0,
    default_message_notifications: 0,
    explicit_content_filter: 0,
    roles: [],
    emojis: [{ id: fresh(), name: 'blob', roles: [], user, animated: false, available: true }],
    features: ['COMMUNITY'],
    mfa_level: 0,
    application_id: null,
    system_channel_id: channelId,
    system_channel_flags: 0,
    rules_channel_id: null,
    vanity_url_code: null,
    description: null,
    banner: null,
    premium_tier: 0,
    preferred_locale: 'en-US',
    public_updates_channel_id: null,
    nsfw_level: 0,
    stickers: [],
    premium_progress_bar_enabled: false,
    safety_alerts_channel_id: null,
    incidents_data: { invites_disabled_until: time, dms_disabled_until: null },
  };
  const created = {
    ...guild,
    roles: [{ ...everyone, id: guild.id }, role],
    joined_at: time,
    large: false,
    unavailable: false,
    member_count: 3,
    voice_states: [{ user_id: personId, channel_id: channelId, session_id: 's', deaf: false, mute: false }],
    members: [{ ...member, user }],
    channels: [{ ...newChannel, id: fresh() }, forum],
    threads: [{ ...thread, id: fresh() }],
    presences: [{ user: { id: personId }, status: 'online', activities: [], client_status: {} }],
    stage_instances: [
      { id: fresh(), channel_id: channelId, guild_id: guildId, topic: 't', privacy_level: 2 },
    ],
    guild_scheduled_events: [
      { id: fresh(), guild_id: guildId, name: 'e', scheduled_start_time: time, status: 1 },
    ],
    soundboard_sounds: [{ sound_id: fresh(), name: 's', volume: 1, emoji_id: null, emoji_name: null }],
  };
  const vote = {
    user_id: personId,
    channel_id: channelId,
    message_id: fresh(),
    guild_id: guildId,
    answer_id: 1,
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
    event('MESSAGE_CREATE', {
      ...bare,
      id: fresh(),
      channel_id: threadId,
      guild_id: guildId,
      channel_type: 11,
    }),
    event('MESSAGE_CREATE', forwarded),
    event('MESSAGE_CREATE', dm),
    event('MESSAGE_CREATE', { ...dm, channel_id: fresh() }),
    event('MESSAGE_UPDATE', { ...message, edited_timestamp: time }),
    event('MESSAGE_UPDATE', { id: fresh(), channel_id: channelId, guild_id: guildId, embeds: [embed] }),
    event('MESSAGE_DELETE', { id: fresh(), channel_id: channelId, guild_id: guildId }),
    event('MESSAGE_DELETE_BULK', { ids: [fresh(), fresh()], channel_id: channelId, guild_id: guildId }),
    event('MESSAGE_REACTION_ADD', reaction),
    event('MESSAGE_REACTION_REMOVE', { ...reaction, member: undefined }),
    event('MESSAGE_REACTION_REMOVE_ALL', { channel_id: channelId, message_id: fresh(), guild_id: guildId }),
    event('MESSAGE_REACTION_REMOVE_EMOJI', { channel_id: dmId, message_id: fresh(), emoji }),
    event('MESSAGE_POLL_VOTE_ADD', vote),
    event('MESSAGE_POLL_VOTE_REMOVE', vote),
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
    event('GUILD_EMOJIS_UPDATE', { guild_id: guildId, emojis: guild.emojis }),
    event('GUILD_STICKERS_UPDATE', { guild_id: guildId, stickers: [] }),
    event('GUILD_INTEGRATIONS_UPDATE', { guild_id: guildId }),
    event('CHANNEL_CREATE', newChannel),
    event('CHANNEL_CREATE', forum),
    event('CHANNEL_UPDATE', channel),
    event('CHANNEL_DELETE', { ...newChannel, id: fresh() }),
    event('CHANNEL_PINS_UPDATE', { channel_id: channelId, guild_id: guildId, last_pin_timestamp: time }),
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
    event('STAGE_INSTANCE_CREATE', created.stage_instances[0]),
    event('USER_UPDATE', { ...user, id: botId, bot: true }),
    event('USER_UPDATE', user),
    event('VOICE_STATE_UPDATE', {
      ...created.voice_states[0],
      guild_id: guildId,
      member: { ...member, user },
    }),
    event('VOICE_SERVER_UPDATE', { token: 't', guild_id: guildId, endpoint: null }),
    event('WEBHOOKS_UPDATE', { guild_id: guildId, channel_id: channelId }),
    event('TYPING_START', { channel_id: channelId, user_id: personId, timestamp: 1, guild_id: guildId }),
    event('PRESENCE_UPDATE', { ...created.presences[0], guild_id: guildId }),
    event('INVITE_CREATE', {
      channel_id: channelId,
      code: 'c',
      guild_id: guildId,
      created_at: time,
      max_age: 0,
    }),
    event('ENTITLEMENT_CREATE', interaction.entitlements[0]),
    event('APPLICATION_COMMAND_PERMISSIONS_UPDATE', {
      id: fresh(),
      application_id: fresh(),
      guild_id: guildId,
      permissions: [{ id: personId, type: 2, permission: true }],
    }),
    event('READY', ready),
    event('RESUMED', {}),
    event('AN_EVENT_OF_TOMORROW', { id: fresh(), guild_id: guildId }),
    event('error', { message: 'the name of an event that an emitter throws' }),
  ];
}
