import { searchForm } from './text.ts';
import { fixedZone } from './time.ts';

/** Letters that people write for zones. What `Intl` makes of three letters is Java's: its `BST` is Dhaka. */
const letters = new Map<string, readonly string[]>(
  `UTC,UTC GMT,UTC CET,Europe/Paris CEST,Europe/Paris EET,Europe/Athens WET,Europe/Lisbon BST,Europe/London,Asia/Dhaka
  IST,Asia/Kolkata,Europe/Dublin,Asia/Jerusalem MSK,Europe/Moscow EST,America/New_York,America/Panama EDT,America/New_York
  CST,America/Chicago,Asia/Shanghai,America/Havana CDT,America/Chicago MST,America/Denver,America/Phoenix
  MDT,America/Denver PST,America/Los_Angeles,Asia/Manila PDT,America/Los_Angeles AST,America/Halifax,Asia/Riyadh
  HST,Pacific/Honolulu SST,Pacific/Pago_Pago,Asia/Singapore GST,Asia/Dubai,Atlantic/South_Georgia JST,Asia/Tokyo
  KST,Asia/Seoul AEST,Australia/Sydney,Australia/Brisbane ACST,Australia/Adelaide,Australia/Darwin`
    .split(/\s+/u)
    .map((entry) => [entry.slice(0, entry.indexOf(',')), entry.split(',').slice(1)]),
);

/** `UTC+2`, `GMT-3:30`, `+0530`: what the clock shows there is that much later than in UTC. */
const offset = /^(?:utc|gmt)?\s*([+\-−–])\s*(\d{1,2}):?(\d{2})?$/iu;
const mostOffsetMinutes = 14 * 60;

/**
 * The zones that may be meant, as people write them: by name in any case, a city of one, an offset, letters. Several
 * where nobody can tell which, none where nothing is known [N5].
 */
export function timeZonesNamed(written: string): readonly string[] {
  const name = written.trim();
  const byLetters = letters.get(name.toUpperCase());
  if (byLetters !== undefined) return byLetters;
  const [, sign, hours, minutes = '0'] = offset.exec(name) ?? [];
  if (sign !== undefined) {
    const ahead = (Number(hours) * 60 + Number(minutes)) * (sign === '+' ? 1 : -1);
    return Math.abs(ahead) > mostOffsetMinutes || Number(minutes) > 59 ? [] : [fixedZone(ahead)];
  }
  // What is left of three letters is Java's.
  if (/^[a-z]{3}$/iu.test(name)) return [];
  const known = knownByIntl(name);
  if (known !== undefined) return [known];
  const city = searchForm(name).replaceAll(/\s+/gu, '_');
  const regions = new Set(
    Intl.supportedValuesOf('timeZone').map((each) => each.slice(0, each.lastIndexOf('/') + 1)),
  );
  return [...new Set([...regions].flatMap((region) => knownByIntl(region + city) ?? []))];
}

/** The one zone that is meant, as `Intl` writes it; `undefined` where there is none, or more than one. */
export function timeZoneNamed(written: string): string | undefined {
  const [zone, ...others] = timeZonesNamed(written);
  return others.length === 0 ? zone : undefined;
}

function knownByIntl(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/**
 * The machine's time zone: the one that `Intl` names, else the offset of now. `TZ=GMT+2` is two hours behind UTC, and
 * `Intl` calls it `GMT+02:00` or `+02:00`.
 */
export function machineTimeZone(now = new Date()): string {
  const named = knownByIntl(new Intl.DateTimeFormat().resolvedOptions().timeZone);
  return named !== undefined && /^[a-z]/iu.test(named) ? named : fixedZone(-now.getTimezoneOffset());
}
