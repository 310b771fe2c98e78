import {
  ApplicationCommandOptionType,
  ApplicationCommandType,
  Events,
  InteractionContextType,
  PermissionFlagsBits,
  type ApplicationCommandDataResolvable,
  type Interaction,
} from 'discord.js';
import { describe, expect, it } from 'vitest';

import { runBot, type RunningBot } from '../support/bot-client.ts';

async function botAnswering(
  commands: readonly ApplicationCommandDataResolvable[],
  answer: (interaction: Interaction) => Promise<unknown>,
): Promise<RunningBot & { readonly failures: unknown[] }> {
  const bot = await runBot();
  const failures: unknown[] = [];
  await bot.client.application.commands.set(commands);
  bot.client.on(Events.InteractionCreate, (interaction) => {
    answer(interaction).catch((error: unknown) => failures.push(error));
  });
  return { ...bot, failures };
}

const forget = {
  name: 'memory',
  description: 'What the bot remembers',
  options: [
    {
      type: ApplicationCommandOptionType.Subcommand,
      name: 'forget',
      description: 'Forget an item',
      options: [
        {
          type: ApplicationCommandOptionType.String,
          name: 'item',
          description: 'Which',
          required: true,
          autocomplete: true,
        },
        { type: ApplicationCommandOptionType.String, name: 'why', description: 'Why' },
      ],
    },
  ],
} satisfies ApplicationCommandDataResolvable;

describe('a role as an option', () => {
  const pick = {
    name: 'pick',
    description: 'Picks a role',
    options: [
      { type: ApplicationCommandOptionType.Role, name: 'role', description: 'Which', required: true },
    ],
  } satisfies ApplicationCommandDataResolvable;

  it('is named by a person, and the bot is given what it is', async () => {
    const { server, failures } = await botAnswering([pick], async (interaction) => {
      if (!interaction.isChatInputCommand()) return;
      const role = interaction.options.getRole('role', true);
      await interaction.reply(`${role.name} ${role.id}`);
    });
    const { id } = await server.setRole({ name: 'Verified', permissions: [] });
    const { answer } = await server.slash({
      as: 'alice',
      in: '#dev',
      name: 'pick',
      options: { role: '@Verified' },
    });
    expect(answer?.text).toBe(`Verified ${id}`);
    expect(failures).toEqual([]);
    await expect(
      server.slash({ as: 'alice', in: '#dev', name: 'pick', options: { role: 'Nobody' } }),
    ).rejects.toThrow('There is no role "Nobody"');
  });
});

describe('an option that is being typed', () => {
  const typing = { as: 'bob', in: '#dev', name: 'memory', subcommand: 'forget', option: 'item' };

  it('gets the bot’s choices for what is typed, with the other options as they are', async () => {
    const { server } = await botAnswering([forget], async (interaction) => {
      if (!interaction.isAutocomplete()) return;
      const { name, value } = interaction.options.getFocused(true);
      const words = [interaction.options.getSubcommand(), name, value, interaction.options.getString('why')];
      await interaction.respond([{ name: words.join(' '), value: 'abc' }]);
    });
    expect(await server.complete({ ...typing, value: 'tea', options: { why: 'wrong' } })).toEqual([
      { name: 'forget item tea wrong', value: 'abc' },
    ]);
    const inDm = await server.complete({ ...typing, in: 'dm' });
    expect(inDm).toEqual([{ name: 'forget item  ', value: 'abc' }]);
  });
});

describe('a menu', () => {
  const keep = { name: 'Remember this', type: ApplicationCommandType.Message } as const;

  it('of a message hands over the message, text and files included', async () => {
    const { server } = await botAnswering([keep], async (interaction) => {
      if (!interaction.isMessageContextMenuCommand()) return;
      const { content, author, attachments } = interaction.targetMessage;
      await interaction.reply(`${author.username}: ${content} [${attachments.first()?.name}]`);
    });
    const said = await server.say({
      as: 'carol',
      in: '#dev',
      text: 'I like tea',
      attachments: [{ name: 'tea.txt', text: 'green' }],
    });
    const outcome = await server.menu({ as: 'bob', message: said.id, name: 'Remember this' });
    expect(outcome.answer).toMatchObject({ text: 'carol: I like tea [tea.txt]' });
    const own = await server.menu({ as: 'bob', message: outcome.answer?.id ?? '', name: 'Remember this' });
    expect(own.answer?.text).toContain('Discoclaw: carol: I like tea');
  });

  it('has only what the bot registered, for messages that the person sees', async () => {
    const { server } = await botAnswering([keep, forget], () => Promise.resolve());
    const said = await server.say({ as: 'bob', in: '#secret', text: 'a' });
    const call = { as: 'carol', message: said.id, name: 'Remember this' };
    await expect(server.menu(call)).rejects.toThrow('carol cannot see #secret');
    await expect(server.menu({ ...call, as: 'bob', name: 'memory' })).rejects.toThrow(
      'offers bob no command "memory" here (it has: "Remember this")',
    );
    await server.delete({ message: said.id });
    await expect(server.menu({ ...call, as: 'bob' })).rejects.toThrow('There is no message');
  });
});

describe('a command', () => {
  it('is offered in its contexts only, and to who has the permissions it asks for', async () => {
    const commands = [
      { name: 'guilds', description: 'a', contexts: [InteractionContextType.Guild] },
      { name: 'dms', description: 'a', contexts: [InteractionContextType.BotDM] },
      { name: 'pin', description: 'a', defaultMemberPermissions: PermissionFlagsBits.ManageMessages },
      { name: 'admin', description: 'a', defaultMemberPermissions: 0n },
    ];
    const { server } = await botAnswering(commands, async (interaction) => {
      if (interaction.isChatInputCommand()) await interaction.reply('done');
    });
    const give = async (as: string, place: string, name: string): Promise<string> => {
      const { answer } = await server.slash({ as, in: place, name });
      return answer?.text ?? '';
    };
    expect(await give('carol', '#dev', 'guilds')).toBe('done');
    expect(await give('carol', 'dm', 'dms')).toBe('done');
    await expect(give('carol', 'dm', 'guilds')).rejects.toThrow('offers carol no command /guilds');
    await expect(give('carol', '#dev', 'dms')).rejects.toThrow('offers carol no command /dms');
    await expect(give('carol', '#dev', 'pin')).rejects.toThrow('offers carol no command /pin');
    expect(await give('alice', '#dev', 'pin')).toBe('done');
    await expect(give('carol', '#dev', 'admin')).rejects.toThrow('offers carol no command /admin');
    await server.setRole({ name: 'mods', permissions: ['ManageMessages'], people: ['carol'] });
    expect(await give('carol', '#dev', 'pin')).toBe('done');
    expect(await give('carol', 'dm', 'admin')).toBe('done');
    await server.setOverwrite({ channel: '#dev', for: 'carol', deny: ['UseApplicationCommands'] });
    await expect(give('carol', '#dev', 'pin')).rejects.toThrow('carol lacks UseApplicationCommands in #dev');
  });
});
