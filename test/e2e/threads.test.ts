import { afterAll, describe, expect, it } from 'vitest';

import { answeringBy, callsOf, chatCall, historyIn, systemIn, toldIn, withoutDate } from './model-calls.ts';
import { openStage } from './stage.ts';

let rooms = 0;

const stage = await openStage({
  environment: { DISCOCLAW_SUMMARY_ENABLED: 'false', DISCOCLAW_REFLECTION_ENABLED: 'false' },
  model: answeringBy({}),
});
afterAll(() => stage[Symbol.asyncDispose]());

/** A channel in which the bot answers those who mention it. */
async function newChannel(forum = false): Promise<{ readonly id: string; readonly name: string }> {
  rooms += 1;
  const name = `${forum ? 'forum' : 'talk'}${rooms}`;
  return { id: (await stage.sandbox.addChannel({ name, form: forum ? 'forum' : 'text' })).id, name };
}

/** Somebody asks the bot; resolves with the lines of history that it was shown. */
async function linesFor(as: string, place: string, text: string): Promise<readonly string[]> {
  const call = await chatCall(stage, as, place, `<@${stage.info.bot.id}> ${text}`);
  return historyIn(call).map((block) => withoutDate(block.text));
}

function joinsOf(threadId: string): Promise<readonly { readonly status: number }[]> {
  return stage.sandbox.requests({ method: 'PUT', path: `/channels/${threadId}/thread-members/@me` });
}

describe('a thread', () => {
  it('is a conversation of its own, under the context of its parent [N8]', async () => {
    const parent = await newChannel();
    await stage.writeFile(`workspace/channels/${parent.id}.md`, 'Only the harvest is discussed here.');
    await linesFor('alice', parent.id, 'what about apples?');
    const thread = await stage.sandbox.addThread({ channel: parent.id, name: 'pears', as: 'bob' });
    const call = await chatCall(stage, 'alice', thread.id, `<@${stage.info.bot.id}> and pears?`);
    expect(historyIn(call)).toEqual([]);
    expect(systemIn(call)).toContain('Only the harvest is discussed here.');
    expect(toldIn(call)).toContain(`where="#pears, a thread in #${parent.name}, public"`);
    const log = await stage.readFile(
      `data/sessions/${thread.id}/${stage.info.people['alice']}/messages.jsonl`,
    );
    expect(log).toContain('and pears?');
    expect(log).not.toContain('apples');
  });

  it('is joined once, when the bot is first addressed in it, and not before', async () => {
    const parent = await newChannel();
    const quiet = await stage.sandbox.addThread({ channel: parent.id, name: 'quiet', as: 'bob' });
    await stage.sandbox.say({ as: 'alice', in: quiet.id, text: 'nobody is asked' });
    const thread = await stage.sandbox.addThread({ channel: parent.id, name: 'loud', as: 'bob' });
    const answer = await stage.ask('alice', thread.id, `<@${stage.info.bot.id}> here?`);
    expect(await joinsOf(thread.id), 'Discord adds whom a message mentions').toEqual([]);

    await stage.sandbox.setThreadMember({
      thread: thread.id,
      person: 'Discoclaw',
      member: false,
    });
    for (const text of ['still here?', 'and now?']) {
      const said = await stage.sandbox.say({
        as: 'alice',
        in: thread.id,
        text,
        replyTo: answer.id,
        pingReplied: false,
      });
      await stage.sandbox.waitForReply({ in: thread.id, after: said.id });
      expect(await joinsOf(thread.id)).toMatchObject([{ status: 204 }]);
    }
    expect(await joinsOf(quiet.id)).toEqual([]);
  });

  it('is private among its members, and answered there', async () => {
    const parent = await newChannel();
    const thread = await stage.sandbox.addThread({
      channel: parent.id,
      name: 'aside',
      as: 'alice',
      private: true,
      members: ['Discoclaw'],
    });
    const call = await chatCall(stage, 'alice', thread.id, `<@${stage.info.bot.id}> between us`);
    expect(toldIn(call)).toContain(`where="#aside, a thread in #${parent.name}, private"`);
    expect(await joinsOf(thread.id)).toEqual([]);
  });

  it('begins with the message that it was made from, until that is deleted [Q4]', async () => {
    const parent = await newChannel();
    const start = await stage.sandbox.say({ as: 'bob', in: parent.id, text: 'The build is broken' });
    await stage.sandbox.addThread({ channel: parent.id, name: 'build', as: 'bob', message: start.id });
    expect(await linesFor('alice', start.id, 'why?')).toEqual(['bob: The build is broken\n']);
    await stage.sandbox.edit({ message: start.id, text: 'The build is slow' });
    expect((await linesFor('alice', start.id, 'still?'))[0]).toBe('bob: The build is slow\n');
    await stage.sandbox.delete({ message: start.id });
    expect((await linesFor('alice', start.id, 'and now?')).join('')).not.toContain('The build');
  });

  it('does not begin with a command that it was made from [F2]', async () => {
    const parent = await newChannel();
    const start = await stage.sandbox.say({ as: 'alice', in: parent.id, text: '!memory show' });
    await stage.sandbox.waitForReply({ in: parent.id, after: start.id });
    await stage.sandbox.addThread({ channel: parent.id, name: 'show', as: 'alice', message: start.id });
    expect(await linesFor('alice', start.id, 'what is this?')).toEqual([]);
  });

  it('costs no request and no model call where the bot may not write in it [J3]', async () => {
    const parent = await newChannel();
    const thread = await stage.sandbox.addThread({ channel: parent.id, name: 'mute', as: 'bob' });
    await stage.sandbox.setOverwrite({
      channel: parent.id,
      for: stage.info.bot.name,
      deny: ['SendMessagesInThreads'],
    });
    const before = callsOf(stage, 'chat').length;
    await stage.sandbox.say({ as: 'alice', in: thread.id, text: 'anybody?', mentionBot: true });
    await linesFor('alice', (await newChannel()).id, 'here then?');
    expect(callsOf(stage, 'chat')).toHaveLength(before + 1);
    expect(await stage.sandbox.requests({ path: `/channels/${thread.id}/typing` })).toEqual([]);
    expect(await stage.sandbox.requests({ path: `/channels/${thread.id}/messages` })).toEqual([]);
  });
});

describe('a post in a forum', () => {
  it('is answered, and told the context of its forum; its first message is its history', async () => {
    const forum = await newChannel(true);
    await stage.writeFile(`workspace/channels/${forum.name}.md`, 'Questions of beginners.');
    const post = await stage.sandbox.addPost({
      forum: forum.id,
      as: 'bob',
      title: 'How to start?',
      text: 'I am new here',
      mentionBot: true,
    });
    await stage.sandbox.waitForReply({ in: post.id, after: post.id });
    const call = await chatCall(stage, 'alice', post.id, `<@${stage.info.bot.id}> can you help bob?`);
    expect(systemIn(call)).toContain('Questions of beginners.');
    expect(withoutDate(historyIn(call)[0]?.text ?? '')).toBe('bob: I am new here\n');
    expect(toldIn(call)).toContain(`, a thread in #${forum.name}, public"`);
  });
});
