import { afterAll, describe, expect, it } from 'vitest';

import type { InteractionView, MessageView } from '../../src/sandbox/people/views.ts';
import { labelsOf } from './footers.ts';
import { command, idIn } from './memory-talk.ts';
import { openStage } from './stage.ts';

const stage = await openStage({ model: () => ({ text: 'Understood.' }) });

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** A person before their panel, who presses what stands on it. */
async function openPanel(as: string, place: string) {
  const opened = await stage.sandbox.slash({ as, in: place, name: 'memory', subcommand: 'panel' });
  expect(opened.isEphemeral).toBe(true);
  const id = opened.answer?.id ?? '';
  let panel = opened.answer;

  function seen({ answer }: InteractionView): string {
    expect(answer?.id).toBe(id);
    panel = answer;
    return answer?.text ?? '';
  }

  return {
    id,
    get text(): string {
      return panel?.text ?? '';
    },
    get labels(): readonly string[] {
      return labelsOf(panel);
    },
    press: async (label: string) => seen(await stage.sandbox.click({ as, message: id, label })),
    async choose(placeholder: string, label: string) {
      const select = selectOf(panel, placeholder);
      const option = select?.options.find((each) => each.label.includes(label));
      const values = [option?.value ?? `nothing says ${label}`];
      return seen(await stage.sandbox.click({ as, message: id, customId: select?.customId ?? '', values }));
    },
    /** Sends off the window that a button has opened. */
    send: async (interaction: string, words: string) =>
      seen(await stage.sandbox.submit({ as, interaction, values: { 'What I remember': words } })),
  };
}

function selectOf(message: MessageView | undefined, placeholder: string) {
  return message?.components.rows
    .map(({ select }) => select)
    .find((each) => each?.placeholder === placeholder);
}

const choose = 'Choose an item';

describe('the panel [K8]', () => {
  it('does everything by mouse, over a start', async () => {
    const tea = 'Likes tea';
    await command(stage, '/memory', 'bob', '#secret', `remember ${tea}`);
    const panel = await openPanel('bob', '#secret');
    expect(panel.text).toContain(`${tea} · here`);
    expect(panel.labels).not.toContain('✏️ Edit');

    const picked = await panel.choose(choose, tea);
    const id = idIn(picked);
    expect(picked).toContain(`· id ${id} · here`);
    expect(await panel.press('📌 Pin')).toMatch(new RegExp(`^Pinned: "${tea}" · id ${id}`, 'u'));
    expect(panel.text).toContain(`▸ 1. ${tea} · here 📌`);
    expect(await panel.press('Unpin')).toMatch(/^No longer pinned/u);
    expect(await panel.press('❔ Why')).toContain('How: you told me to remember it');
    expect(await panel.press('🌐 Share')).toMatch(/^Shared: .* · everywhere/u);
    expect(await panel.press('🔒 Hide')).toMatch(/^Hidden: .* · dm/u);
    // Also what is for the DM alone can be changed here: its person alone sees it.
    const opened = await stage.sandbox.click({ as: 'bob', message: panel.id, label: '✏️ Edit' });
    expect(opened.modal?.fields[0]?.value).toBe(tea);
    await stage.restart();
    expect(await panel.send(opened.id, `${tea}, black`)).toMatch(new RegExp(`^Edited: "${tea}, black"`, 'u'));
    expect(await panel.press('🗑️ Forget')).toMatch(/^Deprecated 1 item matching/u);
    expect(panel.labels).not.toContain('✏️ Edit');
    expect(panel.text).not.toContain(`1. ${tea}`);
    expect(await panel.press('↩️ Undo')).toMatch(/^Undone: the `forget`/u);
    expect(panel.text).toContain(`1. ${tea}, black`);

    expect(await panel.choose('Mode', 'ask')).toMatch(/^Mode `ask`/u);
    expect(await panel.choose('Mode', 'auto')).toMatch(/^Mode `auto`/u);
    expect(await panel.press('Pause here')).toMatch(/^Paused here/u);
    expect(panel.text).toContain('⏸️ Paused here.');
    expect(await panel.press('▶️ Resume')).toContain('on the record again');
    expect(await panel.press('⏸️ Pause')).toMatch(/^Paused: /u);
    const remember = async (words: string) =>
      panel.send(
        (await stage.sandbox.click({ as: 'bob', message: panel.id, label: '➕ Remember' })).id,
        words,
      );
    expect(await remember('Likes milk')).toContain('memory is paused here');
    expect(await panel.press('▶️ Resume')).toMatch(/^Resumed/u);
    expect(await remember('Likes milk')).toContain('Likes milk · here');
    expect(await panel.press('📦 Export')).toContain('as a direct message');
  });
});
