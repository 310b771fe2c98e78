import { vi } from 'vitest';

/** Waits until the assertion holds. For tests that run side by side, where `expect.poll` belongs to whichever test began last. */
export function eventually<T>(assertion: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(assertion, { timeout: 60_000, interval: 50 });
}
