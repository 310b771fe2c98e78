import { describe, expect, it } from 'vitest';

import { createCatchupCommand, type CatchupPorts } from '../../src/commands/catchup-command.ts';
import { createCommandSet } from '../../src/commands/commands.ts';
import type { CommandCall } from '../../src/core/message.ts';
import type { Place } from '../../src/core/place.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { dmPlace } from '../support/sessions.ts';

function openCommand(timesPerMinute = 0) {
  const asked: Parameters<CatchupPorts['tell']>[] = [];
  const command = createCatchupCommand({
    tell(...given) {
      asked.push(given);
      return Promise.resolve('Bob: lunch');
    },
    timesPerMinute,
    timeZone: 'UTC',
    now: () => 0,
  });
  const set = createCommandSet([command], {}, recordingLogger());
  const give = (
    call: CommandCall,
    { place = publicPlace, ephemeral = true }: { place?: Place; ephemeral?: boolean } = {},
  ) =>
    set.command({
      id: '400000000000000001',
      command: call,
      speaker: { id: aliceId, name: 'Alice', isOwner: false },
      place,
      ephemeral,
      at: '2026-01-15T10:00:00Z',
      work: { userId: aliceId },
    });
  /** As it is written in the channel. */
  const write = async (text: string) => {
    const call = set.parse(text);
    if (call === undefined) throw new Error(`No command: ${text}`);
    return give(call, { ephemeral: false });
  };
  return { asked, give, write };
}

const slash = (options: CommandCall['options']): CommandCall => ({
  name: 'catchup',
  subcommand: '',
  options,
});

describe('/catchup [B4]', () => {
  it('asks for the asker’s eyes only, and for everybody’s where it is written in a server', async () => {
    const { asked, give, write } = openCommand();
    expect(await give(slash({ channel: 'dev', since: 'yesterday' }))).toEqual({ text: 'Bob: lunch' });
    await give(slash({}), { place: dmPlace, ephemeral: false });
    await write('!catchup');
    const [inSlash, inDm, written] = asked;
    expect(inSlash?.[0]).toEqual({ channel: 'dev', since: 'yesterday' });
    expect(inSlash?.[1]).toMatchObject({
      id: aliceId,
      isForAskerOnly: true,
      requestIds: [],
      now: new Date('2026-01-15T10:00:00Z'),
    });
    expect(inDm?.[1]).toMatchObject({ isForAskerOnly: true, place: dmPlace });
    expect(written?.[1]).toMatchObject({ isForAskerOnly: false, requestIds: ['400000000000000001'] });
  });

  it.each([
    ['!catchup', {}],
    ['!catchup 2h', { since: '2h' }],
    ['!catchup yesterday 18:00', { since: 'yesterday 18:00' }],
    ['!catchup #dev', { channel: '#dev' }],
    ['!catchup <#120000000000000002> 2026-01-15', { channel: '<#120000000000000002>', since: '2026-01-15' }],
    ['!catchup dev last week', { channel: 'dev', since: 'last week' }],
  ])('reads %s', async (text, wish) => {
    const { asked, write } = openCommand();
    await write(text);
    expect(asked[0]?.[0]).toEqual(wish);
  });

  it('asks no model oftener than a person may have turns in a minute [L2]', async () => {
    const { asked, give } = openCommand(2);
    for (let time = 0; time < 3; time += 1) await give(slash({}));
    expect(asked).toHaveLength(2);
    expect((await give(slash({}))).text).toContain('try again in a moment');
  });
});
