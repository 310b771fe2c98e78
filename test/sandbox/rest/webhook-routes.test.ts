import { Events, MessageFlags, Routes, type ChatInputCommandInteraction } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { runBot, type RunningBot } from '../support/bot-client.ts';

const call = { as: 'bob', in: '#dev', name: 'go' };

async function botAnswering(
  answer: (interaction: ChatInputCommandInteraction) => Promise<unknown>,
): Promise<RunningBot & { readonly failures: unknown[] }> {
  const bot = await runBot();
  const failures: unknown[] = [];
  await bot.client.application.commands.set([{ name: 'go', description: 'Go' }]);
  bot.client.on(Events.InteractionCreate, (interaction) => {
    if (interaction.isChatInputCommand()) answer(interaction).catch((error: unknown) => failures.push(error));
  });
  return { ...bot, failures };
}

describe('a follow-up', () => {
  it('replies to the first answer, and is edited by its id', async () => {
    const { server } = await botAnswering(async (interaction) => {
      await interaction.reply('one');
      const kept = await interaction.followUp('two');
      await interaction.editReply({ message: kept.id, content: 'two and a half' });
      await interaction.editReply('done');
    });
    const { id, answer } = await server.slash({ ...call, followUps: 1 });
    await expect.poll(async () => (await server.interaction({ id })).answer?.text).toBe('done');
    expect((await server.messages({ in: '#dev' })).map(({ text, replyTo }) => [text, replyTo])).toEqual([
      ['done', undefined],
      ['two and a half', answer?.id],
    ]);
    expect((await server.interaction({ id })).followUps).toMatchObject([{ text: 'two and a half' }]);
  });

  it('may be for the asker alone where the first answer is for all, and the other way round', async () => {
    const { server } = await botAnswering(async (interaction) => {
      await interaction.reply({ content: 'for all' });
      await interaction.followUp({ content: 'for one', flags: MessageFlags.Ephemeral });
    });
    const outcome = await server.slash({ ...call, followUps: 1 });
    expect(outcome).toMatchObject({ isEphemeral: false, followUps: [{ isEphemeral: true }] });
    expect((await server.messages({ in: '#dev' })).map(({ text }) => text)).toEqual(['for all']);
  });

  it('is not taken before the first answer', async () => {
    const { server, client, failures } = await botAnswering(async ({ token }) => {
      const route = Routes.webhook(client.application.id, token);
      await client.rest.post(route, { body: { content: 'too early' }, auth: false });
    });
    const slash = server.slash({ ...call, timeoutMs: 100 });
    await expect(slash).rejects.toThrow('in vain');
    await expect.poll(() => failures).toMatchObject([{ code: 10_015 }]);
  });
});

describe('a deferred answer', () => {
  it('stays for those who were to see it when it was deferred, whatever fills it', async () => {
    const { server } = await botAnswering(async (interaction) => {
      await interaction.deferReply({ flags: MessageFlags.Ephemeral });
      await interaction.followUp({ content: 'still for one' });
    });
    expect(await server.slash(call)).toMatchObject({
      isEphemeral: true,
      answer: { text: 'still for one', isEphemeral: true },
      followUps: [],
    });
    expect(await server.messages({ in: '#dev' })).toEqual([]);
  });

  it('counts as edited only when it is changed after it was filled', async () => {
    const { server } = await botAnswering(async (interaction) => {
      await interaction.deferReply();
      await interaction.editReply('first');
      if (interaction.user.username === 'carol') await interaction.editReply('second');
    });
    expect((await server.slash(call)).answer?.editedAt).toBeUndefined();
    const { id } = await server.slash({ ...call, as: 'carol' });
    await expect.poll(async () => (await server.interaction({ id })).answer?.text).toBe('second');
    expect((await server.interaction({ id })).answer?.editedAt).toBeDefined();
  });

  it('is refused as empty when filled with nothing', async () => {
    const { server, failures } = await botAnswering(async (interaction) => {
      await interaction.deferReply();
      await interaction.editReply('');
    });
    await expect(server.slash({ ...call, timeoutMs: 100 })).rejects.toThrow('in vain');
    await expect.poll(() => failures).toMatchObject([{ code: 50_006 }]);
  });
});

describe('an answer', () => {
  it('gets a file when it is edited, which can be downloaded though nobody else sees it', async () => {
    const downloads: string[] = [];
    const { server } = await botAnswering(async (interaction) => {
      await interaction.deferReply({ flags: MessageFlags.Ephemeral });
      const files = [{ name: 'all.txt', attachment: Buffer.from('everything') }];
      const message = await interaction.editReply({ content: 'here', files });
      const response = await fetch(message.attachments.first()?.url ?? '');
      downloads.push(await response.text());
    });
    const { answer } = await server.slash(call);
    expect(answer).toMatchObject({ text: 'here', attachments: [{ name: 'all.txt', bytes: 10 }] });
    await expect.poll(() => downloads).toEqual(['everything']);
  });

  it('that a moderator deleted is unknown', async () => {
    const { server, client, failures } = await botAnswering(async (interaction) => {
      await interaction.reply('one');
      const gone = new Promise((resolve) => client.once(Events.MessageDelete, resolve));
      await server.delete({ message: (await server.messages({ in: '#dev' }))[0]?.id ?? '' });
      await gone;
      await interaction.editReply('two');
    });
    await server.slash(call);
    await expect.poll(() => failures).toMatchObject([{ code: 10_008 }]);
  });
});
