import { afterAll, describe, expect, it } from 'vitest';

import { answeringBy, chatCall, historyIn, systemIn, toldIn, withoutDate } from './model-calls.ts';
import { openStage } from './stage.ts';

const stage = await openStage({
  environment: { DISCOCLAW_SUMMARY_ENABLED: 'false', DISCOCLAW_REFLECTION_ENABLED: 'false' },
  model: answeringBy({}),
});
afterAll(() => stage[Symbol.asyncDispose]());

/** Somebody asks the bot; resolves with the lines of history that it was shown. */
async function linesFor(as: string, place: string, text: string): Promise<readonly string[]> {
  const call = await chatCall(stage, as, place, `<@${stage.info.bot.id}> ${text}`);
  return historyIn(call).map((block) => withoutDate(block.text));
}

describe('a thread', () => {
  it('is a conversation of its own, under the context of its parent [N8]', async () => {
    const parent = await stage.sandbox.addChannel({ name: 'orchard' });
    await stage.writeFile(`workspace/channels/${parent.id}.md`, 'Only the harvest is discussed here.');
    await linesFor('alice', parent.id, 'what about apples?');
    const thread = await stage.sandbox.addThread({ channel: parent.id, name: 'pears', as: 'bob' });
    const call = await chatCall(stage, 'alice', thread.id, `<@${stage.info.bot.id}> and pears?`);
    expect(historyIn(call)).toEqual([]);
    expect(systemIn(call)).toContain('Only the harvest is discussed here.');
    expect(toldIn(call)).toContain(`where="#pears, a thread in #${parent.name}, public"`);
  });

  it('is joined once, when the bot is first addressed in it without being mentioned, and not before', async () => {
    const parent = await stage.sandbox.addChannel({ name: 'choir' });
    const { id } = await stage.sandbox.addThread({ channel: parent.id, name: 'loud', as: 'bob' });
    const answer = await stage.ask('alice', id, `<@${stage.info.bot.id}> here?`);
    await stage.sandbox.setThreadMember({ thread: id, person: 'Discoclaw', member: false });
    await stage.sandbox.say({ as: 'alice', in: id, text: 'nobody is asked' });
    const joins = () => stage.sandbox.requests({ method: 'PUT', path: `/channels/${id}/thread-members/@me` });
    expect(await joins()).toEqual([]);
    for (const text of ['still here?', 'and now?']) {
      const reply = { as: 'alice', in: id, text, replyTo: answer.id, pingReplied: false };
      await stage.answerTo(await stage.sandbox.say(reply));
      expect(await joins()).toMatchObject([{ status: 204 }]);
    }
  });

  it('begins with the message that it was made from, until that is deleted, and not with a command [Q4] [F2]', async () => {
    const parent = await stage.sandbox.addChannel({ name: 'office' });
    const start = await stage.sandbox.say({ as: 'bob', in: parent.id, text: 'The build is broken' });
    await stage.sandbox.addThread({ channel: parent.id, name: 'build', as: 'bob', message: start.id });
    expect(await linesFor('alice', start.id, 'why?')).toEqual(['bob: The build is broken\n']);
    await stage.sandbox.delete({ message: start.id });
    expect((await linesFor('alice', start.id, 'and now?')).join('')).not.toContain('The build');
    const asked = await stage.sandbox.say({ as: 'alice', in: parent.id, text: '!memory show' });
    await stage.answerTo(asked);
    await stage.sandbox.addThread({ channel: parent.id, name: 'show', as: 'alice', message: asked.id });
    expect(await linesFor('alice', asked.id, 'what is this?')).toEqual([]);
  });
});
