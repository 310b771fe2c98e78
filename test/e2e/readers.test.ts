import { afterAll, describe, expect, it } from 'vitest';

import { command } from './memory-talk.ts';
import { newestOf, toldIn } from './model-calls.ts';
import { openStage } from './stage.ts';

let servers = 0;

const stage = await openStage({
  environment: { DISCORD_AUTO_REPLY_CHANNEL_IDS: '', DISCOCLAW_SUMMARY_ENABLED: 'false' },
  model: () => ({ text: 'Understood.', chunks: ['Under', 'stood.'] }),
});

afterAll(() => stage[Symbol.asyncDispose]());

type Form = 'text' | 'voice' | 'stage';

/** A server of Alice's with somebody new in it, who has a role; the bot may see what it is let into. */
async function newServer() {
  servers += 1;
  const guest = await stage.sandbox.addPerson({ name: `guest${servers}`, guilds: [] });
  const name = `server${servers}`;
  const guild = await stage.sandbox.addGuild({ name, owner: 'alice', members: [guest.name] });
  const role = `crew${servers}`;
  await stage.sandbox.setRole({ guild: guild.id, name: role, permissions: [], people: [guest.name] });
  await stage.sandbox.delivered();
  return {
    guild: guild.id,
    guest: guest.name,
    role,
    addChannel: async (channel: string, form: Form = 'text'): Promise<string> =>
      (await stage.sandbox.addChannel({ guild: guild.id, name: `${channel}-${servers}`, form })).id,
    /** Only the roles and people can read the channel, besides the bot. */
    shut: async (channel: string, ...readers: readonly string[]): Promise<void> => {
      for (const each of [...readers, stage.info.bot.name])
        await stage.sandbox.setOverwrite({ channel, for: each, allow: ['ViewChannel', 'Connect'] });
      await stage.sandbox.setOverwrite({ channel, for: '@everyone', deny: ['ViewChannel'] });
      await stage.sandbox.delivered();
    },
    letIn: async (channel: string, who: string): Promise<void> => {
      await stage.sandbox.setOverwrite({ channel, for: who, allow: ['ViewChannel', 'Connect'] });
      await stage.sandbox.delivered();
    },
  };
}

function memory(as: string, place: string, words: string): Promise<string> {
  return command(stage, '!memory', as, place, words);
}

/** What the model is told when somebody asks there. */
async function told(as: string, place: string): Promise<string> {
  const said = await stage.sandbox.say({ as, in: place, text: 'what do you know?', mentionBot: true });
  await stage.answerTo(said);
  return toldIn(newestOf(stage, 'chat'));
}

describe('a server whose people are let in by a role [V0]', () => {
  it('carries memory across its channels once its owner has named the role, and nobody else can name it', async () => {
    const { guild, guest, role, addChannel } = await newServer();
    await stage.sandbox.setRole({ guild, name: '@everyone', permissions: [] });
    const basics = ['ViewChannel', 'SendMessages', 'ReadMessageHistory', 'UseApplicationCommands'] as const;
    await stage.sandbox.setRole({ guild, name: role, permissions: [...basics], people: ['alice', 'bob'] });
    await stage.sandbox.changePermissions({ guild, for: stage.info.bot.name, allow: [...basics] });
    await stage.sandbox.setRole({ guild, name: 'helpers', permissions: ['ManageGuild'], people: [guest] });
    await stage.sandbox.delivered();
    const [first, second, third] = [
      await addChannel('one'),
      await addChannel('two'),
      await addChannel('three'),
    ];
    await memory(guest, first, 'remember I grow quinces');
    expect(await told(guest, second)).not.toContain('quinces');

    const named = `member-role @${role}`;
    const refusal = 'Only the owner and administrators of this server can name its member role.';
    expect((await stage.ask(guest, first, `!settings ${named}`)).text).toBe(refusal);
    const slash = { as: guest, in: first, name: 'settings', subcommand: 'member-role' };
    expect((await stage.sandbox.slash({ ...slash, options: { role } })).answer?.text).toBe(refusal);
    const set = await stage.sandbox.slash({ ...slash, as: 'alice', options: { role } });
    expect(set.answer?.text).toContain(`Done: people are let into this server by @${role}.`);
    expect((await stage.ask('alice', first, '!settings show')).text).toContain(`- \`member-role\`: @${role}`);

    // What was said before is for the DM: whatever is said where all can read may be used in all of the server.
    for (const place of [first, second]) expect(await told(guest, place)).not.toContain('quinces');
    expect(await memory(guest, 'dm', 'show')).toContain('quinces');
    expect(await memory(guest, first, 'remember I sing in choirs')).toMatch(/ · everywhere$/mu);
    expect(await told(guest, second)).toContain('choirs');

    expect((await stage.ask('alice', first, '!settings member-role @everyone')).text).toContain(
      'no role is named',
    );
    expect(await memory(guest, third, 'remember I keep bees')).toMatch(/ · here$/u);
  });
});

describe('what was said before somebody was let in [V2a]', () => {
  it('is not used in front of a role that was let in since, nor named, until its owner shares it', async () => {
    const { guild, guest, role, addChannel, shut, letIn } = await newServer();
    const den = await addChannel('den');
    await shut(den, role);
    const stored = await memory(guest, den, 'remember I fear the auditors');
    expect(await told(guest, den)).toContain('auditors');
    await stage.sandbox.setRole({ guild, name: `auditors${servers}`, permissions: [] });
    await letIn(den, `auditors${servers}`);
    expect(await memory(guest, den, 'show')).toContain('1 more in our DM');
    expect(await memory(guest, den, 'search fear')).toContain('I found nothing');
    expect(await told(guest, den)).not.toContain('I fear the auditors');
    expect(await memory(guest, 'dm', 'show')).toContain('I fear the auditors');

    const id = /\bid ([0-9a-f]{8})\b/u.exec(stored)?.[1] ?? '';
    expect(await memory(guest, 'dm', `share ${id}`)).toContain('everywhere');
    expect(await told(guest, den)).toContain('I fear the auditors');
  });
});
