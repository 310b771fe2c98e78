import type { CommandButton, ReminderPost } from '../core/reply.ts';
import type { ChannelPort } from '../core/channels.ts';
import type { Logger } from '../core/logger.ts';
import { hasMoreReaders } from '../core/place.ts';
import { shownText } from '../core/text.ts';
import type { Clock } from '../core/time.ts';
import type { Writes } from '../core/writes.ts';
import { shownMoment, type Reminder, type Reminders } from '../memory/reminders/reminders.ts';
import { type Outbox, saveBestEffort } from './outbox.ts';

/** What is later than that is called late; milliseconds. */
const lateMs = 60_000;
/** What is older comes in one list by direct message [RM4]. */
const oldMs = 24 * 60 * 60_000;
/** Of that list, so that it is one message. */
const mostListed = 12;
const listedMaxChars = 80;

export interface RemindingPorts {
  readonly reminders: Pick<Reminders, 'due' | 'begin' | 'came'>;
  readonly begin: Writes['begin'];
  readonly channels: ChannelPort;
  readonly post: ReminderPost;
  readonly outbox: Pick<Outbox, 'hide'>;
  /** What its person can do about one. */
  readonly buttonsUnder: (reminder: Reminder) => readonly CommandButton[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Says what is due of a person [RM3] [RM4], each once: it is on disk that one is being said before it is, and after a
 * kill it is looked for first. Rejects with what may pass; it is called again then.
 */
export function createReminding(ports: RemindingPorts) {
  const { reminders, begin, channels, post, outbox, buttonsUnder, clock, logger } = ports;

  async function say(
    userId: string,
    due: readonly Reminder[],
    { channelId, text, buttons }: Pick<Parameters<ReminderPost['send']>[0], 'channelId' | 'text' | 'buttons'>,
  ): ReturnType<ReminderPost['send']> {
    const [first] = due;
    if (first === undefined) return 'sent';
    const work = await begin(userId);
    const begunAt = await reminders.begin(
      work,
      due.map(({ id }) => id),
    );
    // Who can read its channel may have changed since.
    if (begunAt !== undefined)
      for (const place of new Set([channelId, ownChannelOf(first), undefined]))
        if (await post.isThere({ userId, channelId: place, after: begunAt, mark: first.id })) return 'sent';
    const isDue = async (): Promise<boolean> =>
      (await reminders.due(userId)).some(({ id }) => due.some((each) => each.id === id));
    return post.send({
      userId,
      channelId,
      text,
      buttons,
      nonce: `r${first.id}${Date.parse(first.at).toString(36)}`,
      mayShow: async () =>
        (await isDue()) && (channelId === undefined || (await channelOf(userId, first)) === channelId),
      beforeSeen: (posted, messageId) =>
        saveBestEffort(logger, 'reminders hidden from history', () => outbox.hide(posted, [messageId])),
    });
  }

  /** Where it comes: its channel, while it is as it was for its person and no one else can read along. */
  async function channelOf(userId: string, reminder: Reminder): Promise<string | undefined> {
    if (ownChannelOf(reminder) === undefined) return undefined;
    const { place } = reminder;
    const present = await channels.placeOf(place.channelId);
    if (present === undefined || hasMoreReaders(place, present)) return undefined;
    return (await post.mayRead(userId, place.channelId)) ? place.channelId : undefined;
  }

  async function sayOne(userId: string, reminder: Reminder): Promise<Outcome> {
    const isLate = clock().getTime() - Date.parse(reminder.at) > lateMs;
    const late = isLate ? `\n-# It was due ${shownMoment(new Date(reminder.at))}; I was away.` : '';
    const parts = { text: `⏰ ${shownText(reminder.text)}${late}`, buttons: buttonsUnder(reminder) };
    const channelId = await channelOf(userId, reminder);
    let outcome = await say(userId, [reminder], { ...parts, channelId });
    if (outcome === 'refused' && channelId !== undefined)
      outcome = await say(userId, [reminder], { ...parts, channelId: undefined });
    return end(userId, [reminder], outcome);
  }

  async function end(userId: string, reminded: readonly Reminder[], outcome: Outcome): Promise<Outcome> {
    if (outcome === 'withheld') return outcome;
    const work = await begin(userId);
    for (const { id } of reminded) await reminders.came(work, id, outcome === 'sent');
    if (outcome === 'refused') logger.warn('a reminder could be delivered nowhere', { userId });
    return outcome;
  }

  async function sayOld(userId: string, old: readonly Reminder[]): Promise<Outcome> {
    const lines = old
      .slice(0, mostListed)
      .map(
        (each, index) =>
          `${index + 1}. ${shownMoment(new Date(each.at))}: ${shownText(each.text, listedMaxChars)}`,
      );
    const text = `⏰ These were due while I was away:\n${lines.join('\n')}\n-# \`!reminders\` lists all.`;
    // By their ids a list that stands there already is known after a kill.
    const buttons = old.slice(0, mostListed).map(({ id }, index): CommandButton => ({
      label: `Done ${index + 1}`,
      line: `reminders done ${id}`,
      takes: 'itself',
    }));
    return end(userId, old, await say(userId, old, { channelId: undefined, text, buttons }));
  }

  /** Says what is due by now. */
  async function remind(userId: string): Promise<void> {
    const due = await reminders.due(userId);
    const latest = clock().getTime() - oldMs;
    const old = due.filter(({ at }) => Date.parse(at) < latest);
    let outcome: Outcome = old.length > 0 ? await sayOld(userId, old) : 'sent';
    for (const each of due)
      if (!old.includes(each) && outcome !== 'withheld') outcome = await sayOne(userId, each);
    // Something has changed meanwhile.
    if (outcome === 'withheld') await remind(userId);
  }

  return { remind };
}

type Outcome = Awaited<ReturnType<ReminderPost['send']>>;

/** Where it was set, unless it comes by direct message anyway. */
function ownChannelOf({ where, place }: Reminder): string | undefined {
  return where === 'dm' || place.audience === 'dm' ? undefined : place.channelId;
}
