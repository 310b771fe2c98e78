import type { CommandReply } from '../core/commands.ts';
import { nearestNames } from '../core/text.ts';
import { localMoment, timeZoneNamed } from '../core/time.ts';
import { brieflyQuoted, counted, linesOf } from './answer-lines.ts';
import type { MemoryCall } from './memory-ports.ts';

/** Shows or sets the person's zone, in which their days count [D7]. */
export async function setTimeZone(call: MemoryCall, written: string | undefined): Promise<CommandReply> {
  const { speaker, work, at, ports } = call;
  const before = await ports.people.timeZoneOf(speaker.id);
  const nowIn = (zone: string): string => `it is ${localMoment(new Date(at), zone)} there`;
  if (written === undefined) {
    const isOwn = (await ports.people.get(speaker.id))?.timeZone !== undefined;
    const whose = isOwn ? '' : ', the default';
    return { text: `Your days count by the time in ${before}${whose}: ${nowIn(before)}. ${howToSet}` };
  }
  const timeZone = timeZoneNamed(written.trim());
  if (timeZone === undefined)
    return {
      text: `I know no time zone ${brieflyQuoted(written)}. Did you mean ${nearestNames(written, Intl.supportedValuesOf('timeZone'))}?`,
    };
  await ports.people.set(work, { timeZone });
  const moved = ports.settings.durableEnabled ? await ports.durable.moveDays(work, before, timeZone) : 0;
  return {
    text: linesOf(
      `Your days count by the time in ${timeZone} from now on: ${nowIn(timeZone)}.`,
      moved > 0 && `${counted(moved, 'item')} moved to another day.`,
    ),
  };
}

const howToSet = '`!memory timezone <name>` sets yours, such as `Europe/Berlin`.';
