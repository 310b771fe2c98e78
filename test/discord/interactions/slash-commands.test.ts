import { describe, expect, it } from 'vitest';

import { deferred } from '../support/deferred.ts';
import { memoryCommand, openSandbox, runGateway } from '../support/gateway-harness.ts';

describe('slash commands', () => {
  it('are registered, the same way at every start', async () => {
    const server = await openSandbox();
    await runGateway({ server });
    await runGateway({ server });
    const registered = await server.requests({ method: 'PUT', path: '/applications/*/commands' });
    expect(registered.map(({ body }) => body)).toEqual([
      [memoryCommand.definition],
      [memoryCommand.definition],
    ]);
  });

  it('are answered for the asker’s eyes only', async () => {
    const { server, handlers, ids } = await runGateway();
    const outcome = await server.slash({
      as: 'bob',
      in: '#general',
      name: 'memory',
      subcommand: 'remember',
      options: { text: 'I like tea' },
    });
    expect(outcome).toMatchObject({ isEphemeral: true, answer: { text: 'Here you are.' } });
    expect(handlers.commands).toMatchObject([
      {
        id: outcome.id,
        words: 'remember I like tea',
        speaker: { id: ids['bob'], name: 'bob', isOwner: false },
        place: { audience: 'public', channelId: ids['general'] },
        ephemeral: true,
      },
    ]);
  });

  it('work in DMs', async () => {
    const { server, handlers } = await runGateway();
    await server.slash({ as: 'alice', in: 'dm', name: 'memory', subcommand: 'show' });
    expect(handlers.commands).toMatchObject([
      { words: 'show', speaker: { isOwner: true }, place: { audience: 'dm' } },
    ]);
  });

  it('split a long answer, all of it ephemeral and pinging nobody', async () => {
    const { server, handlers } = await runGateway();
    handlers.commandAnswer = () => Promise.resolve('- an item\n'.repeat(450));
    const outcome = await server.slash({
      as: 'bob',
      in: '#general',
      name: 'memory',
      subcommand: 'show',
      followUps: 2,
    });
    const texts = [outcome.answer, ...outcome.followUps].map((message) => message?.text ?? '');
    expect(texts).toHaveLength(3);
    expect(texts.every(({ length }) => length <= 2000)).toBe(true);
    expect(texts.join('\n')).toBe('- an item\n'.repeat(450).trim());
    expect(outcome.followUps.every(({ isEphemeral }) => isEphemeral)).toBe(true);
    const sent = await server.requests({ path: '/webhooks/*/*' });
    for (const { body } of sent) expect(body).toMatchObject({ allowed_mentions: { parse: [] } });
  });

  it('acknowledge at once, however long the answer takes', async () => {
    const { server, handlers } = await runGateway();
    const text = deferred<string>();
    handlers.commandAnswer = () => text.promise;
    const answered = server.slash({ as: 'bob', in: '#general', name: 'memory', subcommand: 'show' });
    await expect.poll(() => handlers.commands).toHaveLength(1);
    const callbacks = await server.requests({ path: '/interactions/*/*/callback' });
    expect(callbacks).toMatchObject([{ body: { type: 5, data: { flags: 64 } } }]);
    text.resolve('Done at last.');
    expect(await answered).toMatchObject({ answer: { text: 'Done at last.' } });
  });

  it('are refused to people without access, for their eyes only', async () => {
    const { server, handlers } = await runGateway({ access: { access: 'allowlist' } });
    const outcome = await server.slash({ as: 'bob', in: '#general', name: 'memory', subcommand: 'show' });
    expect(outcome).toMatchObject({ isEphemeral: true, answer: { text: expect.stringContaining('access') } });
    expect(handlers.commands).toEqual([]);
  });

  it('are refused in channels that the bot is kept out of; a thread counts as its parent', async () => {
    const { server, handlers } = await runGateway({ access: { channelIds: ['120000000000000002'] } });
    const thread = await server.addThread({ channel: '#dev', name: 'plans', as: 'bob' });
    await server.slash({ as: 'bob', in: thread.id, name: 'memory', subcommand: 'show' });
    await server.slash({ as: 'bob', in: 'dm', name: 'memory', subcommand: 'show' });
    const outcome = await server.slash({ as: 'bob', in: '#general', name: 'memory', subcommand: 'show' });
    expect(outcome.answer?.text).toContain('do not work in this channel');
    expect(handlers.commands).toHaveLength(2);
  });

  it('are taken no more once intake was stopped', async () => {
    const { server, handlers, gateway } = await runGateway();
    await gateway.stopIntake();
    const late = server.slash({ as: 'bob', in: 'dm', name: 'memory', subcommand: 'show', timeoutMs: 300 });
    await expect(late).rejects.toThrow('300');
    expect(handlers.commands).toEqual([]);
  });

  it('say so when something goes wrong', async () => {
    const { server, handlers, logger } = await runGateway();
    handlers.commandAnswer = () => Promise.reject(new Error('secret details'));
    const outcome = await server.slash({ as: 'bob', in: '#general', name: 'memory', subcommand: 'show' });
    expect(outcome.answer?.text).toContain('went wrong');
    expect(outcome.answer?.text).not.toContain('secret');
    expect(logger.errors).toEqual(['a command could not be finished']);
  });
});
