import { describe, expect, it } from 'vitest';

import { isAllowedAddress } from '../../../src/discord/attachments.ts';

const ownCdn = 'http://127.0.0.1:4000/cdn';

describe('an address that files are fetched from', () => {
  it.each([
    'https://cdn.discordapp.com/attachments/1/2/cat.png?ex=1&is=2&hm=3',
    'https://media.discordapp.net/attachments/1/2/cat.png',
    'https://CDN.discordapp.com:443/x',
  ])('is Discord’s own: %s', (address) => {
    expect(isAllowedAddress(address, undefined)).toBe(true);
  });

  it.each([
    'http://cdn.discordapp.com/attachments/1/2/cat.png',
    'https://cdn.discordapp.com.evil.example/x',
    'https://evil.example/cdn.discordapp.com/x',
    'https://cdn.discordapp.com@evil.example/x',
    'https://user:secret@cdn.discordapp.com/x',
    'http://169.254.169.254/latest/meta-data',
    'http://127.0.0.1:4000/cdn/x',
    'file:///etc/passwd',
  ])('is not on another host: %s', (address) => {
    expect(isAllowedAddress(address, undefined)).toBe(false);
  });

  it('is one below the configured address too', () => {
    expect(isAllowedAddress(`${ownCdn}/attachments/1/2/cat.png`, ownCdn)).toBe(true);
    expect(isAllowedAddress('http://127.0.0.1:4000/attachments/x', 'http://127.0.0.1:4000')).toBe(true);
    expect(isAllowedAddress('https://cdn.discordapp.com/x', ownCdn)).toBe(true);
  });

  it.each([
    'https://127.0.0.1:4000/cdn/x',
    'http://127.0.0.1:4000/cdnx/y',
    'http://127.0.0.1:4000/cdn/%2e%2e/secret',
    'http://127.0.0.1:4000/cdn/..%2fsecret',
    'http://127.0.0.1:4000/cdn/..%5Csecret',
  ])('is not outside it: %s', (address) => {
    expect(isAllowedAddress(address, ownCdn)).toBe(false);
  });
});
