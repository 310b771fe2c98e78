import { describe, expect, it } from 'vitest';

import { GatewaySession, type SessionLink } from '../../../src/sandbox/gateway/gateway-session.ts';

class FakeLink implements SessionLink {
  readonly sent: string[] = [];
  heartbeatRequests = 0;
  send(dispatch: { readonly t: string; readonly s: number }): void {
    this.sent.push(`${dispatch.s} ${dispatch.t}`);
  }
  requestHeartbeat(): void {
    this.heartbeatRequests += 1;
  }
}

function sessionWithEvents(...types: readonly string[]): GatewaySession {
  const session = new GatewaySession('id', 0, { id: 0, count: 1 }, (data) => data);
  for (const type of types) session.dispatch(type, {});
  return session;
}

describe('a gateway session', () => {
  it('is delivered only when the client has seen the last event sent before the question', async () => {
    const session = sessionWithEvents('A', 'B');
    const link = new FakeLink();
    session.attach(link);
    let delivered = false;
    const wait = async (): Promise<void> => {
      await session.delivered(new AbortController().signal);
      delivered = true;
    };
    const waiting = wait();
    session.dispatch('C', {});
    session.acknowledge(1);
    await Promise.resolve();
    expect(delivered).toBe(false);
    await expect.poll(() => link.heartbeatRequests, { interval: 5 }).toBe(2);
    session.acknowledge(2);
    await waiting;
    expect(delivered).toBe(true);
  });

  it('repeats old events at one resume only, and never READY', () => {
    const session = sessionWithEvents('READY', 'A', 'B');
    session.repeatAtResume(9);
    expect(session.takeReplay(3).map(({ t }) => t)).toEqual(['A', 'B']);
    expect(session.takeReplay(3)).toEqual([]);
  });
});
