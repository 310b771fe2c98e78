import type { BotHandlers } from '../core/message.ts';
import type { DirectMessagePort } from '../core/reply.ts';
import type { Logger } from '../core/logger.ts';
import { clip, toSingleLine } from '../core/text.ts';
import { localDate, type Clock } from '../core/time.ts';
import { askers, withRequest, type BotSettings } from '../memory/settings/bot-settings.ts';
import { hideFromHistory, type Outbox } from './outbox.ts';

const requestsPerDay = 5;
/** Beyond these, who asks is not kept: everybody on Discord can ask. */
const mostWaiting = 100;
const nameMaxChars = 80;

export interface AccessRequestPorts {
  readonly botSettings: BotSettings;
  readonly ownerIds: readonly string[];
  readonly directMessages: Pick<DirectMessagePort, 'send'>;
  readonly outbox: Pick<Outbox, 'hide'>;
  readonly clock: Clock;
  /** IANA. */
  readonly timeZone: string;
  readonly logger: Logger;
}

/**
 * Asks an owner by direct message about somebody who has no access [G1]: once a person, five a day. Who is not
 * asked about, or could not be, waits, and is asked about on another day on which they write. Only ids are kept.
 */
export function createAccessRequests(ports: AccessRequestPorts): BotHandlers['lockedOut'] {
  const { botSettings, ownerIds, directMessages, clock, timeZone, logger } = ports;

  /** Whether an owner is to be asked now; counted before that, also over processes. */
  async function take(person: string, day: string): Promise<boolean> {
    let isDue = false;
    await botSettings.change((before) => {
      const known = before.requests[person];
      const today = Object.values(before.requests).filter((request) => request.day === day);
      const isOpen = known === undefined || (known.state === 'waiting' && known.day !== day);
      isDue = isOpen && today.length < requestsPerDay;
      if (!isDue && (known !== undefined || askers(before, 'waiting').length >= mostWaiting)) return before;
      return withRequest(before, person, { state: 'waiting', day: isDue ? day : undefined });
    });
    return isDue;
  }

  return async ({ userId, name, channelName, guildName }) => {
    const [ownerId] = ownerIds;
    const person = `<@${userId}>`;
    const day = localDate(clock(), timeZone);
    try {
      if (ownerId === undefined || !(await take(person, day))) return;
      const where =
        guildName === undefined
          ? 'in a direct message'
          : `in ${shown(`#${channelName}`)} of ${shown(guildName)}`;
      const text = `🔑 ${shown(name)} (${person}) wrote to me ${where} and has no access. Shall I answer them from now on?`;
      const buttons = [
        { label: 'Let in', line: `settings access add ${person}` },
        { label: 'Not now', line: `settings access not-now ${person}` },
      ];
      const outcome = await directMessages.send(ownerId, [{ text, buttons }], `${userId}a`, (channelId, id) =>
        hideFromHistory(ports, channelId, [id]),
      );
      if (outcome === 'closed')
        return logger.warn('the owner takes no direct messages, so who asks to be let in waits', { userId });
      await botSettings.change((before) =>
        before.requests[person]?.state === 'waiting'
          ? withRequest(before, person, { state: 'asked', day })
          : before,
      );
    } catch (error) {
      logger.warn('the owner could not be told who asks to be let in', { userId, error });
    }
  };
}

/** Somebody else's words: code shows no formatting, link or mention. */
function shown(name: string): string {
  return `\`${clip(toSingleLine(name).replaceAll('`', "'"), nameMaxChars) || '…'}\``;
}
