import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';

import { itemId } from '../../../src/memory/durable/item-id.ts';

const free = (): boolean => false;

it('is the first 8 hex digits of the SHA-256 of the normalised text', () => {
  const digest = createHash('sha256').update('prefers rust').digest('hex');
  expect(itemId('  Prefers\n RUST ', free)).toBe(digest.slice(0, 8));
});

it('is another one, always the same, where the first is taken', () => {
  const first = itemId('Prefers Rust', free);
  const second = itemId('Prefers Rust', (id) => id === first);
  expect(second).toMatch(/^[0-9a-f]{8}$/);
  expect(second).not.toBe(first);
  expect(itemId('prefers rust', (id) => id === first)).toBe(second);
  expect([first, second]).not.toContain(itemId('Prefers Rust', (id) => id === first || id === second));
});
