import { momentIn } from '../core/moment.ts';
import type { TalkAsker, TalkWish } from '../core/channels.ts';
import { createMinuteBudget } from '../core/limits.ts';
import { defineCommand, type Command } from './command.ts';

/** `/catchup` as data. */
export const catchupDefinition = {
  name: 'catchup',
  description:
    'What you missed in a channel: what was decided, promised and asked, with links; only you see it',
  options: {
    channel: {
      kind: 'word',
      description: '#name or id; this channel by default',
      isOptional: true,
    },
    since: {
      kind: 'text',
      description: 'Such as 2h, yesterday, last week or 5 Jan; your last message there by default',
      isOptional: true,
    },
  },
} as const;

export interface CatchupPorts {
  /** What was said in a channel, for a person who can read it now; what cannot be told is told in a sentence. */
  readonly tell: (wish: TalkWish, asker: TalkAsker) => Promise<string>;
  /** A person's in any minute, since a model is asked [L2]; 0 for no limit. */
  readonly timesPerMinute: number;
  readonly timeZone: string;
  /** Milliseconds, from anywhere. */
  readonly now: () => number;
}

/** `/catchup`, and `!catchup` for everybody to read: what was said in a channel [B4]. Nothing of it is stored. */
export function createCatchupCommand({ tell, timesPerMinute, timeZone, now }: CatchupPorts): Command {
  const minute = createMinuteBudget(timesPerMinute, now);
  return defineCommand(catchupDefinition, {
    async handle(options, { id, speaker, place, ephemeral, isElsewhere, at }) {
      if (isElsewhere === true && options.channel === undefined) return { text: notThere };
      if (timesPerMinute > 0 && !minute.take(speaker.id, 1)) return { text: tooOften };
      const requestTime = new Date(at);
      const text = await tell(ephemeral ? options : wishOf(options, requestTime, timeZone), {
        id: speaker.id,
        name: speaker.name,
        place,
        isForAskerOnly: ephemeral || place.audience === 'dm',
        requestIds: ephemeral ? [] : [id],
        now: requestTime,
      });
      return { text };
    },
  });
}

const notThere =
  'I am not in this channel, so I cannot read it. Name one of a server that I am in, as in `/catchup channel: #general`.';
const tooOften = 'You have asked that too often this minute. Please try again in a moment.';

/** A moment needs no channel before it: `!catchup 2h`, `!catchup dev yesterday`. */
function wishOf(options: TalkWish, now: Date, timeZone: string): TalkWish {
  const { channel, since } = options;
  if (channel === undefined || /^(?:#|<#|\d{15,})/u.test(channel)) return options;
  const words = [channel, since].filter(Boolean).join(' ');
  return momentIn(words, now, timeZone) === undefined ? options : { channel: undefined, since: words };
}
