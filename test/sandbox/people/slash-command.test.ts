import {
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
