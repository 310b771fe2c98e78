import { AllowedMentionsTypes, type APIAllowedMentions } from 'discord-api-types/v10';

import type { User } from './entities.ts';

/** Who a message pings. */
export interface Mentions {
  readonly userIds: readonly string[];
  readonly everyone: boolean;
}

/** Discord's `allowed_mentions`: what may ping; nothing does where it is there and empty. */
type AllowedMentions = Partial<Pick<APIAllowedMentions, 'parse' | 'users' | 'replied_user'>>;

/**
 * Turns `@Name` of a known user into Discord's `<@id>`, whatever the case, as a client does when its user picks a name. A
 * name inside a word, as in an e-mail address, stays.
 */
export function linkMentions(text: string, users: Iterable<User>): string {
  const byName = new Map(Array.from(users, (user) => [user.username.toLowerCase(), user.id]));
  return text.replace(/(?<![\p{L}\p{N}_.<@])@([\p{L}\p{N}_]+)/gu, (whole, name: string) => {
    const id = byName.get(name.toLowerCase());
    return id === undefined ? whole : `<@${id}>`;
  });
}

/**
 * Who is pinged by a text, a reply to `repliedUserId` included, as far as `allowed` lets it; without `allowed` everybody
 * named is, as in Discord.
 */
export function mentionsIn(
  text: string,
  allowed: AllowedMentions | undefined,
  repliedUserId: string | undefined,
): Mentions {
  const named = [...text.matchAll(/<@!?(\d{15,21})>/g)].flatMap((match) => match[1] ?? []);
  const allows = (kind: AllowedMentionsTypes): boolean =>
    allowed === undefined || (allowed.parse ?? []).includes(kind);
  const userIds = new Set(
    named.filter((id) => allows(AllowedMentionsTypes.User) || (allowed?.users ?? []).includes(id)),
  );
  if (repliedUserId !== undefined && (allowed === undefined || allowed.replied_user === true)) {
    userIds.add(repliedUserId);
  }
  const everyone = /@(?:everyone|here)\b/.test(text);
  return { userIds: [...userIds], everyone: everyone && allows(AllowedMentionsTypes.Everyone) };
}
