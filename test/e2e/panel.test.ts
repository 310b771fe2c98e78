import { afterAll, describe, expect, it } from 'vitest';

import type { InteractionView, MessageView } from '../../src/sandbox/people/views.ts';
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
    /** What can be chosen, by the select's placeholder. */
    options: (placeholder: string) => selectOf(panel, placeholder)?.options ?? [],
    press: async (label: string) => seen(await stage.sandbox.click({ as, message: id, label })),
    /** Presses what is answered by a message of its own. */
    async ask(label: string) {
      const { followUps } = await stage.sandbox.click({ as, message: id, label, followUps: 1 });
      return followUps[0];
    },
    async choose(placeholder: string, label: string) {
      const select = selectOf(panel, placeholder);
      const option = select?.options.find((each) => each.label.includes(label));
      const values = [option?.value ?? `nothing says ${label}`];
      return seen(await stage.sandbox.click({ as, message: id, customId: select?.customId ?? '', values }));
    },
    /** Opens the window of a button; sends it off with other words. */
    async write(label: string, words: string) {
      const { id: interaction, modal } = await stage.sandbox.click({ as, message: id, label });
      const stood = modal?.fields[0]?.value;
      const values = { 'What I remember': words };
      return { stood, text: seen(await stage.sandbox.submit({ as, interaction, values })) };
    },
  };
}

function labelsOf(message: MessageView | undefined): readonly string[] {
  return message?.components.rows.flatMap(({ buttons }) => buttons.map(({ label }) => label)) ?? [];
}

function selectOf(message: MessageView | undefined, placeholder: string) {
  return message?.components.rows
    .map(({ select }) => select)
    .find((each) => each?.placeholder === placeholder);
}

const choose = 'Choose an item';
const share = ['🌐 Share', /^Shared: .* · everywhere/u] as const;
const hide = ['🔒 Hide', /^Hidden: .* · dm/u] as const;

describe('the panel [K8]', () => {
  it.each([
    ['#general', 'everywhere', [hide]],
    ['#secret', 'here', [share, hide]],
  ] as const)('in %s does everything by mouse', async (place, visibility, reaches) => {
    const tea = `Likes tea in ${place}`;
    await command(stage, '/memory', 'bob', place, `remember ${tea}`);
    const panel = await openPanel('bob', place);
    expect(panel.text).toContain(`${tea} · ${visibility}`);
    expect(panel.labels).not.toContain('✏️ Edit');

    const picked = await panel.choose(choose, tea);
    const id = idIn(picked);
    expect(picked).toContain(`· id ${id} · ${visibility}`);
    expect(await panel.press('📌 Pin')).toMatch(new RegExp(`^Pinned: "${tea}" · id ${id}`, 'u'));
    expect(panel.text).toContain(`▸ 1. ${tea} · ${visibility} 📌`);
    expect(await panel.press('Unpin')).toMatch(/^No longer pinned/u);
    expect(await panel.press('❔ Why')).toContain('How: you told me to remember it');
    expect(panel.text).toContain('https://discord.com/channels/');

    for (const [label, answer] of reaches) expect(await panel.press(label)).toMatch(answer);
    // Also what is for the DM alone can be changed here: its person alone sees it.
    expect(await panel.press('📌 Pin')).toMatch(/^Pinned: /u);
    const edited = await panel.write('✏️ Edit', `${tea}, black`);
    expect(edited).toEqual({
      stood: tea,
      text: expect.stringMatching(new RegExp(`^Edited: "${tea}, black"`, 'u')),
    });
    expect(await command(stage, '/memory', 'bob', place, `history ${id}`)).toContain(tea);

    expect(await panel.press('🗑️ Forget')).toMatch(/^Deprecated 1 item matching/u);
    expect(panel.labels).not.toContain('✏️ Edit');
    expect(panel.text).not.toContain(`1. ${tea}`);
    expect(await panel.press('↩️ Undo')).toMatch(/^Undone: the `forget`/u);
    expect(panel.text).toContain(`1. ${tea}, black`);
    await panel.choose(choose, tea);
    await panel.press('🗑️ Forget');

    expect(await panel.choose('Mode', 'ask')).toMatch(/^Mode `ask`/u);
    expect(await command(stage, '/memory', 'bob', place, 'mode')).toMatch(/^Mode `ask`/u);
    expect(await panel.choose('Mode', 'auto')).toMatch(/^Mode `auto`/u);
    expect(await panel.press('Pause here')).toMatch(/^Paused here/u);
    expect(panel.text).toContain('⏸️ Paused here.');
    expect(await panel.press('▶️ Resume')).toContain('on the record again');
    expect(await panel.press('⏸️ Pause')).toMatch(/^Paused: /u);
    expect((await panel.write('➕ Remember', 'Likes milk')).text).toContain('memory is paused here');
    expect(await panel.press('▶️ Resume')).toMatch(/^Resumed/u);
    const remembered = await panel.write('➕ Remember', `Likes milk in ${place}`);
    expect(remembered.stood).toBe('');
    expect(remembered.text).toContain(`Likes milk in ${place} · ${visibility}`);
    await panel.press('↩️ Undo');

    const before = (await stage.sandbox.messages({ in: '@bob', from: 'bot' })).length;
    expect(await panel.press('📦 Export')).toContain('as a direct message');
    const sent = (await stage.sandbox.messages({ in: '@bob', from: 'bot' })).slice(before);
    expect(sent.flatMap(({ attachments }) => attachments.map(({ name }) => name))).toEqual([
      expect.stringMatching(/\.zip$/u),
    ]);
  });

  it('goes on over starts: two hundred items, page by page', async () => {
    const { id } = await stage.sandbox.addPerson({ name: 'hank' });
    const items = Array.from({ length: 200 }, (_, index) => ({
      id: `id${index}`,
      text: `Thing ${index}. ${'and so on '.repeat(40)}`,
      visibility: 'everywhere',
      source: { type: 'manual' },
      updatedAt: new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString(),
    }));
    await stage.writeFile(`data/users/${id}/durable.json`, JSON.stringify({ version: 1, items }));
    const panel = await openPanel('hank', '#general');
    const seen: string[] = [];
    for (let page = 1; page <= 20; page += 1) {
      expect(panel.text).toContain(`page ${page} of 20`);
      seen.push(...panel.options(choose).map(({ value }) => value));
      if (page === 10) {
        await stage.stopBot();
        await stage.startBot();
      }
      await panel.press('▶');
    }
    expect(new Set(seen)).toEqual(new Set(items.map((item) => item.id)));
    expect(panel.text).toContain('page 1 of 20');
    expect(await panel.press('◀')).toContain('page 20 of 20');
    await panel.choose(choose, 'Thing 3.');
    const { id: interaction } = await stage.sandbox.click({
      as: 'hank',
      message: panel.id,
      label: '✏️ Edit',
    });
    await stage.stopBot();
    await stage.startBot();
    const values = { 'What I remember': 'Thing three' };
    const edited = await stage.sandbox.submit({ as: 'hank', interaction, values });
    expect(edited.answer?.text).toMatch(/^Edited: "Thing three"/u);
    // It is the newest now, and so on the first page.
    expect(edited.answer?.text).toContain('page 1 of 20');
    expect(await panel.press('🗑️ Forget')).toMatch(/^Deprecated 1 item matching "id3"/u);
    expect(panel.text).toContain('**Your memory: 199 items**');
  });
});
