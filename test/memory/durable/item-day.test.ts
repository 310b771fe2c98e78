import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { snowflakeAt } from '../../../src/core/snowflake.ts';
import { unconditional } from '../../../src/core/writes.ts';
import { readDay } from '../../../src/memory/durable/item-day.ts';
import { aliceId, createMemory, dm, item } from './fixtures.ts';

type Row = readonly [text: string, at: string, timeZone: string, day: string | null];

const rows = readFileSync(new URL('days.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line): Row => JSON.parse(line));

/** That have a day which is not found. */
const notFound = new Set(['Em três dias vou para o Porto', 'Om tre dagar börjar jag mitt nya jobb']);

describe('the day that a text speaks of [D7]', () => {
  it.each(rows)('%s (%s, %s) is %s', (text, at, timeZone, day) => {
    const found = readDay(text, new Date(at), timeZone)?.when;
    expect(found).toBe(day === null || notFound.has(text) ? undefined : day);
  });

  it.each([
    'I broke my leg on Friday',
    'I moved to Porto on 15 March',
    'I read the book in three days',
    'We met last Friday',
    'The meeting is next Friday',
    'My exam is on 15 March next year',
    'I will be back a week from Friday',
    'The exam is on 12/11/2026',
    'I like the song "Yesterday"',
    'I love Black Friday',
    'I have an exam in a couple of weeks',
    'In March 3 friends visit me',
    'I fly tomorrow or on Sunday',
    'Ich habe am Freitag bestanden',
    'Ich bin am Morgen müde',
    "J'ai eu mon permis vendredi",
    'Me mudé el 15 de marzo',
    'A segunda vez foi melhor',
    'Ho iniziato venerdì',
    'Ik ben vrijdag begonnen',
    'Jag började på fredag',
    'Aloitin perjantaina',
    'Рабочий день у меня длинный',
    'Я переехал 15 марта',
    '金曜日に引っ越しました',
    '我一周五天上班',
    '几天后我搬家',
    'Con thứ hai của tôi là Mai',
    'انتقلت يوم الجمعة',
  ])('is none where it might be another one: %s', (text) => {
    expect(readDay(text, new Date('2026-11-26T12:00:00Z'), 'Europe/Berlin')).toBeUndefined();
  });

  it.each([
    ['Dentist on 24 April', '2027-04-24'],
    ['Dentist on 24 April at noon', '2027-04-24'],
    ['Do taxes by 31 March', '2027-03-31'],
    ['Let me do a test on 3 May', '2027-05-03'],
    ['Prüfung in Köln am 24. April', '2027-04-24'],
    ['Hammaslääkäri on 24.9.2027', '2027-09-24'],
    // A moment as Discord marks it, in the zone of the person who says it [D8].
    ['Dentist <t:1800000000:F>', '2027-01-15'],
    ['My exam is at <t:1800055800>', '2027-01-16'],
    ['Dentist on <t:1800000000:D>, 15 January 2027', '2027-01-15'],
    ['Dentist <t:1800000000:F> or <t:1800100000:F>', undefined],
    ['Dentist <t:99999999999:F>', undefined],
    // No such month: neither 13 January nor anything else.
    ['Dentist on 2027-13-01', undefined],
    ['Dentist on 2027/13/01', undefined],
    ['Dentist on 2027.14.2', undefined],
  ])('of "%s" is %s', (text, day) => {
    expect(readDay(text, new Date('2026-11-26T12:00:00Z'), 'Europe/Berlin')?.when).toBe(day);
  });
});

function said(at: string) {
  return { place: dm, messageId: snowflakeAt(new Date(at)), type: 'manual' } as const;
}

describe('an item keeps its day [D7]', () => {
  const work = unconditional(aliceId);

  it('counted from its message, and again from a later one that says the same', async () => {
    const { memory } = createMemory();
    const text = 'My driving test is tomorrow';
    await memory.remember(work, { ...said('2026-11-26T12:00:00Z'), text });
    expect(await memory.list(aliceId)).toMatchObject([{ text, when: '2026-11-27' }]);
    await memory.remember(work, { ...said('2026-12-03T12:00:00Z'), text, type: 'summary' });
    expect(await memory.list(aliceId)).toMatchObject([{ text, when: '2026-12-04' }]);
  });

  it('and gets another one, or none, with other words', async () => {
    const { memory } = createMemory();
    const text = 'I got my licence yesterday';
    await memory.remember(work, { ...said('2026-11-26T12:00:00Z'), text });
    const [first] = await memory.list(aliceId);
    expect(first).toMatchObject({ when: '2026-11-25', looksBack: true });
    const edit = (words: string, at: string) =>
      memory.edit(work, first?.id ?? '', words, dm, said(at).messageId);
    await edit('I get my licence tomorrow', '2026-11-30T12:00:00Z');
    const [second] = await memory.list(aliceId);
    expect([second?.when, second?.looksBack]).toEqual(['2026-12-01', undefined]);
    await edit('I have my licence', '2026-11-30T13:00:00Z');
    const [third] = await memory.list(aliceId);
    expect(third?.when).toBeUndefined();
  });

  it('brought by an import, which otherwise reads only what needs no moment', async () => {
    const { memory } = createMemory();
    await memory.rememberAll(work, [
      item({ id: 'a', text: 'I move on 15 March 2027' }),
      item({ id: 'b', text: 'My exam is tomorrow' }),
      item({ id: 'c', text: 'My test is tomorrow', when: '2026-11-27' }),
    ]);
    const days = (await memory.list(aliceId)).map(({ text, when }) => [text, when]);
    expect(Object.fromEntries(days)).toEqual({
      'I move on 15 March 2027': '2027-03-15',
      'My exam is tomorrow': undefined,
      'My test is tomorrow': '2026-11-27',
    });
  });
});
