import { Client, Collection } from 'discord.js';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import {
  createAccess,
  createBotLoopGuard,
  decideIntake,
  isOwner,
  type IntakePolicy,
  type MessageFacts,
} from '../../src/discord/access.ts';
import { recordingLogger } from '../support/recording-logger.ts';

function facts(changes: Partial<MessageFacts> = {}): MessageFacts {
  return {
    channelId: 'general',
    isDm: false,
    authorId: 'alice',
    hasAccess: true,
    authorKind: 'human',
    isSystem: false,
    text: 'hello',
    hasEnclosures: false,
    isEdited: false,
    mentionsBot: true,
    repliesToBot: false,
    isOwnThread: false,
    managesServer: false,
    goesOn: false,
    ...changes,
  };
}

function policy(changes: Partial<IntakePolicy> = {}): IntakePolicy {
  return {
    ownerIds: ['owner'],
    access: 'allowlist',
    allowedUserIds: ['alice'],
    allowedRoleIds: [],
    allowedBotIds: ['friendly-bot'],
    channelIds: [],
    autoReplyChannelIds: ['help'],
    parseCommand: (text) => {
      const [, name, subcommand = ''] = /^!(memory|settings) ?(.*)$/u.exec(text) ?? [];
      return name === undefined ? undefined : { name, subcommand, options: {} };
    },
    managerCommands: ['settings'],
    keptCommands: ['memory show'],
    ...changes,
  };
}

const nobodyAdded = async () => [];

/** Access without roles, and without anybody whom a command let in. */
function accessOf({ authorId }: MessageFacts, settings: IntakePolicy): boolean {
  const client = new Client({ intents: [] });
  return createAccess(settings, { client, readAdded: nobodyAdded, logger: recordingLogger() }).isConfigured(
    authorId,
  );
}

function decision(changes: Partial<MessageFacts>, policyChanges: Partial<IntakePolicy> = {}): string {
  const message = facts(changes);
  const settings = policy(policyChanges);
  const decided = decideIntake({ ...message, hasAccess: accessOf(message, settings) }, settings);
  return decided.kind === 'ignore' ? decided.reason : decided.kind;
}

const anyFacts: fc.Arbitrary<MessageFacts> = fc.record({
  channelId: fc.constantFrom('general', 'help', 'thread'),
  isDm: fc.boolean(),
  parentId: fc.constantFrom(undefined, 'general', 'help'),
  authorId: fc.constantFrom('owner', 'alice', 'stranger', 'friendly-bot', 'other-bot', 'self'),
  hasAccess: fc.constantFrom<MessageFacts['hasAccess']>(true, false, 'unknown'),
  authorKind: fc.constantFrom('human', 'self', 'bot'),
  isSystem: fc.boolean(),
  text: fc.constantFrom('hello', '', '!memory show', '!settings show'),
  hasEnclosures: fc.boolean(),
  isEdited: fc.boolean(),
  mentionsBot: fc.boolean(),
  repliesToBot: fc.boolean(),
  isOwnThread: fc.boolean(),
  managesServer: fc.boolean(),
  answerMode: fc.constantFrom(undefined, 'mentions', 'conversation', 'everything'),
  goesOn: fc.boolean(),
});

describe('intake', () => {
  it('answers the owner and those on the list, and with open access everybody [G1]', () => {
    expect(decision({ authorId: 'owner' })).toBe('turn');
    expect(decision({ authorId: 'alice' })).toBe('turn');
    expect(decision({ authorId: 'stranger' })).toBe('locked-out');
    expect(decision({ authorId: 'stranger', isDm: true })).toBe('locked-out');
    expect(decision({ authorId: 'stranger' }, { access: 'everyone' })).toBe('turn');
  });

  it('lets nobody in by the channel they write in [G1]', () => {
    const settings = { channelIds: ['general'] };
    expect(decision({ authorId: 'stranger' }, settings)).toBe('locked-out');
    expect(decision({}, settings)).toBe('turn');
  });

  it('takes nobody for an owner while none is known [G1]', () => {
    expect(isOwner(policy({ ownerIds: [] }), 'alice')).toBe(false);
  });

  it('lets people who manage a server change its settings, with or without access, and nothing else [G1]', () => {
    const manager = { authorId: 'stranger', managesServer: true };
    expect(decision({ ...manager, text: '!settings show' })).toBe('command');
    expect(decision({ ...manager, text: '!memory show' })).toBe('locked-out');
    expect(decision({ ...manager, text: 'hello' })).toBe('locked-out');
    expect(decision({ authorId: 'stranger', text: '!settings show' })).toBe('locked-out');
    expect(
      decision({ ...manager, authorId: 'friendly-bot', authorKind: 'bot', text: '!settings show' }),
    ).toBe('bot');
  });

  it('answers in a guild only when addressed [G2]', () => {
    expect(decision({ mentionsBot: false })).toBe('not-addressed');
    expect(decision({ mentionsBot: false, repliesToBot: true })).toBe('turn');
    expect(decision({ mentionsBot: false, isOwnThread: true })).toBe('turn');
    expect(decision({ mentionsBot: false, channelId: 'help' })).toBe('turn');
    expect(decision({ mentionsBot: false, channelId: 'thread', parentId: 'help' })).toBe('turn');
    expect(decision({ mentionsBot: false, isDm: true })).toBe('turn');
  });

  it('takes no command from an edit', () => {
    expect(decision({ text: '!memory show', isEdited: true })).toBe('edited');
    expect(decision({ text: 'hello', isEdited: true })).toBe('turn');
  });

  it('answers as its owner has set it for the place, whatever the configuration says', () => {
    const everything = { answerMode: 'everything' } as const;
    expect(decision({ ...everything, mentionsBot: false })).toBe('turn');
    expect(decision({ ...everything, mentionsBot: false, authorId: 'stranger' })).toBe('no-access');
    expect(decision({ ...everything, mentionsBot: false }, { channelIds: ['help'] })).toBe('other-channel');
    const bot = { authorKind: 'bot', authorId: 'friendly-bot' } as const;
    expect(decision({ ...everything, ...bot, mentionsBot: false })).toBe('not-addressed');

    const mentions = { answerMode: 'mentions', channelId: 'help' } as const;
    expect(decision({ ...mentions, mentionsBot: false })).toBe('not-addressed');
    expect(decision({ ...mentions, mentionsBot: false, isOwnThread: true })).toBe('not-addressed');
    expect(decision({ ...mentions, mentionsBot: true })).toBe('turn');
    expect(decision({ ...mentions, mentionsBot: false, repliesToBot: true })).toBe('turn');
  });

  it('works only in the channels it is restricted to, their threads, and DMs', () => {
    const restricted = { channelIds: ['help'] };
    expect(decision({ channelId: 'general' }, restricted)).toBe('other-channel');
    expect(decision({ channelId: 'help' }, restricted)).toBe('turn');
    expect(decision({ channelId: 'thread', parentId: 'help' }, restricted)).toBe('turn');
    expect(decision({ channelId: 'some-dm', isDm: true }, restricted)).toBe('turn');
    expect(
      decision({ channelId: 'help', mentionsBot: false }, { ...restricted, autoReplyChannelIds: [] }),
    ).toBe('not-addressed');
  });

  it('takes a command that is not addressed to it, but not without access or in another channel', () => {
    const command = { text: '!memory show', mentionsBot: false };
    expect(decideIntake(facts(command), policy())).toEqual({
      kind: 'command',
      command: { name: 'memory', subcommand: 'show', options: {} },
    });
    expect(decision({ ...command, authorId: 'stranger' })).toBe('locked-out');
    expect(decision(command, { channelIds: ['help'] })).toBe('other-channel');
  });

  it('answers other bots only if they are listed and speak to it, and takes no commands from them', () => {
    const bot = { authorKind: 'bot', authorId: 'friendly-bot' } as const;
    expect(decision(bot)).toBe('turn');
    expect(decision({ ...bot, authorId: 'other-bot' }, { access: 'everyone' })).toBe('bot');
    expect(decision({ ...bot, mentionsBot: false, channelId: 'help' })).toBe('not-addressed');
    expect(decision({ ...bot, mentionsBot: false, isOwnThread: true })).toBe('not-addressed');
    expect(decision({ ...bot, text: '!memory show' })).toBe('bot');
  });

  it('never answers itself, a notice, or somebody without access, whatever else is true', () => {
    fc.assert(
      fc.property(
        anyFacts,
        fc.constantFrom<'allowlist' | 'everyone'>('allowlist', 'everyone'),
        (message, access) => {
          const isAllowed =
            message.authorKind === 'bot'
              ? message.authorId === 'friendly-bot'
              : access === 'everyone' || ['owner', 'alice'].includes(message.authorId);
          const isManaging = message.managesServer && message.text.startsWith('!settings');
          fc.pre(message.authorKind === 'self' || message.isSystem || (!isAllowed && !isManaging));
          const settings = policy({ access });
          const hasAccess = accessOf(message, settings);
          expect(decideIntake({ ...message, hasAccess }, settings).kind).toMatch(/ignore|locked-out/u);
        },
      ),
    );
  });
});

function said(authorId = 'robot', channelId = 'general') {
  return { authorId, channelId };
}

describe('another bot [G2]', () => {
  it('is answered five times in a row, then told of once, then not at all until a person speaks', () => {
    const answers = createBotLoopGuard();
    const admitted = Array.from({ length: 7 }, () => answers.admit(said()));
    expect(admitted).toEqual(['answer', 'answer', 'answer', 'answer', 'answer', 'limit-reached', 'silence']);
    answers.humanSpoke('dev');
    expect(answers.admit(said())).toBe('silence');
    answers.humanSpoke('general');
    expect(answers.admit(said())).toBe('answer');
  });
});

const noChange = async (): Promise<readonly string[]> => [];
const withRoles = async (...roles: readonly string[]) => ({
  roles: { cache: new Map(roles.map((id) => [id, {}])) },
});

describe('who is let in [G1]', () => {
  const [guildId, elsewhere, role] = ['110000000000000001', '110000000000000002', '310000000000000001'];
  const bob = '140000000000000002';

  /** Two servers, of which Bob is a member; in the first he has the role. */
  function peopleOf(
    settings: Partial<IntakePolicy>,
    added: () => Promise<readonly string[]>,
    fetch: (guild: string) => Promise<unknown>,
  ) {
    const guilds = [guildId, elsewhere].map((id) => ({
      id,
      name: 'Sandbox',
      roles: {
        cache: new Collection([
          [id, { name: '@everyone' }],
          ...(id === guildId ? [[role, { name: 'helpers' }] as const] : []),
        ]),
      },
      members: { fetch: () => fetch(id) },
    }));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is looked at
    const client = {
      guilds: { cache: new Collection(guilds.map((each) => [each.id, each])) },
    } as unknown as Client;
    return createAccess(policy(settings), {
      client,
      readAdded: added,
      logger: recordingLogger(),
    });
  }

  const [inServer, inOther, inDm] = ['its server', 'another server', 'a DM'];

  it.each([
    ['nobody', [], []],
    ['a person', [`<@${bob}>`], [inServer, inOther, inDm]],
    ['another person', ['<@140000000000000003>'], []],
    ['a role', [`<@&${role}>`], [inServer, inDm]],
    ['a role that they have no more', ['<@&310000000000000002>'], []],
    ['everybody of a server', [`<@&${guildId}>`], [inServer, inDm]],
  ] as const)('by a command: %s', async (_, added, expected) => {
    async function placesOf(access: IntakePolicy['access']) {
      const people = peopleOf(
        { access },
        async () => added,
        (id) => (id === guildId ? withRoles(role) : withRoles()),
      );
      const visits = [
        [inServer, { guildId, roleIds: [role] }],
        [inServer, { guildId }],
        [inOther, { guildId: elsewhere, roleIds: [] }],
        [inDm, {}],
      ] as const;
      const open: string[] = [];
      for (const [place, where] of visits) if (await people.of({ userId: bob, ...where })) open.push(place);
      return [...new Set(open)];
    }
    expect(await placesOf('allowlist')).toEqual(expected);
    expect(await placesOf('everyone')).toEqual([inServer, inOther, inDm]);
  });

  it('at once when that is changed, and by the configuration alone where it cannot be read', async () => {
    let added = noChange;
    const people = peopleOf(
      {},
      () => added(),
      () => withRoles(role),
    );
    const may = (userId: string) => people.of({ userId });
    expect(await may(bob)).toBe(false);
    added = async () => [`<@&${role}>`];
    expect(await may(bob)).toBe(true);
    added = noChange;
    expect(await may(bob)).toBe(false);
    added = () => Promise.reject(new Error('the disk'));
    expect([await may(bob), await may('alice'), await may('owner')]).toEqual([false, true, true]);
  });

  it('by a role that is asked for once a minute in DMs, and by none where Discord does not answer', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let answer: () => Promise<unknown> = () => withRoles(role);
    let asked = 0;
    const people = peopleOf({ allowedRoleIds: [role] }, noChange, () => {
      asked += 1;
      return answer();
    });
    const inDms = { userId: bob };
    expect([await people.of(inDms), await people.of(inDms), asked]).toEqual([true, true, 1]);
    answer = () => withRoles();
    vi.advanceTimersByTime(59_000);
    expect(await people.of(inDms)).toBe(true);
    vi.advanceTimersByTime(2000);
    expect([await people.of(inDms), asked]).toEqual([false, 2]);
    vi.advanceTimersByTime(61_000);
    answer = () => Promise.reject(new Error('the network'));
    expect([await people.of(inDms), await people.of(inDms), asked]).toEqual([false, false, 4]);
  });
});
