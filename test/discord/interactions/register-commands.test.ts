import { describe, expect, it } from 'vitest';

import {
  areSameCommands,
  messageMenuCommand,
  registerCommands,
  slashCommand,
  type ApplicationCommand,
} from '../../../src/discord/interactions/register-commands.ts';
import { catchupDefinition } from '../../../src/commands/catchup-command.ts';
import { memoryDefinition } from '../../../src/commands/memory-command.ts';
import { settingsDefinition } from '../../../src/commands/settings-command.ts';
import { statusDefinition } from '../../../src/commands/status-command.ts';
import type { CommandDefinition } from '../../../src/core/commands.ts';
import { subcommandsOf } from '../../../src/sandbox/control/slash-command.ts';
import { parseCommandForm } from '../../../src/sandbox/rest/command-routes.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { openSandbox, runGateway } from '../support/gateway-harness.ts';

const applicationId = '100000000000000001';
const memory = { type: 1, name: 'memory', description: 'Memory', contexts: [0, 1], integration_types: [0] };

/** Discord's store of commands by scope, with what was written to it. */
function fakeApi(registered: Readonly<Record<string, readonly ApplicationCommand[]>> = {}) {
  const scopes = new Map(Object.entries(registered));
  const written: string[] = [];
  return {
    scopes,
    written,
    asked: [] as string[],
    /** The bot's own. */
    store: new MemoryStore(),
    failing: new Set<string>(),
    async registeredCommands(_application: string, guildId = 'global') {
      this.asked.push(guildId);
      if (this.failing.has(guildId)) throw new Error('Missing Access');
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is looked at
      return (scopes.get(guildId) ?? []) as never;
    },
    async registerCommands(_application: string, commands: readonly object[], guildId = 'global') {
      written.push(`${guildId}: ${commands.length}`);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what was given as such
      scopes.set(guildId, commands as readonly ApplicationCommand[]);
    },
  };
}

async function register(
  api: ReturnType<typeof fakeApi>,
  options: {
    readonly commands?: readonly ApplicationCommand[];
    readonly guildIds?: readonly string[];
    readonly botGuildIds?: readonly string[] | 'not told';
  } = {},
) {
  const logger = new RecordingLogger();
  await registerCommands({
    api,
    applicationId,
    commands: [memory],
    guildIds: [],
    store: api.store,
    signal: new AbortController().signal,
    logger,
    ...options,
    botGuildIds: async () => {
      if (options.botGuildIds === 'not told') throw new Error('Internal Server Error');
      return options.botGuildIds ?? ['1', '2'];
    },
  });
  return { logger };
}

describe('registering commands', () => {
  it('writes them once, however often the bot starts', async () => {
    const api = fakeApi();
    await register(api);
    await register(api);
    expect(api.written).toEqual(['global: 1']);
  });

  it('writes what changed, and removes what is switched off', async () => {
    const api = fakeApi();
    await register(api);
    await register(api, { commands: [{ ...memory, description: 'See your memory' }] });
    await register(api, { commands: [] });
    expect(api.written).toEqual(['global: 1', 'global: 1', 'global: 0']);
  });

  it('asks one thing of Discord at a start, however many servers there are', async () => {
    const api = fakeApi();
    const botGuildIds = Array.from({ length: 20 }, (_, index) => String(index));
    await register(api, { botGuildIds });
    // What an earlier release left, in whichever server, is looked for once, when the commands can be used.
    expect(api.asked).toEqual(['global', ...botGuildIds]);
    api.asked.length = 0;
    await register(api, { botGuildIds });
    expect(api.asked).toEqual(['global']);
  });

  it('takes the leftovers of development away before people could see them twice', async () => {
    const api = fakeApi();
    await register(api, { guildIds: ['2'] });
    await register(api);
    expect(api.written).toEqual(['2: 1', '2: 0', 'global: 1']);
  });

  it('asks nothing for a guild that the bot is not in, takes nothing away because of it, and says so', async () => {
    const api = fakeApi({ global: [memory], '3': [memory] });
    const { logger } = await register(api, { commands: [], guildIds: ['3'] });
    expect(api.written).toEqual([]);
    expect(logger.warnings).toEqual(['commands are not registered for a guild that the bot is not in']);
    await register(api, { guildIds: ['3', '2'] });
    expect(api.written).toEqual(['global: 0', '2: 1']);
  });

  it('finds leftovers that nobody remembers, once the commands can be used', async () => {
    const api = fakeApi({ '2': [memory] });
    await register(api);
    expect(api.written).toEqual(['global: 1', '2: 0']);
  });

  it('writes those of everywhere also where Discord does not tell which servers there are', async () => {
    const api = fakeApi({ 2: [memory] });
    await register(api, { botGuildIds: 'not told' });
    expect(api.written).toEqual(['global: 1']);
    await register(api);
    expect(api.written).toEqual(['global: 1', '2: 0']);
  });

  it('registers for development in the named guilds only, and nowhere else', async () => {
    const api = fakeApi({ global: [memory], '2': [memory] });
    await register(api, { guildIds: ['1'] });
    await register(api, { guildIds: ['1'] });
    expect(api.written).toEqual(['global: 0', '1: 1', '2: 0']);
    expect(api.scopes.get('1')).toEqual([{ type: 1, name: 'memory', description: 'Memory' }]);
  });

  it('warns, and goes on, where a guild refuses', async () => {
    const api = fakeApi();
    api.failing.add('1');
    const { logger } = await register(api, { guildIds: ['1', '2'] });
    expect(logger.warnings).toEqual(['the registered commands could not be read']);
    expect(api.written).toEqual(['2: 1']);
    // It is tried again when that guild answers.
    api.failing.clear();
    await register(api, { guildIds: ['2'] });
    expect(api.asked.slice(-3)).toEqual(['1', 'global', '2']);
  });
});

describe('registering commands with Discord', () => {
  it('takes commands for the same that Discord tells in its own words', async () => {
    const server = await openSandbox();
    await runGateway({ server });
    await runGateway({ server });
    const written = await server.requests({ method: 'PUT', path: '/applications/*/commands' });
    expect(written).toHaveLength(1);
    expect((await server.commands()).map(({ name }) => name)).toEqual(['memory', 'Remember this']);
  });

  it('changes from a guild to everywhere and back without leaving anything behind', async () => {
    const server = await openSandbox();
    const guildIds = Object.values((await server.info()).guilds);
    const store = new MemoryStore();
    await runGateway({ server, store, commandGuildIds: guildIds });
    await runGateway({ server, store, commandGuildIds: guildIds });
    const inGuild = await server.requests({ method: 'PUT', path: '/applications/*/guilds/*/commands' });
    expect(inGuild).toHaveLength(1);
    await runGateway({ server, store });
    expect((await server.commands()).map(({ name }) => name)).toEqual(['memory', 'Remember this']);
    await runGateway({ server, store, commandGuildIds: guildIds });
    expect((await server.commands()).map(({ name }) => name)).toEqual(['memory', 'Remember this']);
  });
});

describe('the definition of a command in Discord’s JSON', () => {
  it('has its subcommands and help, with what each option may be', () => {
    const definition = {
      name: 'memory',
      description: 'Memory',
      subcommands: {
        forget: {
          description: 'Forget',
          options: { target: { kind: 'text', description: 'What', autocomplete: true } },
        },
        reset: {
          description: 'Reset',
          options: {
            layer: {
              kind: 'choice',
              description: 'Which',
              choices: [{ name: 'the summary', value: 'rolling', aliases: ['summary'] }],
              isOptional: true,
            },
          },
        },
      },
      help: { description: 'Help', text: 'All of it.', noun: 'command' },
    } as const;
    const layer = {
      type: 3,
      name: 'layer',
      description: 'Which',
      required: false,
      choices: [{ name: 'the summary', value: 'rolling' }],
    };
    expect(slashCommand(definition)).toMatchObject({
      ...wanted,
      options: [
        wanted.options[0],
        { type: 1, name: 'reset', description: 'Reset', options: [layer] },
        { type: 1, name: 'help', description: 'Help' },
      ],
    });
  });

  it('can be used in guilds and in DMs, unless it is for servers', () => {
    const command = { name: 'memory', description: 'Memory' };
    expect(slashCommand(command)).toMatchObject({ contexts: [0, 1], integration_types: [0] });
    expect(slashCommand({ ...command, serverOnly: 'No.' })).toMatchObject({ contexts: [0] });
    expect(messageMenuCommand('Remember this')).toMatchObject({ type: 3, contexts: [0, 1] });
  });
});

const wanted = {
  type: 1,
  name: 'memory',
  description: 'Memory',
  contexts: [0, 1],
  integration_types: [0],
  options: [
    {
      type: 1,
      name: 'forget',
      description: 'Forget',
      options: [{ type: 3, name: 'target', description: 'What', required: true, autocomplete: true }],
    },
  ],
};

/** As Discord answers: with ids and defaults, in an order of its own. */
const registered = {
  id: '100000000000000001',
  application_id: '100000000000000002',
  version: '100000000000000003',
  default_member_permissions: null,
  dm_permission: true,
  nsfw: false,
  name_localizations: null,
  ...wanted,
  contexts: [1, 0],
  options: [{ name_localizations: null, required: false, ...wanted.options[0] }],
};
const menu = { type: 3, name: 'Remember this' };

describe('whether commands are registered as they should be', () => {
  it('is not a question of order, defaults or what Discord adds', () => {
    expect(areSameCommands([{ ...menu, description: '', id: '1' }, registered], [wanted, menu])).toBe(true);
  });

  it.each([
    ['another description', { ...wanted, description: 'See your memory' }],
    ['no DMs', { ...wanted, contexts: [0] }],
    ['another option', { ...wanted, options: [] }],
    ['no completion', { ...wanted, options: [{ ...wanted.options[0], options: [] }] }],
    ['choices', { ...wanted, options: [{ ...wanted.options[0], choices: [{ name: 'a', value: 'a' }] }] }],
  ])('is denied for %s', (_, changed) => {
    expect(areSameCommands([registered], [changed])).toBe(false);
  });

  it('is denied where one is missing or too many', () => {
    expect(areSameCommands([registered], [wanted, menu])).toBe(false);
    expect(areSameCommands([registered, menu], [wanted])).toBe(false);
  });
});

it('has a slash form of every command, in groups where there are more than Discord takes', () => {
  for (const definition of [memoryDefinition, settingsDefinition, catchupDefinition, statusDefinition]) {
    const command = slashCommand(definition);
    const form = parseCommandForm(command);
    expect(form.options.length).toBeLessThanOrEqual(25);
    const { subcommands = {}, help } = definition as CommandDefinition;
    const offered = Object.entries(subcommands).filter(([, { isHidden }]) => isHidden !== true);
    const names = [...offered.map(([name]) => name), ...(help === undefined ? [] : ['help'])];
    expect(
      subcommandsOf(form)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(names.toSorted());
  }
  const paths = subcommandsOf(parseCommandForm(slashCommand(memoryDefinition))).map(({ path }) => path);
  for (const path of ['show', 'note', 'help', 'data export', 'data erase', 'item pin'])
    expect(paths).toContain(path);
});
