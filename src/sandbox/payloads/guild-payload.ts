import {
  GuildDefaultMessageNotifications,
  GuildExplicitContentFilter,
  GuildMFALevel,
  GuildNSFWLevel,
  GuildPremiumTier,
  GuildVerificationLevel,
  Locale,
  type APIGuild,
  type APIGuildMember,
  type APIRole,
  type GatewayGuildCreateDispatchData,
  type RESTAPIPartialCurrentUserGuild,
} from 'discord-api-types/v10';

import { activeThreads } from '../world/channels.ts';
import type { Channel, Guild, Member, Role } from '../world/entities.ts';
import { guildPermissions } from '../world/permissions.ts';
import { memberOf, userOf, type World } from '../world/world.ts';
import { guildChannelPayload, threadPayload } from './channel-payload.ts';
import { emojiPayload, flagBits, userPayload } from './user-payload.ts';

export function rolePayload(role: Role): APIRole {
  return {
    id: role.id,
    name: role.name,
    color: 0,
    colors: { primary_color: 0, secondary_color: null, tertiary_color: null },
    hoist: false,
    position: role.position,
    permissions: role.permissions.toString(),
    managed: role.managed,
    tags: role.botId === undefined ? undefined : { bot_id: role.botId },
    mentionable: false,
    flags: flagBits(0),
  };
}

/** A member without its user, as messages carry it. */
export function memberPayloadWithoutUser(member: Member): Omit<APIGuildMember, 'user'> {
  return {
    nick: null,
    avatar: null,
    banner: null,
    roles: [...member.roleIds],
    joined_at: member.joinedAt,
    premium_since: null,
    deaf: false,
    mute: false,
    flags: flagBits(0),
    pending: false,
    communication_disabled_until: null,
  };
}

export function memberPayload(world: World, member: Member): APIGuildMember {
  return { ...memberPayloadWithoutUser(member), user: userPayload(userOf(world, member.userId)) };
}

/** A guild in the list of those that a user is in, with what they may do there at large. */
export function ownGuildPayload(guild: Guild, userId: string): RESTAPIPartialCurrentUserGuild {
  const member = guild.members.get(userId);
  return {
    id: guild.id,
    name: guild.name,
    icon: null,
    banner: null,
    owner: guild.ownerId === userId,
    features: [],
    permissions: (member === undefined ? 0n : guildPermissions(guild, member)).toString(),
  };
}

export function guildPayload(guild: Guild): APIGuild {
  return {
    id: guild.id,
    name: guild.name,
    icon: null,
    splash: null,
    discovery_splash: null,
    owner_id: guild.ownerId,
    afk_channel_id: null,
    afk_timeout: 300,
    verification_level: GuildVerificationLevel.None,
    default_message_notifications: GuildDefaultMessageNotifications.AllMessages,
    explicit_content_filter: GuildExplicitContentFilter.Disabled,
    roles: Array.from(guild.roles.values(), rolePayload),
    emojis: Array.from(guild.emojis.values(), emojiPayload),
    features: [],
    mfa_level: GuildMFALevel.None,
    application_id: null,
    system_channel_id: null,
    system_channel_flags: flagBits(0),
    rules_channel_id: null,
    vanity_url_code: null,
    description: null,
    banner: null,
    premium_tier: GuildPremiumTier.None,
    preferred_locale: Locale.EnglishUS,
    public_updates_channel_id: null,
    nsfw_level: GuildNSFWLevel.Default,
    stickers: [],
    premium_progress_bar_enabled: false,
    hub_type: null,
    safety_alerts_channel_id: null,
    incidents_data: null,
  };
}

/**
 * GUILD_CREATE for the bot: every channel, the active threads that it can view, and the members, which Discord cuts down
 * to the bot itself where the intent for members is missing. `among`: where the guild's channels are to be found.
 */
export function guildCreatePayload(
  world: World,
  guild: Guild,
  withAllMembers: boolean,
  among: readonly Channel[] = [...world.channels.values()],
): GatewayGuildCreateDispatchData {
  const members = [...guild.members.values()].filter(
    ({ userId }) => withAllMembers || userId === world.botId,
  );
  return {
    ...guildPayload(guild),
    joined_at: memberOf(world, guild.id, world.botId)?.joinedAt ?? guild.createdAt,
    large: false,
    unavailable: false,
    member_count: guild.members.size,
    voice_states: [],
    members: members.map((member) => memberPayload(world, member)),
    channels: among.flatMap((channel) =>
      channel.kind === 'text' && channel.guildId === guild.id ? [guildChannelPayload(world, channel)] : [],
    ),
    threads: activeThreads(world, guild.id, among).map((thread) => threadPayload(world, thread, world.botId)),
    presences: [],
    stage_instances: [],
    guild_scheduled_events: [],
    soundboard_sounds: [],
  };
}
