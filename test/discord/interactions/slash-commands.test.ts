import { describe, expect, it } from 'vitest';

import { runGateway } from '../support/gateway-harness.ts';

describe('slash commands', () => {
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
        command: { name: 'memory', subcommand: 'remember', options: { text: 'I like tea' } },
        speaker: { id: ids['bob'], name: 'bob', isOwner: false },
        place: { audience: 'public', channelId: ids['general'] },
        ephemeral: true,
      },
    ]);
  });

  it('answer in several messages where one cannot hold it all, for the asker’s eyes only, pinging nobody, with buttons under the last [K3]', async () => {
    const { server, handlers } = await runGateway();
    handlers.commandAnswer = () => Promise.resolve('- an item\n'.repeat(450));
    handlers.commandButtons = [{ label: 'Undo', line: 'memory undo 3c4d' }];
    const { answer, isEphemeral, followUps } = await server.slash({
      as: 'bob',
      in: '#general',
      name: 'memory',
      subcommand: 'show',
      followUps: 2,
    });
    expect([isEphemeral, ...followUps.map((part) => part.isEphemeral)]).toEqual([true, true, true]);
    const parts = [answer, ...followUps];
    expect(parts.map((part) => part?.components.rows.length)).toEqual([0, 0, 1]);
    const texts = parts.map((part) => part?.text);
    expect(texts.every((text = '') => text.length <= 2000)).toBe(true);
    expect(texts.join('\n')).toBe('- an item\n'.repeat(450).trim());
    const sent = await server.requests({ path: '/webhooks/*/*/messages/*' });
    for (const { body } of sent) expect(body).toMatchObject({ allowed_mentions: { parse: [] } });
  });

  it('are refused to people without access, for their eyes only', async () => {
    const { server, handlers } = await runGateway({ access: { access: 'allowlist' } });
    const outcome = await server.slash({ as: 'bob', in: '#general', name: 'memory', subcommand: 'show' });
    expect(outcome).toMatchObject({ isEphemeral: true, answer: { text: expect.stringContaining('access') } });
    expect(handlers.commands).toEqual([]);
  });

  it('are not taken any more once intake was stopped, and people are told so', async () => {
    const { server, handlers, gateway } = await runGateway();
    await gateway.stopIntake();
    const outcome = await server.slash({ as: 'bob', in: 'dm', name: 'memory', subcommand: 'show' });
    expect(outcome).toMatchObject({
      isEphemeral: true,
      answer: { text: expect.stringContaining('restarted') },
    });
    expect(handlers.commands).toEqual([]);
  });

  it('are not done where they could not be acknowledged', async () => {
    const { server, handlers, logger, gateway } = await runGateway();
    await server.setFault({
      kind: 'status',
      status: 404,
      code: 10062,
      route: 'POST /interactions/*/*/callback',
    });
    const failing = server.slash({ as: 'bob', in: 'dm', name: 'memory', subcommand: 'show', timeoutMs: 300 });
    await expect(failing).rejects.toThrow('300');
    await expect.poll(() => logger.warnings).toContain('a command could not be acknowledged');
    await gateway.idle();
    expect(handlers.commands).toEqual([]);
  });

  it('say that something went wrong if an answer could not be delivered', async () => {
    const { server } = await runGateway();
    await server.setFault({ kind: 'status', status: 400, route: 'PATCH /webhooks/*/*/messages/*', times: 4 });
    const outcome = await server.slash({ as: 'bob', in: 'dm', name: 'memory', subcommand: 'show' });
    expect(outcome.answer?.text).toContain('went wrong');
  });
});
