import {
  ButtonStyle,
  ComponentType,
  Events,
  MessageFlags,
  type APIActionRowComponent,
  type APIButtonComponent,
  type MessageComponentInteraction,
} from 'discord.js';
import { describe, expect, it } from 'vitest';

import { runBot, type RunningBot } from '../support/bot-client.ts';

const dev = '120000000000000002';

type Row = APIActionRowComponent<APIButtonComponent>;

function button(label: string, id: string, disabled: boolean): APIButtonComponent {
  const { Button } = ComponentType;
  return { type: Button, style: ButtonStyle.Secondary, label, custom_id: id, disabled };
}

function pager(page: number): Row[] {
  const back = button('◀', 'back', page === 1);
  const on = button('▶', 'on', page === 2);
  return [{ type: ComponentType.ActionRow, components: [back, on] }];
}

async function botWith(
  onComponent: (interaction: MessageComponentInteraction) => Promise<unknown>,
): Promise<
  RunningBot & { readonly post: (channelId?: string) => Promise<string>; readonly failures: unknown[] }
> {
  const bot = await runBot();
  const failures: unknown[] = [];
  bot.client.on(Events.InteractionCreate, (interaction) => {
    if (interaction.isMessageComponent())
      onComponent(interaction).catch((error: unknown) => failures.push(error));
  });
  return {
    ...bot,
    failures,
    async post(channelId = dev) {
      const channel = await bot.client.channels.fetch(channelId);
      if (!channel?.isSendable()) throw new Error('No channel to send to');
      return (await channel.send({ content: 'page 1', components: pager(1) })).id;
    },
  };
}

describe('a message for one person alone', () => {
  it('can be clicked by nobody else, and is changed in place', async () => {
    const { server, client } = await botWith(async (interaction) => {
      await interaction.update({ content: 'page 2', components: pager(2) });
    });
    await client.application.commands.set([{ name: 'pages', description: 'Pages' }]);
    client.on(Events.InteractionCreate, (interaction) => {
      if (!interaction.isChatInputCommand()) return;
      void interaction.reply({ content: 'page 1', components: pager(1), flags: MessageFlags.Ephemeral });
    });
    const { answer } = await server.slash({ as: 'bob', in: '#dev', name: 'pages' });
    if (answer === undefined) throw new Error('No answer');
    await expect(server.click({ as: 'alice', message: answer.id, label: '▶' })).rejects.toThrow(
      'alice does not see message',
    );
    const turned = await server.click({ as: 'bob', message: answer.id, label: '▶' });
    expect(turned).toMatchObject({ isEphemeral: true, answer: { id: answer.id, text: 'page 2' } });
    expect(await server.messages({ in: '#dev' })).toEqual([]);
  });
});
