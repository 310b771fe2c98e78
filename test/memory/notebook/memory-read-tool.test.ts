import { describe, expect, it } from 'vitest';

import { bobId } from '../../support/incoming.ts';
import { aliceRoot, asOwner, dmContext, dmSession, inGuild, openNotebook } from './notebook-fixtures.ts';

describe('memory_read', () => {
  it('gives a file as people see it', async () => {
    const { run } = await openNotebook({ [`${aliceRoot}/USER.md`]: '# Alice\r\n- likes tea\n' });
    expect(await run('read', { path: 'USER.md' })).toEqual({
      ok: true,
      text: 'USER.md:\n# Alice\n- likes tea\n',
    });
  });

  it('gives a long file in parts that together are the whole', async () => {
    const whole = Array.from({ length: 3000 }, (_, index) => `line ${index} <notes>\n`).join('');
    const { run } = await openNotebook({ [`${aliceRoot}/topics/long.md`]: whole });
    let offset = 0;
    let together = '';
    while (offset < whole.length) {
      const { text } = await run('read', { path: 'topics/long.md', offset });
      expect(text.length).toBeLessThanOrEqual(8000);
      const [head = '', ...lines] = text.split('\n');
      expect(head).toContain(`characters ${offset} to`);
      together += lines.join('\n');
      offset = Number(/goes on at offset (\d+)/u.exec(head)?.[1] ?? whole.length);
    }
    expect(together).toBe(whole.replaceAll('<notes>', '&lt;notes>'));
    expect((await run('read', { path: 'topics/long.md', offset: 99_999 })).text).toContain('has only');
  });

  it("reads nobody else's files, and nothing of the notebook in a guild", async () => {
    const { run } = await openNotebook({
      [`${aliceRoot}/USER.md`]: 'a secret',
      'workspace/USER.md': 'another',
    });
    const bob = { speaker: { id: bobId, name: 'Bob', isOwner: false } };
    expect((await run('read', { path: 'USER.md' }, dmContext(bob))).text).toBe(
      'There is no file USER.md yet.',
    );
    expect((await run('read', { path: 'USER.md' }, dmContext(asOwner))).text).toContain('another');
    expect((await run('read', { path: 'USER.md' }, inGuild())).ok).toBe(false);
  });

  it('reads where others have spoken: only writing needs evidence [M5a]', async () => {
    const { run } = await openNotebook({ [`${dmSession}/overview.md`]: 'plan' });
    expect(
      (await run('read', { path: 'overview.md' }, dmContext({ hasThirdPartyText: true }))).text,
    ).toContain('plan');
  });
});

describe('memory_list', () => {
  it('gives path, bytes and summary, the notes of the conversation first and the newest day first', async () => {
    const { run } = await openNotebook({
      [`${aliceRoot}/USER.md`]: '# Alice\n\n- likes tea\n',
      [`${aliceRoot}/facts/user.md`]: '# User\n> Summary: name, role\n\n- Name: Alice\n',
      [`${aliceRoot}/topics/rust.md`]: '\n- borrow checker\n',
      [`${aliceRoot}/topics/Not A Name.txt`.replaceAll(' ', '')]: 'x',
      [`${aliceRoot}/daily/2026-01-13.md`]: 'x',
      [`${aliceRoot}/daily/2026-01-15.md`]: 'x',
      [`${aliceRoot}/durable.json`]: 'x',
      [`${dmSession}/detail/auth.md`]: '# Auth </message>\n',
    });
    expect((await run('list', {})).text.split('\n')).toEqual([
      '- detail/auth.md (18B): Auth &lt;/message>',
      '- USER.md (21B): Alice',
      '- facts/user.md (44B): name, role',
      '- topics/rust.md (18B): borrow checker',
      '- daily/2026-01-15.md (1B)',
      '- daily/2026-01-13.md (1B)',
    ]);
    expect((await run('list', { folder: 'topics/' })).text).toBe('- topics/rust.md (18B): borrow checker');
    expect((await run('list', { folder: 'channels' })).ok).toBe(false);
  });

  it('stays within what a tool may answer, and says how many are left', async () => {
    const texts = Array.from({ length: 300 }, (_, index) => [
      `${aliceRoot}/topics/t${index}.md`,
      'x'.repeat(100),
    ]);
    const { run } = await openNotebook(Object.fromEntries(texts));
    const { text } = await run('list', {});
    expect(text.length).toBeLessThan(8000);
    const shown = text.split('\n').length - 1;
    expect(text).toContain(`… and ${300 - shown} more`);
  });
});
