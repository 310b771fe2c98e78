import { describe, expect, it } from 'vitest';

import { aliceId, bobId, publicPlace } from '../support/incoming.ts';
import { createHarness, dmPlace } from './harness.ts';

describe('what is kept [K9]', () => {
  it('is paused and resumed, and `remember` says so instead of storing', async () => {
    const { say, durable } = createHarness();
    expect(await say('pause')).toMatch(/^Paused: from now on I store nothing that you say/u);
    expect(await say('remember I like tea', dmPlace)).toMatch(
      /^Your memory is paused here.*`!memory resume`/u,
    );
    expect(await durable.list(aliceId)).toEqual([]);
    expect(await say('remember I like tea', publicPlace, { speakerId: bobId })).toMatch(/^Remembered/u);
    expect(await say('resume', dmPlace)).toMatch(/^Resumed/u);
    expect(await say('remember I like tea')).toMatch(/^Remembered/u);
    expect(await say('resume')).toMatch(/^Nothing is paused here/u);
  });

  it('is paused in one conversation, and what there is can be seen and forgotten meanwhile', async () => {
    const { say } = createHarness();
    await say('remember I like tea');
    expect(await say('pause here')).toMatch(/^Paused here: this conversation is off the record/u);
    expect(await say('remember I like rum')).toMatch(/^Your memory is paused here/u);
    expect(await say('remember I like rum', dmPlace)).toMatch(/^Remembered/u);
    expect(await say('show')).toMatch(/I like tea[\s\S]*off the record/u);
    expect(await say('forget tea')).toContain('Deprecated 1 item');
    expect(await say('resume')).toMatch(/^This conversation is on the record again/u);
  });

  it('is noticed or not, and shown without a value', async () => {
    const { say } = createHarness();
    expect(await say('mode')).toMatch(/^Mode `auto`/u);
    expect(await say('mode off')).toMatch(/^Mode `off`: I notice nothing/u);
    expect(await say('mode')).toMatch(/^Mode `off`/u);
    expect(await say('remember I like tea')).toMatch(/^Remembered/u);
    expect(await say('show')).toContain('Mode `off`');
    expect(await say('mode', publicPlace, { speakerId: bobId })).toMatch(/^Mode `auto`/u);
    expect(await say('mode auto')).toMatch(/^Mode `auto`/u);
    expect(await say('mode ask')).toMatch(/^Mode `ask`: I ask you before/u);
    expect(await say('show')).toContain('Mode `ask`');
    expect(await say('mode sometimes')).toMatch(/^Write it as `!memory mode \[auto\|ask\|off\]`\./u);
  });

  it('gets notices or not [K6]', async () => {
    const { say } = createHarness();
    expect(await say('notices')).toMatch(/^Notices are on/u);
    expect(await say('notices off')).toMatch(/^Notices are off/u);
    expect(await say('notices')).toMatch(/^Notices are off/u);
  });
});

describe('the privacy text [K12]', () => {
  it('tells what this bot does as it is configured, where the owner wrote nothing', async () => {
    const text = await createHarness().say('privacy');
    for (const part of [
      'What I store',
      'how long',
      'Who can read it',
      "Anthropic's API (sonnet, haiku)",
      '6 hours',
      '50 MB',
    ])
      expect(text).toContain(part);
  });

  it('is the owner’s, with the facts where they want them', async () => {
    const { say, store } = createHarness();
    await store.writeText('workspace/PRIVACY.md', '# Ours $&\n\n{{facts}}\n\nWrite to us.\n');
    const text = await say('privacy');
    expect(text).toMatch(/^# Ours \$&\n\n\*\*What I store[\s\S]*\n\nWrite to us\.$/u);
    await store.writeText('workspace/PRIVACY.md', 'All ours.');
    expect(await say('privacy')).toBe('All ours.');
  });
});

describe('timezone [D7]', () => {
  it('shows the zone by which days count, and sets it by its name in any case', async () => {
    const { say } = createHarness();
    expect(await say('timezone', dmPlace)).toMatch(
      /^Your days count by the time in UTC, the default: it is Thu 2026-01-15 10:00 there\. /u,
    );
    expect(await say('timezone asia/tokyo', dmPlace)).toBe(
      'Your days count by the time in Asia/Tokyo from now on: it is Thu 2026-01-15 19:00 there.',
    );
    expect(await say('timezone', dmPlace)).toMatch(/^Your days count by the time in Asia\/Tokyo: /u);
  });

  it('takes a city and an offset as people write them, and asks where letters are several zones [N5]', async () => {
    const { say, people } = createHarness();
    expect(await say('timezone new york', dmPlace)).toContain('America/New_York from now on');
    expect(await say('timezone UTC+2', dmPlace)).toBe(
      'Your days count by the time in UTC+02:00 from now on: it is Thu 2026-01-15 12:00 there.',
    );
    expect(await say('timezone bst', dmPlace)).toBe(
      [
        '"bst" is what several zones are called. Which is yours?',
        '- `!memory timezone Europe/London`: it is Thu 2026-01-15 10:00 there',
        '- `!memory timezone Asia/Dhaka`: it is Thu 2026-01-15 16:00 there',
      ].join('\n'),
    );
    expect(await people.timeZoneOf('100000000000000001')).toBe('UTC+02:00');
  });

  it.each([['Europe/Berln', 'Europe/Berlin']])(
    'suggests the names that come closest to %s',
    async (written, name) => {
      const { say, people } = createHarness();
      const answer = await say(`timezone ${written}`, dmPlace);
      expect(answer).toMatch(/^I know no time zone ".*"\. Did you mean /u);
      expect(answer).toContain(name);
      expect(await people.timeZoneOf('100000000000000001')).toBe('UTC');
    },
  );
});

const byProxy = { isProxied: true };

describe('a command that a proxy posted [G2a]', () => {
  it('is carried out where it shows or adds', async () => {
    const { say } = createHarness();
    expect(await say('remember I keep bees', undefined, byProxy)).toContain('Remembered: "I keep bees"');
    expect(await say('show', undefined, byProxy)).toContain('I keep bees');
  });

  it('changes and removes nothing, but shows the button that does', async () => {
    const { give, say, durable, idOf } = createHarness();
    await say('remember I keep bees');
    const id = await idOf('I keep bees');
    for (const words of [
      'forget bees',
      `hide ${id}`,
      `edit ${id} I keep hens`,
      'undo',
      'mode off',
      'pause',
    ]) {
      const { text, buttons } = await give(words, undefined, byProxy);
      expect(text).toBe(`Did you ask for this? "!memory ${words}"`);
      expect(buttons).toEqual([{ label: 'Yes, do it', line: `memory ${words}` }]);
    }
    expect(await durable.list(aliceId)).toMatchObject([{ text: 'I keep bees', visibility: 'everywhere' }]);
  });
});
