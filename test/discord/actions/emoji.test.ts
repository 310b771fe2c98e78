import { describe, expect, it } from 'vitest';

import { chooseEmoji, readEmoji, type GuildEmojiFacts } from '../../../src/discord/actions/emoji.ts';

describe('an emoji as the model gives it', () => {
  it.each([
    ['👍', { kind: 'unicode', emoji: '👍' }],
    ['❤', { kind: 'unicode', emoji: '❤️' }],
    [' 👩‍💻 ', { kind: 'unicode', emoji: '👩‍💻' }],
    [':claw:', { kind: 'custom', name: 'claw' }],
    ['<a:claw:300000000000000001>', { kind: 'custom', id: '300000000000000001' }],
    ['👍👍', undefined],
    ['thumbs up', undefined],
    ['', undefined],
  ])('%j', (text, expected) => {
    expect(readEmoji(text)).toEqual(expected);
  });
});

describe('an emoji of a server', () => {
  const claw: GuildEmojiFacts = { id: '1', name: 'claw', isAnimated: false, isAvailable: true, roleIds: [] };
  const crew: GuildEmojiFacts = { ...claw, id: '2', name: 'crew', roleIds: ['role'] };
  const lost: GuildEmojiFacts = { ...claw, id: '3', name: 'lost', isAvailable: false };
  const emojis = [claw, crew, lost];
  const inRole = new Set(['role', 'other']);

  it('is found by name or id', () => {
    expect(chooseEmoji({ name: 'claw' }, emojis, [])).toBe(claw);
    expect(chooseEmoji({ name: 'Claw' }, emojis, [])).toBe(claw);
    expect(chooseEmoji({ id: '1' }, emojis, [])).toBe(claw);
    expect(chooseEmoji({ id: '9' }, emojis, [])).toBeUndefined();
  });

  it('is not used where Discord took it away, or where one of the two lacks the role that it asks for', () => {
    expect(chooseEmoji({ name: 'lost' }, emojis, [])).toBeUndefined();
    expect(chooseEmoji({ name: 'crew' }, emojis, [inRole, inRole])).toBe(crew);
    expect(chooseEmoji({ name: 'crew' }, emojis, [inRole, new Set()])).toBeUndefined();
  });
});
