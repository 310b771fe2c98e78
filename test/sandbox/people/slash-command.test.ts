import {
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

describe('a menu', () => {
  const keep = { name: 'Remember this', type: ApplicationCommandType.Message } as const;

  it('has only what the bot registered, for messages that the person sees', async () => {
    const { server } = await botAnswering([keep, { name: 'memory', description: 'a' }], () =>
      Promise.resolve(),
    );
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
