import type { ChannelPort } from '../core/channels.ts';
import type { Logger } from '../core/logger.ts';
import { hasMoreReaders } from '../core/place.ts';
import type { CommandButton, PostedMessage, ReminderPost } from '../core/reply.ts';
import { shownText } from '../core/text.ts';
import type { Clock } from '../core/time.ts';
import type { Writes } from '../core/writes.ts';
import { buttonsUnder, listedReminder, shownMoment } from '../memory/reminders/notices.ts';
import type { Reminder, Reminders } from '../memory/reminders/reminders.ts';
import { hideFromHistory, type Outbox } from './outbox.ts';

/** What is later than that is called late; milliseconds. */
const lateMs = 60_000;
/** What is older comes in one list by direct message [RM4]. */
const oldMs = 24 * 60 * 60_000;
/** Of that list, so that it is one message. */
const mostListed = 8;

export interface RemindingPorts {
  readonly reminders: Pick<Reminders, 'due' | 'begin' | 'came'>;
  readonly begin: Writes['begin'];
  readonly channels: ChannelPort;
  readonly post: ReminderPost;
  readonly outbox: Pick<Outbox, 'hide'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Message {
  readonly text: string;
  readonly buttons: readonly CommandButton[];
}

/**
 * Says what is due of a person [RM3] [RM4], each once: it is on disk that and where one is being said before it is, and
 * after a kill it is looked for there first. Rejects with what may pass; it is called again then.
 */
export function createReminding(ports: RemindingPorts) {
  const { reminders, begin, channels, post, clock, logger } = ports;

  const hide = ({ channelId, messageId }: PostedMessage) => hideFromHistory(ports, channelId, [messageId]);

  /** In a channel, or directly without one. Resolves with whether Discord took it. */
  async function say(
    userId: string,
    due: readonly [Reminder, ...Reminder[]],
    message: Message,
    channelId?: string,
  ): Promise<boolean> {
    const [{ id: mark, at }] = due;
    await reminders.begin(await begin(userId), idsOf(due), channelId);
    const nonce = `r${mark}${Date.parse(at).toString(36)}`;
    const posted = await post.send({ userId, channelId, nonce, ...message });
    if (posted !== undefined) await hide(posted);
    return posted !== undefined;
  }

  async function end(userId: string, due: readonly Reminder[], wasDelivered: boolean): Promise<void> {
    await reminders.came(await begin(userId), idsOf(due), wasDelivered);
    if (!wasDelivered) logger.warn('a reminder could be delivered nowhere', { userId });
  }

  /** Where it comes: its channel, while it is as it was for its person and no one else can read along. */
  async function channelOf(userId: string, { where, place }: Reminder): Promise<string | undefined> {
    if (where === 'dm' || place.audience === 'dm') return undefined;
    const present = await channels.placeOf(place.channelId);
    if (present === undefined || hasMoreReaders(place, present)) return undefined;
    return (await post.mayRead(userId, place.channelId)) ? place.channelId : undefined;
  }

  async function sayOne(userId: string, reminder: Reminder): Promise<void> {
    const at = new Date(reminder.at);
    const isLate = clock().getTime() - at.getTime() > lateMs;
    const late = isLate ? `\n-# It was due ${shownMoment(at)}; I was away.` : '';
    const message = { text: `⏰ ${shownText(reminder.text)}${late}`, buttons: buttonsUnder(reminder) };
    const channelId = await channelOf(userId, reminder);
    const isInChannel = channelId !== undefined && (await say(userId, [reminder], message, channelId));
    await end(userId, [reminder], isInChannel || (await say(userId, [reminder], message)));
  }

  async function sayOld(userId: string, old: readonly [Reminder, ...Reminder[]]): Promise<void> {
    const lines = old.slice(0, mostListed).map((each) => `- ${listedReminder(each)}`);
    const more = old.length > mostListed ? [`… and ${old.length - mostListed} more`] : [];
    const text = ['⏰ These were due while I was away:', ...lines, ...more].join('\n');
    const buttons = [{ label: 'Show all', line: 'reminders', takes: 'nothing' as const }];
    await end(userId, old, await say(userId, old, { text, buttons }));
  }

  return {
    /** Says what is due by now. */
    async remind(this: void, userId: string): Promise<void> {
      const due: Reminder[] = [];
      for (const each of await reminders.due(userId)) {
        const posted = each.attempt && (await post.find({ userId, ...each.attempt }));
        if (posted === undefined) {
          due.push(each);
          continue;
        }
        await hide(posted);
        await end(userId, [each], true);
      }
      const latest = clock().getTime() - oldMs;
      const [first, ...others] = due.filter(({ at }) => Date.parse(at) < latest);
      if (first !== undefined) await sayOld(userId, [first, ...others]);
      for (const each of due) if (Date.parse(each.at) >= latest) await sayOne(userId, each);
    },
  };
}

function idsOf(reminders: readonly Reminder[]): readonly string[] {
  return reminders.map(({ id }) => id);
}
