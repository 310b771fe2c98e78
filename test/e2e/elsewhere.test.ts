import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { menuNames } from '../../src/commands/commands.ts';
import type { ModelAnswer } from '../support/model-answer.ts';
import { openStage, type Stage } from './stage.ts';

/** Alice's, by where she said them. */
const canaries = { dm: 'Dromedary', private: 'Pangolin', public: 'Quokka' };
const places = ['#general', '#lounge', 'group', 'dm', 'other’s DM'] as const;
type PlaceName = (typeof places)[number];
/** Where the bot is not. */
const unseen: readonly PlaceName[] = ['#lounge', 'group', 'other’s DM'];

const answer = (): ModelAnswer => ({ text: 'Understood.' });

let stage: Stage;
const idOf = new Map<PlaceName, string>();
let elsewhere: readonly string[] = [];
let first = '0';

beforeAll(async () => {
  stage = await openStage({
    model: answer,
    environment: { DISCOCLAW_SUMMARY_ENABLED: 'false', DISCORD_AUTO_REPLY_CHANNEL_IDS: '' },
  });
  const { sandbox, info } = stage;
  const guild = await sandbox.addGuild({ name: 'Other', owner: 'bob', members: ['alice', 'carol'] });
  const lounge = await sandbox.addChannel({ guild: 'Other', name: 'lounge' });
  await sandbox.setBotMembership({ guild: 'Other', isMember: false });
  const group = await sandbox.addDm({ people: ['alice', 'bob', 'carol'] });
  const dm = await sandbox.addDm({ people: ['bob', 'alice'] });
  idOf.set('#general', info.channels['general'] ?? '');
  idOf.set('#lounge', lounge.id);
  idOf.set('group', group.id);
  idOf.set('dm', (await sandbox.openDm({ person: 'alice' })).id);
  idOf.set('other’s DM', dm.id);
  elsewhere = [guild.id, lounge.id, group.id, dm.id];
  await stage.ask('alice', 'dm', `!memory remember I own a ${canaries.dm}`);
  await stage.ask('alice', '#secret', `!memory remember I own a ${canaries.private}`);
  await stage.ask('alice', '#general', `!memory remember I own a ${canaries.public}`);
  first = (await stage.ask('alice', 'dm', 'Hello')).id;
});
afterAll(() => stage[Symbol.asyncDispose]());

/** `name`, `name subcommand`, with what is filled in, and what the answer says, by place. */
const slashes: readonly {
  readonly command: string;
  readonly options?: Readonly<Record<string, string>>;
  readonly says: RegExp | ((place: PlaceName) => RegExp);
}[] = [
  {
    command: 'memory show',
    says: new RegExp(`(?=[^]*${canaries.dm})(?=[^]*${canaries.private})[^]*${canaries.public}`, 'u'),
  },
  { command: 'memory search', options: { query: canaries.dm }, says: new RegExp(canaries.dm, 'u') },
  { command: 'ask', options: { text: 'Hello there' }, says: /Understood/u },
  { command: 'remind', options: { when: 'tomorrow at 9', what: 'call mum' }, says: /call mum/u },
  { command: 'reminders', says: /call mum/u },
  {
    command: 'catchup',
    says: (place) => (unseen.includes(place) ? /I am not in this channel/u : /\S/u),
  },
  {
    command: 'settings show',
    says: (place) => (place === '#general' ? /answer/u : /Settings belong to servers that I am in/u),
  },
  { command: 'status', says: /Discoclaw|version|up/iu },
];

describe.each(places)('a person who installed the bot, in %s [EW1]', (place) => {
  const here = () => idOf.get(place) ?? '';

  it.each(slashes)('is answered alone to /$command', async ({ command, options, says }) => {
    const [name = '', subcommand] = command.split(' ');
    const outcome = await stage.sandbox.slash({ as: 'alice', in: here(), name, subcommand, options });
    expect(outcome.isEphemeral).toBe(true);
    expect(outcome.answer?.text).toMatch(typeof says === 'function' ? says(place) : says);
  });

  it.each(menuNames)(
    'is answered alone to “%s” on what others wrote, which is not remembered',
    async (name) => {
      const as = place === 'dm' ? 'alice' : 'bob';
      const said = await stage.sandbox.say({ as, in: here(), text: `I breed ${canaries.public}s` });
      const outcome = await stage.sandbox.menu({ as: 'alice', message: said.id, name });
      expect(outcome).toMatchObject({ isEphemeral: true });
      const isRefused = name === 'Remember this' && as === 'bob';
      expect(outcome.answer?.text.includes('not what others wrote')).toBe(isRefused);
    },
  );

  it('can have what they wrote themselves remembered, and undo it by the button under that', async () => {
    const said = await stage.sandbox.say({ as: 'alice', in: here(), text: `I sell tea in ${place}` });
    const { answer: told } = await stage.sandbox.menu({
      as: 'alice',
      message: said.id,
      name: 'Remember this',
    });
    expect(told?.text).toContain(`I sell tea in ${place}`);
    const items: readonly { readonly text: string; readonly visibility: string }[] = JSON.parse(
      await stage.readFile(stage.pathFor('alice', 'durable.json')),
    ).items;
    const item = items.find(({ text }) => text === `I sell tea in ${place}`);
    expect(item?.visibility).toBe(place === '#general' ? 'everywhere' : 'dm');
    // Of where the bot is not, it is not even kept which message that was.
    expect((await stage.pathsWith(said.id)).length > 0).toBe(!unseen.includes(place));
    expect((await stage.press('alice', told?.id ?? '', 'Undo')).isEphemeral).toBe(true);
  });

  it('can be reminded of a message by its menu, which is kept only where the bot is', async () => {
    const as = place === 'dm' ? 'alice' : 'bob';
    const said = await stage.sandbox.say({ as, in: here(), text: 'The keys are under the mat' });
    const window = async (words: string) => {
      const given = { as: 'alice', message: said.id, name: 'Remind me about this' };
      const { id, modal } = await stage.sandbox.menu(given);
      const values = { [modal?.fields[0]?.label ?? '']: words };
      return (await stage.sandbox.submit({ as: 'alice', interaction: id, values })).answer?.text;
    };
    const isUnseen = unseen.includes(place);
    expect(await window('tomorrow at 9: ask Bob')).toContain(isUnseen ? '"ask Bob"' : `/${said.id}"`);
    expect(await window('tomorrow at 9')).toContain(isUnseen ? 'Nothing is set.' : `/${said.id}"`);
    expect((await stage.pathsWith(said.id)).length > 0).toBe(!isUnseen);
  });

  it('is offered their own items while they type', async () => {
    const choices = await stage.sandbox.complete({
      as: 'alice',
      in: here(),
      name: 'memory',
      subcommand: 'forget',
      option: 'target',
      value: 'own',
    });
    expect(JSON.stringify(choices)).toContain(place === '#general' ? canaries.public : canaries.dm);
  });
});

describe('of all that', () => {
  it('nobody but the person ever gets anything: no message, and no typing', async () => {
    const { sandbox } = stage;
    for (const as of ['bob', 'carol'])
      for (const id of idOf.values()) {
        const channel = (await sandbox.channels()).find((each) => each.id === id);
        if (channel?.seenBy.includes(as) !== true) continue;
        const seen = await sandbox.messages({ in: id, as, from: 'bot', after: first });
        expect(seen).toEqual([]);
      }
    const typed = (await sandbox.typingEvents()).filter(({ channelId }) => elsewhere.includes(channelId));
    expect(typed).toEqual([]);
  });

  it('the bot records neither server nor channel where it is not, and asks nothing of them', async () => {
    expect(await stage.pathsWith(...elsewhere)).toEqual([]);
    const asked = await stage.sandbox.requests();
    const about = asked.filter(({ path }) => elsewhere.some((id) => path.includes(id)));
    expect(about).toEqual([]);
    expect((await stage.sandbox.invalidRequests()).count).toBe(0);
  });

  it('somebody else sees nothing of it in their own answers', async () => {
    for (const place of unseen) {
      const { answer: shown } = await stage.sandbox.slash({
        as: 'bob',
        in: idOf.get(place) ?? '',
        name: 'memory',
        subcommand: 'show',
      });
      for (const canary of Object.values(canaries)) expect(shown?.text).not.toContain(canary);
    }
  });

  it('who manages a server without the bot gets nothing by that', async () => {
    await stage.restart({
      DISCOCLAW_ACCESS: 'allowlist',
      DISCORD_ALLOW_USER_IDS: stage.info.people['alice'] ?? '',
    });
    const { answer: told } = await stage.sandbox.slash({
      as: 'bob',
      in: idOf.get('#lounge') ?? '',
      name: 'settings',
      subcommand: 'show',
    });
    expect(told?.text).toContain('I only answer people whom my owner has given access');
  });
});
