import { ApplicationCommandOptionType, ApplicationCommandType, Routes } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { runBot } from '../support/bot-client.ts';

const text = { type: ApplicationCommandOptionType.String, name: 'text', description: 'a' } as const;
const memory = { name: 'memory', description: 'What is known', options: [text] };
const menu = { name: 'Remember this', type: ApplicationCommandType.Message } as const;

describe('commands that are registered again', () => {
  it('keep their ids where the name stayed, apart for each guild', async () => {
    const { client } = await runBot();
    const { commands } = client.application;
    const guildId = client.guilds.cache.first()?.id ?? '';
    // The client changes its command objects in place, so the ids are taken at once.
    const set = async (description: string): Promise<readonly string[]> =>
      (await commands.set([{ ...memory, description }, menu])).map(({ id }) => id);
    const first = await set('What is known');
    expect(await set('Changed')).toEqual(first);
    const own = await commands.set([memory], guildId);
    expect(own.map(({ id }) => first.includes(id))).toEqual([false]);
    expect((await commands.fetch()).map(({ description }) => description)).toEqual(['Changed', '']);
    expect((await commands.fetch({ guildId })).size).toBe(1);
  });

  it('belong to the bot’s own application and to guilds that it is in', async () => {
    const { client } = await runBot();
    const foreign = client.rest.put(Routes.applicationCommands('1'), { body: [memory] });
    await expect(foreign).rejects.toMatchObject({ code: 10_002 });
    await expect(client.application.commands.set([memory], '1')).rejects.toMatchObject({ code: 10_004 });
  });
});

describe('commands that Discord would not take', () => {
  it('are two with the same name and kind, or one too many, or malformed', async () => {
    const { client } = await runBot();
    const { commands } = client.application;
    await expect(commands.set([memory, memory])).rejects.toMatchObject({ code: 50_035 });
    const menus = Array.from({ length: 16 }, (_, n) => ({ ...menu, name: `Entry ${n}` }));
    await expect(commands.set(menus)).rejects.toMatchObject({ code: 30_032 });
    await commands.set(menus.slice(1));
    await expect(commands.set([{ ...memory, name: 'Memory' }])).rejects.toMatchObject({ code: 50_035 });
  });
});
