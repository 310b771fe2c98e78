import { DiscordSnowflake, Snowflake } from '@sapphire/snowflake';
import { z } from 'zod';

const form = /^[0-9]{15,21}$/;

/** 15 to 21 decimal digits. Required of all ids in storage keys [S6]. */
export function isSnowflake(text: string): boolean {
  return form.test(text);
}

export const idSchema = z.string().refine(isSnowflake, 'is not a Discord id');

/** @throws {RangeError} when `text` is not a Discord id. */
export function assertSnowflake(text: string): string {
  if (!isSnowflake(text)) throw new RangeError(`Not a Discord id: ${JSON.stringify(text.slice(0, 40))}`);
  return text;
}

/** Older first. */
export function compareSnowflakes(a: string, b: string): number {
  return Snowflake.compare(a, b);
}

/** Anything but an id counts as older. */
export function isYounger(id: string, than: string): boolean {
  return isSnowflake(id) && compareSnowflakes(id, than) > 0;
}

export function snowflakeTime(id: string): Date {
  // `timestampFrom` is a millisecond late for some ids: it uses floating point.
  return new Date(Number(DiscordSnowflake.deconstruct(assertSnowflake(id)).timestamp));
}

/** The smallest id that can have been made at `time`. */
export function snowflakeAt(time: Date): string {
  const smallest = { timestamp: time, increment: 0n, workerId: 0n, processId: 0n };
  return DiscordSnowflake.generate(smallest).toString();
}

const link =
  /^<?https?:\/\/[^\s/]+\/channels\/(?:@me|[0-9]+)\/(?<channelId>[0-9]{15,21})\/(?<id>[0-9]{15,21})>?$/u;

/** To a message, or to the end of a channel. */
export function discordLink({
  guildId = '@me',
  channelId,
  messageId,
}: {
  readonly guildId?: string | undefined;
  readonly channelId: string;
  readonly messageId?: string | undefined;
}): string {
  const path = messageId === undefined ? channelId : `${channelId}/${messageId}`;
  return `https://discord.com/channels/${guildId}/${path}`;
}

/** The message named by its id or link; an id alone does not tell the channel. */
export function messageReferenceIn(
  text: string,
): { readonly id: string; readonly channelId?: string } | undefined {
  if (isSnowflake(text)) return { id: text };
  const { channelId, id } = link.exec(text)?.groups ?? {};
  return channelId === undefined || id === undefined ? undefined : { id, channelId };
}
