import { ApplicationCommandOptionType, ApplicationCommandType, Routes } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { runBot } from '../support/bot-client.ts';

const text = { type: ApplicationCommandOptionType.String, name: 'text', description: 'a' } as const;
const memory = { name: 'memory', description: 'What is known', options: [text] };
const menu = { name: 'Remember this', type: ApplicationCommandType.Message } as const;

describe('commands that are registered again', () => {
  it('keep ids and versions where nothing changed, ids where the name stayed', async () => {
    const { client } = await runBot();
    const { commands } = client.application;
    // The client changes its command objects in place, so the facts are taken at once.
    const set = async (description: string): Promise<readonly { id: string; version: string }[]> => {
      const registered = await commands.set([{ ...memory, description }, menu]);
      return registered.map(({ id, version }) => ({ id, version }));
    };
    const first = await set('What is known');
    expect(await set('What is known')).toEqual(first);
    const changed = await set('Changed');
    expect(changed.map(({ id }) => id)).toEqual(first.map(({ id }) => id));
    expect(changed[0]?.version).not.toBe(first[0]?.version);
    expect(changed[1]?.version).toBe(first[1]?.version);
  });

  it('are created, changed and deleted one by one, apart for each guild', async () => {
    const { client } = await runBot();
    const { commands } = client.application;
    const guildId = client.guilds.cache.first()?.id ?? '';
    const created = await commands.create(memory);
    expect((await commands.create({ ...memory, description: 'Again' })).id).toBe(created.id);
    expect((await commands.create(memory, guildId)).id).not.toBe(created.id);
    const edited = await commands.edit(created.id, { ...memory, name: 'recall' });
    expect(edited).toMatchObject({ id: created.id, name: 'recall', guildId: null });
    expect((await commands.fetch(created.id)).options).toMatchObject([{ name: 'text' }]);
    await commands.delete(created.id);
    expect((await commands.fetch()).size).toBe(0);
    expect((await commands.fetch({ guildId })).size).toBe(1);
    await expect(commands.fetch(created.id)).rejects.toMatchObject({ code: 10_063 });
    await expect(commands.delete(created.id, guildId)).rejects.toMatchObject({ code: 10_063 });
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
    await expect(commands.create({ ...menu, name: 'Another' })).rejects.toMatchObject({ code: 30_032 });
    expect((await commands.create({ ...menu, name: 'Entry 3' })).name).toBe('Entry 3');
    await expect(commands.create({ ...memory, name: 'Memory' })).rejects.toMatchObject({ code: 50_035 });
  });
});
