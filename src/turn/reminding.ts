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

type Outcome = 'sent' | 'refused' | 'withheld';

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

  /** In a channel, or directly without one. */
  async function say(
    userId: string,
    due: readonly [Reminder, ...Reminder[]],
    message: Message,
    channelId?: string,
  ): Promise<Outcome> {
    const [first] = due;
    const ids = idsOf(due);
    if (!(await reminders.begin(await begin(userId), ids, channelId))) return 'withheld';
    const posted = await post.send({
      userId,
      channelId,
      nonce: `r${first.id}${Date.parse(first.at).toString(36)}`,
      async mayShow() {
        const dueNow = new Set(idsOf(await reminders.due(userId)));
        if (!ids.every((id) => dueNow.has(id))) return false;
        return channelId === undefined || (await channelOf(userId, first)) === channelId;
      },
      ...message,
    });
    if (typeof posted === 'string') return posted;
    await hide(posted);
    return 'sent';
  }

  async function end(userId: string, due: readonly Reminder[], outcome: Outcome): Promise<Outcome> {
    if (outcome === 'withheld') return outcome;
    await reminders.came(await begin(userId), idsOf(due), outcome === 'sent');
    if (outcome === 'refused') logger.warn('a reminder could be delivered nowhere', { userId });
    return outcome;
  }

  /** Where it comes: its channel, while it is as it was for its person and no one else can read along. */
  async function channelOf(userId: string, { where, place }: Reminder): Promise<string | undefined> {
    if (where === 'dm' || place.audience === 'dm') return undefined;
    const present = await channels.placeOf(place.channelId);
    if (present === undefined || hasMoreReaders(place, present)) return undefined;
    return (await post.mayRead(userId, place.channelId)) ? place.channelId : undefined;
  }

  async function sayOne(userId: string, reminder: Reminder): Promise<Outcome> {
    const at = new Date(reminder.at);
    const isLate = clock().getTime() - at.getTime() > lateMs;
    const late = isLate ? `\n-# It was due ${shownMoment(at)}; I was away.` : '';
    const message = { text: `⏰ ${shownText(reminder.text)}${late}`, buttons: buttonsUnder(reminder) };
    const channelId = await channelOf(userId, reminder);
    let outcome = await say(userId, [reminder], message, channelId);
    if (outcome === 'refused' && channelId !== undefined) outcome = await say(userId, [reminder], message);
    return end(userId, [reminder], outcome);
  }

  async function sayOld(userId: string, old: readonly [Reminder, ...Reminder[]]): Promise<Outcome> {
    const lines = old.slice(0, mostListed).map((each) => `- ${listedReminder(each)}`);
    const more = old.length > mostListed ? [`… and ${old.length - mostListed} more`] : [];
    const text = ['⏰ These were due while I was away:', ...lines, ...more].join('\n');
    const buttons = [{ label: 'Show all', line: 'reminders', takes: 'nothing' as const }];
    return end(userId, old, await say(userId, old, { text, buttons }));
  }

  /** Says what is due by now. */
  async function remind(userId: string): Promise<void> {
    const due: Reminder[] = [];
    for (const each of await reminders.due(userId)) {
      const posted = each.attempt && (await post.find({ userId, ...each.attempt }));
      if (posted === undefined) {
        due.push(each);
        continue;
      }
      await hide(posted);
      await end(userId, [each], 'sent');
    }
    const latest = clock().getTime() - oldMs;
    const [first, ...others] = due.filter(({ at }) => Date.parse(at) < latest);
    let outcome: Outcome = first === undefined ? 'sent' : await sayOld(userId, [first, ...others]);
    for (const each of due)
      if (Date.parse(each.at) >= latest && outcome !== 'withheld') outcome = await sayOne(userId, each);
    // Something has changed meanwhile.
    if (outcome === 'withheld') await remind(userId);
  }

  return { remind };
}

function idsOf(reminders: readonly Reminder[]): readonly string[] {
  return reminders.map(({ id }) => id);
}
