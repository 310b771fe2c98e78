import {
  ButtonStyle,
  ComponentType,
  Events,
  MessageFlags,
  TextInputStyle,
  type APIModalInteractionResponseCallbackData,
  type ModalSubmitInteraction,
} from 'discord.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { connectSandbox } from '../../../src/sandbox/control/control-http.ts';
import { modalOf, modalSchema } from '../../../src/sandbox/rest/modal-form.ts';
import { runBot } from '../support/bot-client.ts';

const { Label, ActionRow, TextInput } = ComponentType;
const form: APIModalInteractionResponseCallbackData = {
  custom_id: 'form',
  title: 'Tell me',
  components: [
    {
      type: Label,
      label: 'Name',
      component: {
        type: TextInput,
        custom_id: 'name',
        style: TextInputStyle.Short,
        value: 'Bob',
        max_length: 10,
      },
    },
    {
      type: Label,
      label: 'Story',
      component: {
        type: TextInput,
        custom_id: 'story',
        style: TextInputStyle.Paragraph,
        required: false,
        min_length: 3,
      },
    },
  ],
};

/** A bot with a button that opens a modal, and a command that does. */
async function botWith(
  onSubmit: (interaction: ModalSubmitInteraction) => Promise<unknown>,
  modal: APIModalInteractionResponseCallbackData = form,
) {
  const { client, server } = await runBot();
  const failures: unknown[] = [];
  const failed = (error: unknown) => failures.push(error);
  await client.application.commands.set([{ name: 'form', description: 'A form' }]);
  client.on(Events.InteractionCreate, (interaction) => {
    if (interaction.isButton() || interaction.isChatInputCommand())
      interaction.showModal(modal).catch(failed);
    else if (interaction.isModalSubmit()) onSubmit(interaction).catch(failed);
  });
  const channel = await client.channels.fetch('120000000000000002');
  if (!channel?.isSendable()) throw new Error('No channel to send to');
  const { Button } = ComponentType;
  const button = { type: Button, style: ButtonStyle.Primary, label: 'Open', custom_id: 'open' } as const;
  const { id } = await channel.send({
    content: 'Press',
    components: [{ type: ActionRow, components: [button] }],
  });
  return { server, failures, open: { as: 'bob', message: id, label: 'Open' } };
}

const said = ({ fields }: ModalSubmitInteraction): string =>
  `${fields.getTextInputValue('name')}: ${fields.getTextInputValue('story')}`;

describe('a modal', () => {
  it('is opened by a button, shows what stands in its fields, and comes back with what was written', async () => {
    const { server, open } = await botWith((interaction) => {
      if (!interaction.isFromMessage()) throw new Error('From no message');
      return interaction.update({ content: `${interaction.customId} ${said(interaction)}`, components: [] });
    });
    const { id, modal, answer } = await server.click(open);
    expect(answer).toBeUndefined();
    expect(modal).toEqual({
      title: 'Tell me',
      fields: [
        {
          customId: 'name',
          label: 'Name',
          value: 'Bob',
          style: 'short',
          minLength: 0,
          maxLength: 10,
          isRequired: true,
        },
        {
          customId: 'story',
          label: 'Story',
          value: '',
          style: 'paragraph',
          minLength: 3,
          maxLength: 4000,
          isRequired: false,
        },
      ],
    });
    const remote = connectSandbox(server.url);
    expect(await remote.modals({ as: 'bob' })).toMatchObject([{ interaction: id, title: 'Tell me' }]);
    expect(await remote.modals({ as: 'alice' })).toEqual([]);
    const sent = await remote.submit({ as: 'bob', interaction: id, values: { Story: 'long\nago' } });
    expect(sent.answer).toMatchObject({
      id: open.message,
      text: 'form Bob: long\nago',
      components: { rows: [] },
    });
    expect(await remote.modals({ as: 'bob' })).toEqual([]);
    await expect(remote.submit({ as: 'bob', interaction: id })).rejects.toThrow('was sent off already');
  });

  it('is opened by a command, and answered for the person’s eyes only', async () => {
    const { server } = await botWith(async (interaction) => {
      await interaction.deferReply({ flags: MessageFlags.Ephemeral });
      await interaction.editReply(said(interaction));
      await interaction.followUp({ content: 'Thanks', flags: MessageFlags.Ephemeral });
    });
    const { id } = await server.slash({ as: 'bob', in: 'dm', name: 'form' });
    const sent = await server.submit({
      as: 'bob',
      interaction: id,
      values: { name: 'Robert' },
      followUps: 1,
    });
    expect(sent).toMatchObject({
      isEphemeral: true,
      answer: { text: 'Robert:' },
      followUps: [{ text: 'Thanks' }],
    });
  });

  it('is not sent off where Discord’s client would not let the person', async () => {
    const { server, open } = await botWith((interaction) => interaction.reply('Thanks'));
    const { id: interaction } = await server.click(open);
    const sending = (values: Record<string, string>) => server.submit({ as: 'bob', interaction, values });
    await expect(sending({ name: '' })).rejects.toThrow('Name must be filled in');
    await expect(sending({ name: 'a\nb' })).rejects.toThrow('Name has one line');
    await expect(sending({ name: 'Bartholomew' })).rejects.toThrow('Name takes 0 to 10 characters, not 11');
    await expect(sending({ story: 'x' })).rejects.toThrow('Story takes 3 to 4000 characters, not 1');
    await expect(sending({ age: '7' })).rejects.toThrow('has the fields Name, Story, not age');
    await expect(server.submit({ as: 'alice', interaction })).rejects.toThrow('No modal is open for alice');
    expect((await sending({})).answer?.text).toBe('Thanks');
  });

  it('stays open where the bot lets its three seconds pass', async () => {
    let isSlow = true;
    const { server, open } = await botWith((interaction) =>
      isSlow ? Promise.resolve() : interaction.reply('Thanks'),
    );
    const { id: interaction } = await server.click(open);
    await expect(server.submit({ as: 'bob', interaction })).rejects.toThrow(
      'did not respond to the modal "Tell me" within three seconds',
    );
    isSlow = false;
    expect((await server.submit({ as: 'bob', interaction })).answer?.text).toBe('Thanks');
  });

  it('opens no other modal, and hangs on what Discord would refuse', async () => {
    const { server, open, failures } = await botWith(async (interaction) => {
      // The library has no method for it.
      await interaction.client.rest.post(`/interactions/${interaction.id}/${interaction.token}/callback`, {
        body: { type: 9, data: form },
        auth: false,
      });
    });
    const { id: interaction } = await server.click(open);
    await server.submit({ as: 'bob', interaction, timeoutMs: 50 }).catch(() => undefined);
    await expect.poll(() => failures).toMatchObject([{ code: 50035 }]);
  });
});

describe('what Discord takes as a modal', () => {
  const [named] = form.components;
  it.each([
    ['no title', { ...form, title: '' }],
    ['a title of 46 characters', { ...form, title: 'x'.repeat(46) }],
    ['no fields', { ...form, components: [] }],
    ['six fields', { ...form, components: Array.from({ length: 6 }, () => named) }],
    ['no custom id', { ...form, custom_id: '' }],
    ['a label of 46 characters', { ...form, components: [{ ...named, label: 'x'.repeat(46) }] }],
    [
      'more in a field than it takes',
      {
        ...form,
        components: [
          { ...named, component: { type: 4, custom_id: 'a', style: 1, value: 'ab', max_length: 1 } },
        ],
      },
    ],
  ])('is not %s', (_, data) => {
    expect(modalSchema.safeParse(data).success).toBe(false);
  });

  it('has no two fields with one custom id', () => {
    expect(modalSchema.safeParse({ ...form, components: [named, named] }).success).toBe(false);
  });

  it('comes back with a number of its own for each part, whatever the fields', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 5 }),
        (ids) => {
          const components = ids.map((id) => ({
            type: Label,
            label: 'Name',
            component: { type: TextInput, custom_id: id, style: TextInputStyle.Short },
          }));
          const { fields } = modalOf(modalSchema.parse({ ...form, components }));
          expect(fields.map(({ customId }) => customId)).toEqual(ids);
          expect(new Set(fields.flatMap((field) => field.ids)).size).toBe(2 * ids.length);
        },
      ),
    );
  });
});
