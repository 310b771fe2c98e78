import type { ChannelPort } from '../core/channels.ts';
import type { Logger } from '../core/logger.ts';
import type { CommandButton, PostedMessage, ReminderPost } from '../core/reply.ts';
import { shownText } from '../core/text.ts';
import type { Clock } from '../core/time.ts';
import type { Writes } from '../core/writes.ts';
import { buttonsUnder, listedReminder, shownMoment } from '../memory/reminders/notices.ts';
import { mayUseReminder, type Reminder, type Reminders } from '../memory/reminders/reminders.ts';
import { saveBestEffort, type Outbox } from './outbox.ts';

/** What is later than that is called late; milliseconds. */
const lateMs = 60_000;
/** What is older comes in one list by direct message [RM4]. */
const oldMs = 24 * 60 * 60_000;
/** Of that list, so that it is one message. */
const mostListed = 8;
const listHeading = 'These were due while I was away:';

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
  /** Of those it says. */
  readonly due: readonly [Reminder, ...Reminder[]];
  readonly text: string;
  /** What no other message says or has in its buttons, not even one that lists it. */
  readonly mark: string;
  readonly buttons: readonly CommandButton[];
}

/**
 * Says what is due of a person [RM3] [RM4], each once: it is on disk that and where one is being said before it is, and
 * after a kill it is looked for there first. Rejects with what may pass; it is called again then.
 */
export function createReminding(ports: RemindingPorts) {
  const { reminders, begin, channels, post, clock, logger } = ports;

  /** So that a start looks there for what was missed. */
  const inUse = ({ channelId }: PostedMessage) =>
    saveBestEffort(logger, 'that a channel is in use', () => ports.outbox.hide(channelId, []));

  /** In a channel, or directly without one. Resolves with `false` where something has changed meanwhile. */
  async function say(
    userId: string,
    { due, mark, ...message }: Message,
    channelId?: string,
  ): Promise<boolean> {
    const [first] = due;
    const ids = due.map(({ id }) => id);
    if (!(await reminders.begin(await begin(userId), ids, mark, channelId))) return false;
    const posted = await post.send({
      userId,
      channelId,
      nonce: `r${first.id}${Date.parse(first.at).toString(36)}`,
      async mayShow() {
        const dueNow = new Set((await reminders.due(userId)).map(({ id }) => id));
        if (!ids.every((id) => dueNow.has(id))) return false;
        return channelId === undefined || (await channelOf(userId, first)) === channelId;
      },
      ...message,
    });
    if (posted === 'withheld') return false;
    if (posted === 'refused' && channelId !== undefined) return say(userId, { due, mark, ...message });
    if (posted === 'refused') logger.warn('a reminder could be delivered nowhere', { userId });
    else await inUse(posted);
    await reminders.came(await begin(userId), ids, posted !== 'refused');
    return true;
  }

  /** Where it comes: its channel, while its person may read it and be told of it there. */
  async function channelOf(userId: string, reminder: Reminder): Promise<string | undefined> {
    const { place } = reminder;
    if (place.audience === 'dm') return undefined;
    const present = await channels.placeOf(place.channelId);
    if (present === undefined || !mayUseReminder(reminder, userId, present)) return undefined;
    return (await post.mayRead(userId, place.channelId)) ? place.channelId : undefined;
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
      await inUse(posted);
      await reminders.came(await begin(userId), [each.id], true);
    }
    const now = clock().getTime();
    const isOld = ({ at }: Reminder): boolean => Date.parse(at) < now - oldMs;
    const [oldest, ...others] = due.filter(isOld);
    if (oldest !== undefined && !(await say(userId, listOf([oldest, ...others])))) return remind(userId);
    for (const each of due) {
      if (isOld(each)) continue;
      if (!(await say(userId, messageOf(each, now), await channelOf(userId, each)))) return remind(userId);
    }
  }

  return { remind };
}

function messageOf(reminder: Reminder, now: number): Message {
  const at = new Date(reminder.at);
  const late = now - at.getTime() > lateMs ? `\n-# It was due ${shownMoment(at)}; I was away.` : '';
  return {
    due: [reminder],
    text: `${shownText(reminder.text)}${late}`,
    mark: `reminders later ${reminder.id} `,
    buttons: buttonsUnder(reminder),
  };
}

function listOf(due: Message['due']): Message {
  const lines = due.slice(0, mostListed).map((each) => `- ${listedReminder(each)}`);
  const more = due.length > mostListed ? [`… and ${due.length - mostListed} more`] : [];
  return {
    due,
    text: [listHeading, ...lines, ...more].join('\n'),
    mark: listHeading,
    buttons: [{ label: 'Show all', line: 'reminders', takes: 'nothing' }],
  };
}
