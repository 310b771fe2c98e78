import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { localDate } from '../../src/core/time.ts';
import type { ModelScript } from '../support/model-server.ts';
import { command } from './memory-talk.ts';
import { answeringBy, chatCall, sectionIn } from './model-calls.ts';
import { openStage } from './stage.ts';

const zone = 'Europe/Berlin';
const dayMs = 24 * 60 * 60_000;
const begin = Date.parse('2026-01-01T00:00:00Z');

/** Calls the tool that a message says, once. */
const obedient: ModelScript = ({ messages = [] }) => {
  const last = messages.at(-1)?.content ?? [];
  if (last.some(({ type }) => type === 'tool_result')) return { text: 'Understood.' };
  const text = last.map((block) => block.text ?? '').join('');
  const [, input] = /CALL (\{.*\})/u.exec(text.slice(text.lastIndexOf('<message'))) ?? [];
  return input === undefined
    ? { text: 'Understood.' }
    : { toolUse: [{ name: 'remember_item', input: JSON.parse(input) }] };
};

/** Something said: what it is remembered as, on which day, and what it takes the place of. */
interface Said {
  readonly at: Date;
  readonly text: string;
  readonly when?: string;
  readonly replaces?: string;
}

function written(day: string, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options }).format(new Date(day));
}

function daysAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10);
}

/** By how many days they are ahead, and how that is said. */
const dated: readonly (readonly [days: number, say: (day: string) => string])[] = [
  [1, () => 'tomorrow'],
  [3, () => 'in three days'],
  [5, (day) => `on ${written(day, { weekday: 'long' })}`],
  [20, (day) => `on ${written(day, { day: 'numeric', month: 'long' })}`],
  [2, () => 'the day after tomorrow'],
  [30, (day) => `on ${day}`],
  [45, (day) => `on ${written(day, { day: 'numeric', month: 'long', year: 'numeric' })}`],
  [14, () => 'in two weeks'],
];

const subjects = ['swimming', 'driving', 'piano', 'chess', 'French', 'history', 'biology', 'cooking'];
const events = ['exam', 'lesson', 'match', 'talk', 'party'];
const likings =
  'drink colour film book song city lake tree flower bird fish cheese bread soup cake game sport band poem street museum train bridge island mountain river desk lamp chair shirt'.split(
    ' ',
  );
const values = ['the first one', 'the second one', 'the third one', 'the fourth one'];

/**
 * A year: in each block of twelve, three days apart, three lasting things, four with a day, three that change one of
 * either, and two said once more.
 */
function yearOf(): readonly Said[] {
  const said: Said[] = [];
  const standing = new Map<string, string>();
  const versions = new Map<string, number>();
  const waiting: { name: string; text: string }[] = [];
  const liking = (name: string): string => `My favourite ${name} is ${values[versions.get(name) ?? 0]}`;
  for (let index = 0; index < 120; index += 1) {
    // Half of it is said when it is the next day already for who says it.
    const at = new Date(begin + index * 3 * dayMs + (index % 2 === 0 ? 10 : 23.5) * 60 * 60_000);
    const today = localDate(at, zone);
    const [block, part] = [Math.floor(index / 12), index % 12];
    if (part < 3) {
      const name = likings[block * 3 + part] ?? '';
      standing.set(name, liking(name));
      said.push({ at, text: liking(name) });
    } else if (part < 7) {
      const number = block * 4 + part - 3;
      const [days, say] = dated[number % dated.length] ?? [0, String];
      const when = daysAfter(today, days);
      const name = `${subjects[number % 8]} ${events[Math.floor(number / 8)]}`;
      const text = `My ${name} is ${say(when)}`;
      if (days > 20) waiting.push({ name, text });
      said.push({ at, text, when });
    } else if (part === 9 && waiting.length > 0) {
      const { name, text: replaces } = waiting.shift() ?? { name: '', text: '' };
      const when = daysAfter(today, 40);
      const text = `My ${name} is on ${written(when, { day: 'numeric', month: 'long' })}`;
      said.push({ at, text, when, replaces });
    } else if (part < 10) {
      const name = likings[(block * 2 + part) % ((block + 1) * 3)] ?? '';
      const replaces = liking(name);
      versions.set(name, (versions.get(name) ?? 0) + 1);
      standing.set(name, liking(name));
      said.push({ at, text: liking(name), replaces });
    } else {
      said.push({ at, text: [...standing.values()][(block * 5 + part) % standing.size] ?? '' });
    }
  }
  return said;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: begin });
});

afterEach(() => {
  vi.useRealTimers();
});

// The clock of the built bot, in a process of its own, stands by the machine's.
describe.skipIf(process.env['STAGE'] === 'built')('the day of an item', () => {
  it('is told once with the zone that it was counted by, is counted again by another, and is over the day after', async () => {
    vi.setSystemTime(new Date('2026-11-26T20:00:00Z'));
    await using stage = await openStage({
      environment: { DISCOCLAW_SUMMARY_ENABLED: 'false', DISCOCLAW_TIMEZONE: 'Asia/Tokyo' },
      model: answeringBy({ chat: obedient }),
    });
    const remember = async (text: string): Promise<string> => {
      const { id } = await stage.ask(
        'bob',
        'dm',
        `${text}\n> CALL ${JSON.stringify({ kind: 'fact', quote: text })}`,
      );
      const now = async () =>
        (await stage.sandbox.messages({ in: '@bob' })).find((each) => each.id === id)?.text;
      await expect.poll(now).toContain('💾');
      return (await now()) ?? '';
    };
    expect(await remember('My driving test is tomorrow')).toContain(
      '· 📅 2026-11-28, by the time in Asia/Tokyo; `!memory timezone <name>` sets yours',
    );
    expect(await remember('My piano exam is tomorrow')).not.toContain('📅');
    const say = (words: string) => command(stage, '!memory', 'bob', 'dm', words);
    expect(await say(`timezone ${zone}`)).toContain('2 items moved to another day.');
    expect(await say('show')).toMatch(
      /- \[fact\] My driving test is tomorrow \(src: discord, .*, on 2026-11-27\) · id/u,
    );
    vi.setSystemTime(new Date('2026-11-27T22:59:00Z'));
    expect(sectionIn(await chatCall(stage, 'bob', 'dm', 'Hello'), 'durable_items')).not.toContain('(over)');
    // In the same conversation, at the turn of the day.
    vi.setSystemTime(new Date('2026-11-27T23:01:00Z'));
    expect(sectionIn(await chatCall(stage, 'bob', 'dm', 'Hello'), 'durable_items')).toMatch(
      /^- \[fact\] My driving test is tomorrow \(src: discord, .*, on 2026-11-27\) \(over\)$/mu,
    );
    expect(await say('show')).toMatch(/^Durable memory \(2 items\):\nOver:\n- \[fact\] My piano exam/mu);
  });

  it('at the end of each month of a year a prompt holds all that holds, nothing that was replaced, and marks what is over [D6][D7]', async () => {
    const year = yearOf();
    const texts = year.map(({ text }) => text);
    expect([
      year.filter(({ when, replaces }) => when !== undefined && replaces === undefined).length,
      year.filter(({ replaces }) => replaces !== undefined).length,
      texts.filter((text, index) => texts.indexOf(text) < index).length,
    ]).toEqual([40, 30, 20]);
    await using stage = await openStage({
      environment: {
        DISCOCLAW_SUMMARY_ENABLED: 'false',
        DISCOCLAW_DURABLE_INJECT_MAX_CHARS: '20000',
        DISCOCLAW_MESSAGE_HISTORY_BUDGET: '0',
      },
      model: answeringBy({ chat: obedient }),
    });
    await command(stage, '!memory', 'alice', 'dm', `timezone ${zone}`);
    const holding = new Map<string, string | undefined>();
    const counts = { shown: 0, wanted: 0, right: 0 };
    let said = 0;
    for (let month = 1; month <= 12; month += 1) {
      const end = new Date(Date.UTC(2026, month) - dayMs / 2);
      for (const { at, text, when, replaces } of year.filter(
        (each) => each.at >= new Date() && each.at < end,
      )) {
        vi.setSystemTime(at);
        const call = JSON.stringify({ kind: 'fact', quote: text, replaces });
        await stage.ask('alice', 'dm', `${text}\n> CALL ${call}`);
        if (replaces !== undefined) holding.delete(replaces);
        holding.set(text, when);
        said += 1;
      }
      vi.setSystemTime(end);
      const today = localDate(end, zone);
      const wanted = [...holding].map(
        ([text, when]) =>
          `${text}${when === undefined ? '' : ` on ${when}`}${when && when < today ? ' (over)' : ''}`,
      );
      const told = sectionIn(await chatCall(stage, 'alice', 'dm', 'Hello'), 'durable_items');
      const shown = Array.from(
        told.matchAll(/^- \[fact\] (.*) \(src: discord, updated [\d-]+(?:,( on [\d-]+))?\)( \(over\))?$/gmu),
        ([, text = '', day = '', over = '']) => text + day + over,
      );
      expect(shown).toHaveLength(told.split('\n').filter((line) => line.startsWith('- ')).length);
      expect(shown.findIndex((line) => line.endsWith('(over)'))).toBe(
        shown.length - shown.filter((line) => line.endsWith('(over)')).length,
      );
      counts.shown += shown.length;
      counts.wanted += wanted.length;
      counts.right += shown.filter((line) => wanted.includes(line)).length;
    }
    const [precision, recall] = [counts.right / counts.shown, counts.right / counts.wanted];
    console.log(
      `a year: ${said} things said, precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`,
    );
    expect(said).toBe(120);
    expect(precision).toBeGreaterThanOrEqual(0.98);
    expect(recall).toBeGreaterThanOrEqual(0.98);
  });
});
