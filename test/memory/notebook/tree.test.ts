import { describe, expect, it } from 'vitest';

import { resolvePath, treeParts } from '../../../src/memory/notebook/tree.ts';
import { aliceId, generalId } from '../../support/incoming.ts';
import { aliceRoot, asOwner, dmContext, dmSession, inGuild } from './notebook-fixtures.ts';

function keyOf(path: string, context = dmContext()): string | undefined {
  const resolved = resolvePath(path, context);
  return resolved.outcome === 'file' ? resolved.file.key : undefined;
}

function reasonOf(path: string, context = dmContext()): string {
  const resolved = resolvePath(path, context);
  return resolved.outcome === 'refused' ? resolved.reason : 'not refused';
}

describe('the tree', () => {
  it.each([
    ['overview.md', `${dmSession}/overview.md`],
    ['detail/auth-design.md', `${dmSession}/detail/auth-design.md`],
    ['USER.md', `${aliceRoot}/USER.md`],
    ['facts/user.md', `${aliceRoot}/facts/user.md`],
    ['episodes/2026-01.md', `${aliceRoot}/episodes/2026-01.md`],
    ['topics/кофе.md', `${aliceRoot}/topics/кофе.md`],
    ['daily/2024-02-29.md', `${aliceRoot}/daily/2024-02-29.md`],
  ])('has %s in a direct message', (path, key) => {
    expect(keyOf(path)).toBe(key);
  });

  it('is the workspace for the owner, whose daily logs lie in memory/ [N1]', () => {
    expect(keyOf('USER.md', dmContext(asOwner))).toBe('workspace/USER.md');
    expect(keyOf('facts/user.md', dmContext(asOwner))).toBe('workspace/facts/user.md');
    expect(keyOf('daily/2026-01-15.md', dmContext(asOwner))).toBe('workspace/memory/2026-01-15.md');
    expect(keyOf('overview.md', dmContext(asOwner))).toBe(`${dmSession}/overview.md`);
  });

  it('is only the notes of the conversation outside of direct messages, for the owner too [V3]', () => {
    for (const context of [inGuild(), inGuild('private'), { ...inGuild(), ...asOwner }]) {
      expect(treeParts(context).map(({ part }) => part)).toEqual(['overview.md', 'detail']);
      expect(keyOf('overview.md', context)).toBe(`sessions/${generalId}/${aliceId}/overview.md`);
      expect(keyOf('detail/plan.md', context)).toBe(`sessions/${generalId}/${aliceId}/detail/plan.md`);
      for (const path of ['USER.md', 'MEMORY.md', 'facts/user.md', 'daily/2026-01-15.md'])
        expect(reasonOf(path, context)).toContain('outside a direct message');
    }
  });

  it('orders changes to the workspace together, whichever owner makes them', () => {
    const queueKeys = (['facts/a.md', 'overview.md'] as const).map((path) => {
      const resolved = resolvePath(path, dmContext(asOwner));
      return resolved.outcome === 'file' ? resolved.file.queueKey : undefined;
    });
    expect(queueKeys).toEqual(['workspace', aliceId]);
  });
});

describe('a path that is not in the tree', () => {
  it.each([
    ['', 'empty'],
    ['facts/../../durable.md', '".."'],
    ['/etc/passwd', 'absolute'],
    ['C:/notes.md', 'drive'],
    [String.raw`facts\user.md`, 'backslash'],
    ['facts/user.md\0.txt', 'control character'],
    ['%2e%2e/durable.md', 'encoded'],
    ['facts／user.md', 'look like others'],
    ['facts/us\u200Ber.md', 'invisible'],
    ['facts/usеr.md', 'alphabets'],
    ['facts/User.md', 'lower case'],
    ['facts/user.md.bak', '.md'],
    ['facts/.user.md', 'a name is made of'],
    [`facts/${'x'.repeat(81)}.md`, 'too long'],
    ['facts', 'is a folder'],
    ['facts/', 'empty part'],
    ['facts/a/b.md', 'no folders'],
    ['overview.md/x.md', 'is a file'],
    ['user.md', 'it is written USER.md'],
    ['SOUL.md', 'there is no'],
    ['channels/general.md', 'there is no'],
    ['episodes/2026-13.md', 'by month'],
    ['daily/2026-02-30.md', 'by day'],
  ])('such as %j is refused with the reason', (path, reason) => {
    for (const context of [dmContext(), dmContext(asOwner)])
      expect(reasonOf(path, context)).toContain(reason);
  });
});
