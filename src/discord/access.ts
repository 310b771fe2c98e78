/** Who is answered and where [G1][G2]; ids throughout. */
export interface AccessSettings {
  /** The application's owner, or whoever the configuration names instead. */
  readonly ownerIds: readonly string[];
  readonly access: 'allowlist' | 'everyone';
  readonly allowedUserIds: readonly string[];
  readonly allowedBotIds: readonly string[];
  /** Where not empty, the only guild channels to work in; it grants nothing. */
  readonly channelIds: readonly string[];
  readonly autoReplyChannelIds: readonly string[];
}

/** A channel as the settings see it: a thread counts as its parent. */
export interface ChannelFacts {
  readonly channelId: string;
  readonly isDm: boolean;
  readonly parentId?: string | undefined;
}

export function isOwner(settings: AccessSettings, userId: string): boolean {
  return settings.ownerIds.includes(userId);
}

/** Whether a person, who is no bot, is answered at all. */
export function hasAccess(settings: AccessSettings, userId: string): boolean {
  return (
    settings.access === 'everyone' || isOwner(settings, userId) || settings.allowedUserIds.includes(userId)
  );
}

/** Whether the bot works in a channel; DMs are never restricted. */
export function worksIn(settings: Pick<AccessSettings, 'channelIds'>, channel: ChannelFacts): boolean {
  return channel.isDm || settings.channelIds.length === 0 || isListed(settings.channelIds, channel);
}

/** Whether a list of channels holds this one or, for a thread, its parent. */
export function isListed(ids: readonly string[], { channelId, parentId }: ChannelFacts): boolean {
  return ids.includes(channelId) || (parentId !== undefined && ids.includes(parentId));
}
