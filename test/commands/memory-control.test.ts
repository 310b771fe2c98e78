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
