import { describe, expect, it } from 'vitest';

import { runGateway } from '../support/gateway-harness.ts';

const typing = { as: 'bob', name: 'memory', subcommand: 'remember', option: 'text' };

describe('completion', () => {
  it('offers what the command offers for what was typed in this place', async () => {
    const { server, handlers, ids } = await runGateway();
    const choices = await server.complete({ ...typing, in: '#general', value: 'te' });
    expect(choices).toEqual([{ name: 'tea · 1a2b', value: '1a2b' }]);
    expect(handlers.completions).toMatchObject([
      {
        name: 'memory',
        subcommand: 'remember',
        option: 'text',
        typed: 'te',
        speaker: { id: ids['bob'] },
        place: { channelId: ids['general'], audience: 'public' },
      },
    ]);
  });

  it('offers nothing to people without access, and tells nobody that they typed', async () => {
    const { server, handlers } = await runGateway({ access: { access: 'allowlist' } });
    expect(await server.complete({ ...typing, in: '#general' })).toEqual([]);
    expect(handlers.completions).toEqual([]);
  });
});

describe('the menu of a message', () => {
  it('hands on the message, and answers for the asker’s eyes only', async () => {
    const { server, handlers, ids } = await runGateway();
    const said = await server.say({ as: 'carol', in: '#general', text: 'I keep bees, @bob' });
    const outcome = await server.menu({ as: 'bob', message: said.id, name: 'Remember this' });
    expect(outcome).toMatchObject({ isEphemeral: true, answer: { text: 'Here you are.' } });
    expect(handlers.menus).toMatchObject([
      {
        id: outcome.id,
        name: 'Remember this',
        speaker: { id: ids['bob'], name: 'bob' },
        place: { channelId: ids['general'] },
        message: { id: said.id, text: 'I keep bees, @bob', author: { id: ids['carol'], kind: 'human' } },
      },
    ]);
  });
});

describe('a button under a command’s answer', () => {
  const asked = { in: '#general', name: 'memory', subcommand: 'show' };
  const buttons = [
    { label: 'Forget tea', line: 'memory forget 1a2b', takes: 'itself' },
    { label: 'Undo', line: 'memory undo 3c4d' },
    { label: 'Keep them' },
    { label: '❔', line: 'memory why 5e6f', takes: 'nothing' },
  ] as const;

  it('gives its command, for its person’s eyes only, and goes; those beside it go where they are over, but for what takes nothing [K6] [K7]', async () => {
    const { server, handlers, ids } = await runGateway();
    handlers.commandButtons = buttons;
    const { answer } = await server.slash({ ...asked, as: 'bob' });
    const message = answer?.id ?? '';
    handlers.commandButtons = undefined;
    const forgotten = await server.click({ as: 'bob', message, label: 'Forget tea' });
    await expect
      .poll(async () => (await server.interaction({ id: forgotten.id })).followUps)
      .toMatchObject([{ isEphemeral: true, text: 'Here you are.' }]);
    expect(forgotten.answer?.components.rows[0]?.buttons.map(({ label }) => label)).toEqual([
      'Undo',
      'Keep them',
      '❔',
    ]);
    expect(handlers.commands.at(-1)).toMatchObject({
      command: { name: 'memory', subcommand: 'forget 1a2b' },
      speaker: { id: ids['bob'] },
      ephemeral: true,
    });
    const undone = await server.click({ as: 'bob', message, label: 'Undo' });
    expect(undone.answer?.components.rows).toMatchObject([{ buttons: [{ label: '❔' }] }]);
  });

  it('whose answer takes the place of one that all can read is answered for all [V2][K3]', async () => {
    const { server, handlers, replies, ids } = await runGateway();
    const next = [{ label: 'Next', line: 'memory review 2', takes: 'answer' }] as const;
    const said = await server.say({ as: 'carol', in: '#general', text: 'hello' });
    await replies.send(said.channelId, 'One', said.id, undefined, {
      personId: ids['bob'] ?? '',
      buttons: next,
    });
    handlers.commandButtons = next;
    const [written] = await server.messages({ in: '#general', from: 'bot' });
    const { answer } = await server.slash({ ...asked, as: 'bob' });
    for (const message of [written?.id ?? '', answer?.id ?? ''])
      await server.click({ as: 'bob', message, label: 'Next' });
    const isForBob = () =>
      handlers.commands.flatMap(({ command, ephemeral }) =>
        command.subcommand === 'review 2' ? [ephemeral] : [],
      );
    await expect.poll(isForBob).toEqual([false, true]);
  });

  it('is refused for people who lost access meanwhile', async () => {
    const { server, handlers, client } = await runGateway();
    handlers.commandButtons = buttons;
    const { answer } = await server.slash({ ...asked, as: 'bob' });
    await client.destroy();
    await runGateway({ server, access: { access: 'allowlist' } });
    const click = await server.click({ as: 'bob', message: answer?.id ?? '', label: 'Undo' });
    expect(click).toMatchObject({ isEphemeral: true, answer: { text: expect.stringContaining('access') } });
  });

  it('stands under the last message of a written answer, and is nobody else’s', async () => {
    const { server, handlers, replies, ids } = await runGateway();
    const said = await server.say({ as: 'bob', in: '#general', text: '!memory forget' });
    const text = 'a line\n'.repeat(400);
    await replies.send(said.channelId, text, said.id, undefined, { personId: ids['bob'] ?? '', buttons });
    const sent = await server.messages({ in: '#general', from: 'bot' });
    expect(sent.map(({ components }) => components.rows.length)).toEqual([0, 1]);
    const pressed = await server.click({ as: 'carol', message: sent.at(-1)?.id ?? '', label: 'Undo' });
    expect(pressed.answer).toMatchObject({
      isEphemeral: true,
      text: expect.stringContaining('Only the person'),
    });
    expect(handlers.commands.filter(({ command }) => command.subcommand.startsWith('undo'))).toEqual([]);
  });
});

describe('a button that opens a form', () => {
  const asked = { in: '#general', name: 'memory', subcommand: 'show' };
  const form = { title: 'Edit', label: 'Text', value: 'Likes tea', maxChars: 20, line: 'memory edit 1a2b' };
  const buttons = [
    { label: 'Edit', line: 'memory proposals 1a2b', opensForm: true },
    { label: 'Edit 2', line: 'memory proposals 3c4d', opensForm: true, takes: 'itself' },
    { label: 'No', line: 'memory decline 1a2b' },
  ] as const;

  async function opened(label: string) {
    const gateway = await runGateway();
    const { server, handlers } = gateway;
    handlers.commandButtons = buttons;
    const { answer } = await server.slash({ ...asked, as: 'bob' });
    handlers.commandButtons = undefined;
    handlers.commandForm = form;
    const message = answer?.id ?? '';
    return { ...gateway, message, clicked: await server.click({ as: 'bob', message, label }) };
  }

  it('shows the present text to its person, and gives the command with what was written', async () => {
    const { server, handlers, ids, message, clicked } = await opened('Edit');
    expect(clicked.modal).toMatchObject({
      title: 'Edit',
      fields: [{ label: 'Text', value: 'Likes tea', maxLength: 20, isRequired: true }],
    });
    expect(handlers.commands.at(-1)?.command.subcommand).toBe('proposals 1a2b');
    const values = { Text: 'Likes green tea' };
    const sent = await server.submit({ as: 'bob', interaction: clicked.id, values, followUps: 1 });
    expect(handlers.commands.at(-1)).toMatchObject({
      command: { name: 'memory', subcommand: 'edit 1a2b Likes green tea' },
      speaker: { id: ids['bob'] },
      ephemeral: true,
    });
    expect(sent.answer).toMatchObject({ id: message, components: { rows: [] } });
    expect(sent.followUps).toMatchObject([{ isEphemeral: true, text: 'Here you are.' }]);
  });
});
