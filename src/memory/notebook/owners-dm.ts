import type { TurnContext } from '../../core/turn-context.ts';

/** The only place where the workspace's notes and daily logs are opened: a DM with the bot's owner [V3] [N1]. */
export function isOwnersDm({ place, speaker }: Pick<TurnContext, 'place' | 'speaker'>): boolean {
  return place.audience === 'dm' && speaker.isOwner;
}
