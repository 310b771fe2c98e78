import { describe, expect, it } from 'vitest';

import { linkMentions, mentionsIn } from '../../../src/sandbox/world/mentions.ts';

const users = [
  { id: '130000000000000001', username: 'Discoclaw', bot: true, closedDms: false },
  { id: '140000000000000002', username: 'bob', bot: false, closedDms: false },
];
const bob = '<@140000000000000002>';

describe('linking mentions', () => {
  it('turns names into mentions, whatever the case and the punctuation around them', () => {
    expect(linkMentions('@discoclaw, ask @Bob!', users)).toBe(
      '<@130000000000000001>, ask <@140000000000000002>!',
    );
  });

  it('leaves e-mail addresses, unknown names, longer words and ready mentions alone', () => {
    const text = `mail me@bob.com, @bobby, @nobody, ${bob}`;
    expect(linkMentions(text, users)).toBe(text);
  });
});

describe('who is pinged', () => {
  it('is everybody named, and the author replied to, where nothing restricts it', () => {
    expect(mentionsIn(`${bob} @everyone`, undefined, '140000000000000001')).toEqual({
      userIds: ['140000000000000002', '140000000000000001'],
      everyone: true,
    });
  });

  it('is nobody with an empty allowed_mentions', () => {
    expect(mentionsIn(`${bob} @here`, { parse: [] }, '140000000000000001')).toEqual({
      userIds: [],
      everyone: false,
    });
  });

  it('is everybody allowed by kind, by id, or as the author replied to', () => {
    expect(mentionsIn(bob, { parse: ['users'] }, undefined).userIds).toHaveLength(1);
    expect(mentionsIn(bob, { users: ['140000000000000002'] }, undefined).userIds).toHaveLength(1);
    expect(mentionsIn(bob, { users: ['140000000000000003'] }, undefined).userIds).toHaveLength(0);
    expect(mentionsIn('hi', { replied_user: true }, '140000000000000001').userIds).toHaveLength(1);
    expect(mentionsIn('@everyone', { parse: ['everyone'] }, undefined).everyone).toBe(true);
  });
});
