import { describe, expect, it } from 'vitest';

import { openStage } from './stage.ts';

/** The library makes four requests of a try. */
const refused = { kind: 'status', status: 503, times: 12 } as const;

describe.concurrent('while Discord takes nothing for some seconds [G3e]', () => {
  it('an answer and that of a command are sent until they are taken, each once', async () => {
    await using stage = await openStage({ model: () => ({ text: 'The answer.' }) });
    const { sandbox } = stage;
    const route = 'POST /channels/*/messages';
    await sandbox.setFault({ ...refused, route });
    expect(await stage.ask('alice', 'general', 'Are you there?')).toMatchObject({
      text: expect.stringContaining('The answer.'),
    });
    await sandbox.setFault({ ...refused, route });
    const told = await stage.ask('alice', 'general', '!memory remember I keep bees');
    expect(told.text).toContain('Remembered: "I keep bees"');
    const own = await sandbox.messages({ in: 'general', from: 'bot' });
    expect(own.map(({ text }) => text.split('\n')[0])).toEqual([
      'The answer.',
      expect.stringContaining('Remembered'),
    ]);
  });

  it.each(['!memory show', 'What do I keep?'])(
    'what %s gets is kept back once more people can read the channel [V2]',
    async (asked) => {
      await using stage = await openStage({ model: () => ({ text: 'You keep bees.' }) });
      const { sandbox, info } = stage;
      const { id: guild } = await sandbox.addGuild({ name: 'club', owner: 'alice', members: ['bob'] });
      const { id: channel } = await sandbox.addChannel({ guild, name: 'den' });
      for (const each of ['alice', info.bot.name])
        await sandbox.setOverwrite({ channel, for: each, allow: ['ViewChannel'] });
      await sandbox.setOverwrite({ channel, for: '@everyone', deny: ['ViewChannel'] });
      await sandbox.delivered();
      await stage.ask('alice', channel, '!memory remember I keep bees');
      const path = `/channels/${channel}/messages`;
      const posts = async (): Promise<number> => (await sandbox.requests({ method: 'POST', path })).length;
      const before = await posts();
      await sandbox.setFault({ ...refused, route: `POST ${path}` });
      const said = await sandbox.say({ as: 'alice', in: channel, text: asked, mentionBot: true });
      await expect.poll(posts).toBeGreaterThan(before);
      await sandbox.setOverwrite({ channel, for: '@everyone', allow: ['ViewChannel'] });
      const answer = await stage.answerTo(said);
      expect(answer.text).toContain('became visible to more people');
    },
  );
});
