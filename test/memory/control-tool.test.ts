import { describe, expect, it } from 'vitest';

import { plainWrites } from '../support/plain-writes.ts';
import type { TurnContext } from '../../src/core/turn-context.ts';
import { createControlTool } from '../../src/memory/control-tool.ts';
import type { Undoing } from '../../src/memory/durable/undoing.ts';
import { createPersonSettings } from '../../src/memory/settings/person-settings.ts';
import { aliceId, incoming, publicPlace } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { silent } from '../support/sessions.ts';

const signal = new AbortController().signal;
const undoing: Undoing = { what: 'remember', isDone: true };

function turn(text: string): TurnContext {
  return {
    speaker: { id: aliceId, name: 'Alice', isOwner: false },
    place: publicPlace,
    messages: [incoming({ text })],
    now: new Date('2026-01-15T10:00:00Z'),
    hasThirdPartyText: false,
    work: { userId: aliceId },
  };
}

function setUp(undone: Undoing | undefined = undoing) {
  let undos = 0;
  const people = createPersonSettings({
    store: new MemoryStore(),
    writes: plainWrites(),
    clock: () => new Date('2026-01-15T10:00:00Z'),
    logger: silent,
  });
  const tool = createControlTool({
    durable: {
      undo: () => {
        undos += 1;
        return Promise.resolve(undone);
      },
    },
    people,
  });
  return {
    people,
    tool,
    run: (action: string, said: string | TurnContext) =>
      tool.run({ action }, typeof said === 'string' ? turn(said) : said, signal),
    undos: () => undos,
  };
}

describe('memory_control [K13]', () => {
  it('pauses everywhere or here, and ends that, with the button that takes it back', async () => {
    const { run, people } = setUp();
    const { speaker, place } = turn('');
    const session = { userId: speaker.id, channelId: place.channelId };
    expect(await run('pause_here', "Don't remember this.")).toMatchObject({
      ok: true,
      notice: { line: expect.stringContaining('Paused here'), buttons: [{ line: 'memory resume' }] },
    });
    expect(await people.mayStore(session)).toBe(false);
    expect(await people.mayStore({ ...session, channelId: '200000000000000009' })).toBe(true);
    expect(await run('pause', 'stop remembering me')).toMatchObject({ ok: true });
    expect(await people.mayStore({ ...session, channelId: '200000000000000009' })).toBe(false);
    expect(await run('resume', 'you can remember things again')).toMatchObject({
      ok: true,
      notice: { buttons: [{ line: 'memory pause' }] },
    });
    expect(await people.mayStore(session)).toBe(true);
    expect(await run('resume', 'you can remember things again')).toMatchObject({ ok: false });
  });

  it('sets mode and notices', async () => {
    const { run, people } = setUp();
    await run('mode_off', 'Stop noticing things about me');
    await run('notices_off', 'turn off notices');
    expect(await people.get(aliceId)).toMatchObject({ mode: 'off', notices: 'off' });
    expect(await run('mode_ask', 'Ask me before you remember anything.')).toMatchObject({
      notice: { buttons: [{ line: 'memory mode auto' }, { line: 'memory mode off' }] },
    });
    expect(await people.mode(aliceId)).toBe('ask');
    await run('mode_auto', 'start noticing things about me again');
    await run('notices_on', 'turn on notices');
    expect(await people.get(aliceId)).toMatchObject({ mode: 'auto', notices: 'on' });
  });

  it('undoes one change a turn, and says so where there is none or it was changed since', async () => {
    const { run, undos } = setUp();
    const said = turn('undo that');
    expect(await run('undo', said)).toMatchObject({ ok: true, notice: { line: '↩️ Undone: `remember`' } });
    expect(await run('undo', said)).toMatchObject({ ok: false });
    expect(undos()).toBe(1);
    const changed = await setUp({ ...undoing, isDone: false }).run('undo', 'undo that');
    expect(changed).toMatchObject({ ok: false, text: expect.stringContaining('Nothing was undone') });
    expect(changed.notice).toBeUndefined();
  });

  it.each([
    ['export', {}, 'memory export'],
    ['erase', {}, 'memory erase'],
    ['purge', { words: 'my old\njob' }, 'memory purge my old job'],
  ])('does %s by a button only', async (action, more, line) => {
    const { tool } = setUp();
    const asked = await tool.run({ action, ...more }, turn('go on'), signal);
    expect(asked).toMatchObject({ text: expect.stringContaining('button'), notice: { buttons: [{ line }] } });
  });

  it('purges nothing that has no words', async () => {
    expect(await setUp().run('purge', 'erase it')).toMatchObject({ ok: false });
  });

  it.each(['undo', 'pause', 'pause_here', 'resume', 'mode_off', 'notices_off'])(
    'shows a button for %s while others’ words are in view [M5a], and where a proxy posted the message [G2a]',
    async (action) => {
      const { run, people, undos } = setUp();
      await run(action, { ...turn(''), messages: [incoming({ isProxied: true })] });
      expect(await people.get(aliceId)).toBeUndefined();
      const asked = await run(action, { ...turn('what is this?'), hasThirdPartyText: true });
      const line = `memory ${action.replace('_', ' ')}`;
      expect(asked).toMatchObject({ notice: { buttons: [{ line }] } });
      expect(await people.get(aliceId)).toBeUndefined();
      expect(undos()).toBe(0);
    },
  );

  it('does nothing for another bot', async () => {
    const { run } = setUp();
    const said = turn('stop remembering me');
    expect(await run('pause', { ...said, speaker: { ...said.speaker, isBot: true } })).toMatchObject({
      ok: false,
    });
  });
});
