import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect } from 'vitest';

import { snowflakeTime } from '../../src/core/snowflake.ts';
import { chanceOf } from '../support/chance.ts';
import { startChild, type Child } from '../e2e/child.ts';
import { openStage, type Stage } from '../e2e/stage.ts';

const ofEach = 10;
/** Milliseconds between the first and the last that is due, for each person: as fast as Discord takes messages. */
const spreadMs = 400;
/** Until the first is due, so that the bot has looked through everybody and was idle for a while. */
const aheadMs = 210_000;
const idleMs = 60_000;
/** Before the others, so many come one at a time, to an idle bot; milliseconds between. */
const quiet = { count: 10, everyMs: 3000, untilMs: 10_000 };
const killEveryMs = 20_000;

interface Reminder {
  readonly id: string;
  readonly text: string;
  readonly at: string;
  readonly place: { readonly audience: string };
  readonly [more: string]: unknown;
}

/** Of one person, at random moments, half of them in #general. */
function remindersOf(
  number: number,
  place: { readonly audience: string },
  first: number,
  people: number,
  chance: () => number,
): readonly Reminder[] {
  return Array.from({ length: ofEach }, (_, index) => {
    const isQuiet = index === 0 && number < quiet.count;
    const moment = isQuiet
      ? first - quiet.untilMs - number * quiet.everyMs
      : first + chance() * people * spreadMs;
    const at = new Date(moment).toISOString();
    return {
      id: `${number}x${index}`,
      text: `mark ${number}x${index}.`,
      at,
      first: at.replace('Z', ''),
      place: index % 2 === 0 ? place : { ...place, audience: 'dm' },
      messageId: '400000000000000001',
    };
  });
}

/**
 * So many people with ten reminders each; while they come, a process is killed or loses its connection every twenty seconds. Each comes once, where it was
 * set, and not before its time. With two processes they share a database and have two shards each.
 */
export async function killWhileReminding(people: number, seed: number, processes: 1 | 2): Promise<void> {
  const chance = chanceOf(seed);
  const shared = { DISCOCLAW_SHARDS: '4', DISCOCLAW_SHARD_IDS: '0-1' };
  await using stage = await openStage({
    isBuilt: true,
    ...(processes === 2 && { shards: 4, environment: shared }),
  });
  const { sandbox, info } = stage;
  await stage.stopBot();
  const channelId = info.channels['general'] ?? '';
  const guildId = Object.values(info.guilds)[0];
  const place = {
    audience: 'public',
    channelId,
    homeId: channelId,
    guildId,
    readers: ['@everyone'],
    channelName: 'general',
  };
  const ids: string[] = [];
  for (let number = 0; number < people; number += 1) ids.push((await stage.newcomer()).id);
  const idleBefore = await cpuShareOf(stage, idleMs);
  await stage.stopBot();
  // A database takes longer to be filled.
  const first = Date.now() + aheadMs + people * (processes === 1 ? 30 : 500);
  const all = new Map<string, Reminder>();
  for (const [number, id] of ids.entries()) {
    const reminders = remindersOf(number, place, first, people, chance);
    for (const each of reminders) all.set(each.text, each);
    await stage.writeFile(`data/users/${id}/reminders.json`, JSON.stringify({ version: 1, reminders }));
  }
  const idleWith = await cpuShareOf(stage, idleMs);
  const others: Child[] = processes === 2 ? [await startOther(stage)] : [];
  try {
    let kills = 0;
    let drops = 0;
    await sleep(Math.max(0, first - Date.now()));
    while (Date.now() < first + people * spreadMs) {
      await sleep(killEveryMs * (0.5 + chance()));
      if (chance() < 0.3) {
        await sandbox.dropConnection();
        drops += 1;
      } else if (processes === 2 && chance() < 0.5) {
        await others.at(-1)?.end('SIGKILL');
        others.push(await startOther(stage));
      } else {
        await stage.killBot();
        await stage.startBot();
      }
      kills += 1;
    }
    const found = async () => {
      const dms = await Promise.all(ids.map(async (id) => (await sandbox.openDm({ person: id })).id));
      const messages = await Promise.all(
        [channelId, ...dms].map((each) => sandbox.messages({ in: each, from: 'bot' })),
      );
      return messages.flat().flatMap(({ id, channelId: at, text }) =>
        (text.match(/mark \d+x\d+\./gu) ?? []).map((mark) => ({
          mark,
          at,
          posted: snowflakeTime(id).getTime(),
        })),
      );
    };
    // Until all have come, or none does any more; and long enough for a second one to show itself.
    for (let count = -1, more = (await found()).length; count < more && more < all.size;) {
      count = more;
      await sleep(60_000);
      more = (await found()).length;
    }
    await sleep(5000);
    const came = await found();
    const counts = new Map<string, number>();
    for (const { mark } of came) counts.set(mark, (counts.get(mark) ?? 0) + 1);
    const dueAt = (mark: string): number => Date.parse(all.get(mark)?.at ?? '');
    const lateOf = (some: typeof came) =>
      some.map(({ mark, posted }) => posted - dueAt(mark)).toSorted((a, b) => a - b);
    const late = lateOf(came);
    const lateWhenIdle = lateOf(came.filter(({ mark }) => dueAt(mark) < first));
    const share = (part: number, of = late): number => (of[Math.floor((of.length - 1) * part)] ?? 0) / 1000;
    const early = late.filter((ms) => ms < 0);
    const [lost, twice] = [
      [...all.keys()].filter((mark) => !counts.has(mark)),
      [...counts].filter(([, count]) => count > 1),
    ];
    process.stdout.write(
      `${all.size} reminders of ${people} people, ${processes} processes, ${kills - drops} kills, ${drops} lost connections: ` +
        `${lost.length} lost, ${twice.length} twice, ${early.length} early; late by ${share(0.5, lateWhenIdle)} s (median), ${share(1, lateWhenIdle)} s while it is idle, by ${share(0.5)} s (median), ${share(0.95)} s (95 %), ${share(1)} s; idle CPU ${idleBefore} % without, ${idleWith} % with them waiting\n`,
    );
    expect({ lost, twice, early }).toEqual({ lost: [], twice: [], early: [] });
    const elsewhere = came.filter(
      ({ mark, at }) => (at === channelId) !== (all.get(mark)?.place.audience === 'public'),
    );
    // The process that has a person's reminders may not be the one that has the server: then it comes by direct message.
    if (processes === 1) expect(elsewhere).toEqual([]);
  } finally {
    await others.at(-1)?.end('SIGKILL');
  }
}

/** Of one core, in percent, while nothing happens. */
async function cpuShareOf(stage: Stage, ms: number): Promise<number> {
  const { pid } = await stage.startBot();
  // What a start does is over.
  await sleep(20_000);
  const before = ticksOf(pid);
  await sleep(ms);
  return Math.round(((ticksOf(pid) - before) * 10 * 1000) / ms) / 10;
}

/** Hundredths of a second. */
function ticksOf(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /u, '')
    .split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

async function startOther({ folder, environment }: Stage): Promise<Child> {
  const child = startChild({ folder, environment: { ...environment, DISCOCLAW_SHARD_IDS: '2-3' } });
  await child.waitFor('"the bot is ready"');
  return child;
}
