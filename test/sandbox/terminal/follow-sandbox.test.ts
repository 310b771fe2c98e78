import { MessageFlags, type ChatInputCommandInteraction } from 'discord.js';
import { expect, it, onTestFinished } from 'vitest';

import { followSandbox, type ChatEvent } from '../../../src/sandbox/terminal/chat-events.ts';
import { runBot, type RunningBot } from '../support/bot-client.ts';

async function follow(): Promise<RunningBot & { readonly told: () => readonly string[] }> {
  const bot = await runBot();
  const events: ChatEvent[] = [];
  const { bot: self } = await bot.server.info();
  onTestFinished(
    followSandbox({ sandbox: bot.server, botId: self.id, onEvent: (event) => events.push(event) }),
  );
  return { ...bot, told: () => events.map(titleOf) };
}

function titleOf(event: ChatEvent): string {
  const words = 'message' in event ? ` ${event.message.text}` : '';
  const isEdited = event.kind === 'said' && event.isCorrection ? ' (edited)' : '';
  const isPrivate = 'onlyFor' in event ? ' (for one)' : '';
  return `${event.kind}${words}${isEdited}${isPrivate}`;
}

it('tells of changes and deletions of people, not of what they say', async () => {
  const { server, told } = await follow();
  const said = await Promise.all(['a', 'b', 'c'].map((text) => server.say({ as: 'bob', in: '#dev', text })));
  const [first, ...rest] = said.map(({ id }) => id);
  await server.edit({ message: first ?? '', text: 'A' });
  await server.delete({ message: first ?? '' });
  await server.bulkDelete({ messages: rest });
  expect(told()).toEqual(['said A (edited)', 'deleted A', 'deleted b', 'deleted c']);
});

it('tells of an answer when it has words: not when it is announced, nor when that is taken back', async () => {
  const { server, client, told } = await follow();
  await client.application.commands.set([{ name: 'go', description: 'Go' }]);
  client.on('interactionCreate', (interaction) => {
    if (interaction.isChatInputCommand()) running.push(scenes.shift()?.(interaction) ?? Promise.resolve());
  });
  const running: Promise<unknown>[] = [];
  const scenes = [
    async (interaction: ChatInputCommandInteraction) => {
      await interaction.deferReply();
      await interaction.editReply('done');
    },
    async (interaction: ChatInputCommandInteraction) => {
      await interaction.deferReply({ flags: MessageFlags.Ephemeral });
      await interaction.editReply('psst');
      await interaction.deleteReply();
    },
    async (interaction: ChatInputCommandInteraction) => {
      await interaction.deferReply();
      await interaction.deleteReply();
    },
  ];
  for (let count = 1; count <= 3; count += 1) {
    await server.slash({ as: 'bob', in: '#dev', name: 'go' });
    await Promise.all(running);
  }
  expect(told()).toEqual(['said done', 'said psst (for one)', 'deleted psst (for one)']);
});

it('leaves out notes of Discord’s own, and tells itself what they are about', async () => {
  const { server, told } = await follow();
  const { id } = await server.say({ as: 'alice', in: '#dev', text: 'a' });
  await server.pin({ as: 'alice', message: id });
  await server.addThread({ channel: '#dev', name: 'talk', as: 'alice' });
  await server.unpin({ as: 'alice', message: id });
  expect(told()).toEqual(['pinned a', 'thread', 'unpinned a']);
});
