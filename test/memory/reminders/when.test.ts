import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { readMoment } from '../../../src/memory/reminders/when.ts';
import { localDateTime } from '../../../src/core/time.ts';

/** A Thursday, ten o'clock in Berlin. */
const now = new Date('2026-11-26T09:00:00Z');
const zone = 'Europe/Berlin';

function read(words: string): string {
  const moment = readMoment(words, now, zone);
  return typeof moment === 'string' ? moment : localDateTime(moment, zone);
}

describe('when to be reminded, as people say it [RM1]', () => {
  it.each([
    ['in 20 minutes', '2026-11-26 10:20'],
    ['in an hour', '2026-11-26 11:00'],
    ['in half an hour', '2026-11-26 10:30'],
    ['2h', '2026-11-26 12:00'],
    ['90 min', '2026-11-26 11:30'],
    ['in 3 days', '2026-11-29 10:00'],
    ['in two weeks', '2026-12-10 10:00'],
    ['today at 18:30', '2026-11-26 18:30'],
    ['at 5pm', '2026-11-26 17:00'],
    ['5:30 pm', '2026-11-26 17:30'],
    ['tonight at 8', '2026-11-26 20:00'],
    ['tomorrow', '2026-11-27 09:00'],
    ['tomorrow at 9', '2026-11-27 09:00'],
    ['tomorrow at 14:15', '2026-11-27 14:15'],
    ['tomorrow morning', '2026-11-27 09:00'],
    ['tomorrow at noon', '2026-11-27 12:00'],
    ['tomorrow evening', '2026-11-27 18:00'],
    ['on Saturday', '2026-11-28 09:00'],
    ['on Monday at 7:45 am', '2026-11-30 07:45'],
    ['friday at 16:00', '2026-11-27 16:00'],
    ['on 15 March', '2027-03-15 09:00'],
    ['March 15 at 8pm', '2027-03-15 20:00'],
    ['24 December 2027 at 17:00', '2027-12-24 17:00'],
    ['2026-12-24', '2026-12-24 09:00'],
    ['2026-12-24 18:00', '2026-12-24 18:00'],
  ])('English: %s', (words, moment) => {
    expect(read(words)).toBe(moment);
  });

  it.each([
    ['German', 'morgen um 9', '2026-11-27 09:00'],
    ['German', 'in einer Stunde', '2026-11-26 11:00'],
    ['German', 'in 3 Tagen', '2026-11-29 10:00'],
    ['German', 'heute um 18 Uhr', '2026-11-26 18:00'],
    ['German', 'am Montag um 8:30 Uhr', '2026-11-30 08:30'],
    ['German', 'übermorgen', '2026-11-28 09:00'],
    ['German', 'am 15. März', '2027-03-15 09:00'],
    ['French', 'demain à 9h', '2026-11-27 09:00'],
    ['French', 'dans 2 heures', '2026-11-26 12:00'],
    ['French', "aujourd'hui à 18h30", '2026-11-26 18:30'],
    ['French', 'demain', '2026-11-27 09:00'],
    ['French', 'lundi à 14h', '2026-11-30 14:00'],
    ['French', 'le 15 mars', '2027-03-15 09:00'],
    ['Spanish', 'mañana a las 9', '2026-11-27 09:00'],
    ['Spanish', 'en 2 horas', '2026-11-26 12:00'],
    ['Spanish', 'mañana', '2026-11-27 09:00'],
    ['Spanish', 'el lunes a las 18:00', '2026-11-30 18:00'],
    ['Spanish', 'el 15 de marzo', '2027-03-15 09:00'],
    ['Portuguese', 'amanhã às 9h', '2026-11-27 09:00'],
    ['Portuguese', 'amanhã', '2026-11-27 09:00'],
    ['Portuguese', 'em 15 de março', '2027-03-15 09:00'],
    ['Italian', 'domani alle 9', '2026-11-27 09:00'],
    ['Italian', 'tra 2 ore', '2026-11-26 12:00'],
    ['Italian', 'domani', '2026-11-27 09:00'],
    ['Italian', 'il 15 marzo', '2027-03-15 09:00'],
    ['Dutch', 'morgen om 9 uur', '2026-11-27 09:00'],
    ['Dutch', 'over 2 uur', '2026-11-26 12:00'],
    ['Dutch', 'maandag om 14:00', '2026-11-30 14:00'],
    ['Dutch', '15 maart', '2027-03-15 09:00'],
    ['Swedish', 'i morgon', '2026-11-27 09:00'],
    ['Swedish', 'på måndag', '2026-11-30 09:00'],
    ['Swedish', 'den 15 mars', '2027-03-15 09:00'],
    ['Russian', 'завтра в 9:00', '2026-11-27 09:00'],
    ['Russian', 'через 2 часа', '2026-11-26 12:00'],
    ['Russian', 'через 3 дня', '2026-11-29 10:00'],
    ['Russian', 'в понедельник', '2026-11-30 09:00'],
    ['Russian', '15 марта', '2027-03-15 09:00'],
    ['Ukrainian', 'завтра о 9:00', '2026-11-27 09:00'],
    ['Ukrainian', 'через 2 години', '2026-11-26 12:00'],
    ['Japanese', '明日の9時', '2026-11-27 09:00'],
    ['Japanese', '明日', '2026-11-27 09:00'],
    ['Japanese', '12月24日', '2026-12-24 09:00'],
    ['Japanese', '明日の18時30分', '2026-11-27 18:30'],
    ['Chinese', '明天', '2026-11-27 09:00'],
    ['Chinese', '明天上午9点', '2026-11-27 09:00'],
  ])('%s: %s', (_, words, moment) => {
    expect(read(words)).toBe(moment);
  });

  it.each([
    ['a Discord mark', `<t:${Date.parse('2026-12-01T10:00Z') / 1000}:R>`, '2026-12-01 11:00'],
    ['29 February', '29 February 2028', '2028-02-29 09:00'],
    ['an hour that clocks skip: the first moment behind the gap', '2027-03-28 02:30', '2027-03-28 03:00'],
    ['an hour that is there twice: the first', '2027-10-31 02:30', '2027-10-31 02:30'],
    ['with a word around it', 'maybe tomorrow at 9', 'unreadable'],
  ])('%s: %s', (_, words, moment) => {
    expect(read(words)).toBe(moment);
  });
});

it.each([
  ['in 2 hours', 120],
  ['in 90 minutes', 90],
  ['2h', 120],
])('%s is so long also in a night in which the clock of the machine is changed', (words, minutes) => {
  vi.stubEnv('TZ', 'Europe/Berlin');
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const night of ['2026-10-24T22:00Z', '2027-03-27T23:00Z'])
    for (let passed = 0; passed < 5; passed += 0.25) {
      const said = new Date(Date.parse(night) + passed * 3_600_000);
      expect(readMoment(words, said, 'UTC')).toEqual(new Date(said.getTime() + minutes * 60_000));
    }
});

describe('what names no moment, one that is over, or could be two [RM1]', () => {
  it.each([
    ['unreadable', 'later'],
    ['unreadable', 'in a bit'],
    ['unreadable', 'soon'],
    ['unreadable', 'sometime next week'],
    ['unreadable', 'next week'],
    ['unreadable', 'in a few days'],
    ['unreadable', 'June'],
    ['unreadable', 'in May'],
    ['unreadable', 'may'],
    ['unreadable', 'sun'],
    ['unreadable', 'every Friday'],
    ['unreadable', 'on Mondays'],
    ['unreadable', 'from 15:00 to 17:00'],
    ['unreadable', 'Monday to Wednesday'],
    ['unreadable', 'tomorrow or Saturday'],
    ['unreadable', 'when I am home'],
    ['unreadable', 'after lunch'],
    ['unreadable', '30 February'],
    ['unreadable', '31 April 2027'],
    ['unreadable', '2027-13-01'],
    ['unreadable', '42'],
    ['unreadable', ''],
    ['unreadable', 'irgendwann'],
    ['unreadable', 'bald'],
    ['unreadable', 'dans quelques jours'],
    ['unreadable', 'la semana que viene'],
    ['unreadable', 'скоро'],
    ['unreadable', '来週'],
    ['ambiguous', 'at 9'],
    ['ambiguous', 'at 3'],
    ['ambiguous', 'tomorrow at 3'],
    ['ambiguous', 'tomorrow at 4:30'],
    ['ambiguous', 'morgen um 3'],
    ['ambiguous', 'thursday'],
    ['ambiguous', 'next Friday'],
    ['ambiguous', '3/4/2027'],
    ['ambiguous', 'nächsten Freitag'],
    ['unreadable', 'at 12 tomorrow night'],
    ['past', 'yesterday'],
    ['past', 'today at 8:00 am'],
    ['past', '2 hours ago'],
    ['past', '2026-11-25 18:00'],
    ['past', 'gestern um 9'],
    ['past', 'hier'],
    ['past', 'in 5 seconds'],
    ['far', '2040-01-01'],
    ['far', 'in 10 years'],
  ])('%s: %s', (outcome, words) => {
    expect(read(words)).toBe(outcome);
  });
});
