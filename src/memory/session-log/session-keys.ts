import type { SessionKey } from '../../core/place.ts';
import { assertSnowflake, isSnowflake } from '../../core/snowflake.ts';

/** The folder above all sessions. */
export const sessionsFolder = 'sessions';

/** The folder of all sessions of one channel. @throws {RangeError} when the id is no Discord id [S6]. */
export function channelFolder(channelId: string): string {
  return `${sessionsFolder}/${assertSnowflake(channelId)}`;
}

/** The session's own folder. @throws {RangeError} when an id is no Discord id [S6]. */
export function sessionFolder({ channelId, userId }: SessionKey): string {
  return `${channelFolder(channelId)}/${assertSnowflake(userId)}`;
}

/** The message log's key [W3]. */
export function logKey(session: SessionKey): string {
  return `${sessionFolder(session)}/${logFile}`;
}

/** The session that a log below `sessions/` belongs to; `undefined` for any other file. */
export function sessionOfLog(path: string): SessionKey | undefined {
  const [channelId, userId, file, ...rest] = path.split('/');
  if (channelId === undefined || userId === undefined || file !== logFile || rest.length > 0)
    return undefined;
  return isSnowflake(channelId) && isSnowflake(userId) ? { channelId, userId } : undefined;
}

const logFile = 'messages.jsonl';
