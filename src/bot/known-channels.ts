import type { ChannelGuild } from '../core/place.ts';
import type { ChannelNotes } from '../memory/channel/channel-notes.ts';
import type { SessionLog } from '../memory/log/session-log.ts';
import type { Outbox } from '../turn/outbox.ts';

/** Channels where the bot was active, for catching up after a gap [G3b]. Rejects with `StoreError`. */
export function createKnownChannels({
  sessionLog,
  outbox,
  channelNotes,
}: {
  readonly sessionLog: Pick<SessionLog, 'channels' | 'guildOf' | 'rememberedSince'>;
  readonly outbox: Pick<Outbox, 'channels' | 'guildOf'>;
  readonly channelNotes: Pick<ChannelNotes, 'channels' | 'guildOf' | 'messagesSince'>;
}) {
  return {
    /** Also those where the bot was stopped before its first reply. */
    async knownChannels() {
      const activeAt = new Map<string, number>();
      const noted = (await channelNotes.channels()).map(({ channelId: id }) => ({ id, activeAt: 0 }));
      const all = [...(await sessionLog.channels()), ...(await outbox.channels()), ...noted];
      for (const { id, activeAt: at } of all) activeAt.set(id, Math.max(at, activeAt.get(id) ?? 0));
      return Array.from(activeAt, ([id, at]) => ({ id, activeAt: at }));
    },
    /** The channel's server, by any source that knows it: not every channel has a session. */
    async guildOf(channelId: string): Promise<ChannelGuild> {
      for (const source of [sessionLog, channelNotes, outbox]) {
        const guild = await source.guildOf(channelId);
        if (guild.kind !== 'unknown') return guild;
      }
      return { kind: 'unknown' };
    },
    remembered: async (channelId: string, messageId: string) => [
      ...(await sessionLog.rememberedSince(channelId, messageId)),
      ...(await channelNotes.messagesSince(channelId, messageId)),
    ],
  };
}
