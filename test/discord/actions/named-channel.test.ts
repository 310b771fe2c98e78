import { describe, expect, it } from 'vitest';

import { mention } from '../../../src/core/own-words.ts';
import {
  channelReference,
  namesChannel,
  pointsToChannel,
} from '../../../src/discord/actions/named-channel.ts';

const dev = { id: '200000000000000002', name: 'dev' };
const teamRoom = { id: '200000000000000003', name: 'team-room' };

describe('a message', () => {
  it.each([
    ['post it in #dev', dev],
    ['post it in Dev, please', dev],
    ['post it in <#200000000000000002>', dev],
    [`post it in ${mention('#', 'team-room')}`, teamRoom],
    ['post it in team-room.', teamRoom],
  ])('names a channel: %s', (message, channel) => {
    expect(namesChannel(message, channel)).toBe(true);
  });

  it.each([
    ['the developers know', dev],
    ['use dev-ops for it', dev],
    ['post it\n> in #dev', dev],
    [`tell ${mention('@', 'dev')}`, dev],
    [`tell ${mention('@', 'the dev team')}`, dev],
    ['post it in the team room', teamRoom],
  ])('does not name a channel: %s', (message, channel) => {
    expect(namesChannel(message, channel)).toBe(false);
  });
});

describe('a message points to a channel', () => {
  it.each(['post it in #dev', 'post it in <#200000000000000002>', `post it in ${mention('#', 'dev')}`])(
    'by %s',
    (message) => expect(pointsToChannel(message, dev)).toBe(true),
  );

  it.each([
    'post it in dev',
    'post it\n> in #dev',
    'post it in #dev-ops',
    `tell ${mention('@', '#dev')}`,
    `tell ${mention('@', dev.id)}`,
  ])('not by %s', (message) => expect(pointsToChannel(message, dev)).toBe(false));
});

describe('a channel as the model gives it', () => {
  it.each([
    ['#dev', { name: 'dev' }],
    [' Team-Room ', { name: 'team-room' }],
    [mention('#', 'team-room'), { name: 'team-room' }],
    ['<#200000000000000002>', { id: '200000000000000002' }],
    ['200000000000000002', { id: '200000000000000002' }],
  ])('%s', (reference, expected) => {
    expect(channelReference(reference)).toEqual(expected);
  });
});
