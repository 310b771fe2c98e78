import { describe, expect, it } from 'vitest';

import {
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
import { parseCommandForms } from '../../../src/sandbox/rest/command-routes.ts';
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
    /** The bot's own. */
    store: new MemoryStore(),
    failing: new Set<string>(),
    async registerCommands(_application: string, commands: readonly object[], guildId = 'global') {
      if (this.failing.has(guildId)) throw new Error('Missing Access');
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
  it('is one request at a start, which replaces what there is', async () => {
    const api = fakeApi({ global: [memory, { name: 'old' }] });
    await register(api);
    await register(api);
    expect(api.written).toEqual(['global: 1', 'global: 1']);
    expect(api.scopes.get('global')).toEqual([memory]);
  });

  it('writes what changed, and removes what is switched off', async () => {
    const api = fakeApi();
    await register(api);
    await register(api, { commands: [{ ...memory, description: 'See your memory' }] });
    await register(api, { commands: [] });
    expect(api.written).toEqual(['global: 1', 'global: 1', 'global: 0']);
  });

  it('takes the leftovers of development away before people could see them twice', async () => {
    const api = fakeApi();
    await register(api, { guildIds: ['2'] });
    await register(api);
    expect(api.written).toEqual(['global: 0', '2: 1', '2: 0', 'global: 1']);
  });

  it('asks nothing for a guild that the bot is not in, takes nothing away because of it, and says so', async () => {
    const api = fakeApi({ global: [memory], '3': [memory] });
    const { logger } = await register(api, { commands: [], guildIds: ['3'] });
    expect(api.written).toEqual([]);
    expect(logger.warnings).toEqual(['commands are not registered for a guild that the bot is not in']);
    await register(api, { guildIds: ['3', '2'] });
    expect(api.written).toEqual(['global: 0', '2: 1']);
  });

  it('needs no server for those of everywhere, and leaves all as it is where Discord does not tell which servers there are', async () => {
    const api = fakeApi();
    await register(api, { botGuildIds: 'not told' });
    expect(api.written).toEqual(['global: 1']);
    const { logger } = await register(api, { guildIds: ['1'], botGuildIds: 'not told' });
    expect(api.written).toEqual(['global: 1']);
    expect(logger.warnings).toEqual(['the commands could not be registered']);
  });

  it('registers for development in the named guilds only', async () => {
    const api = fakeApi({ global: [memory] });
    await register(api, { guildIds: ['1'] });
    expect(api.written).toEqual(['global: 0', '1: 1']);
    expect(api.scopes.get('1')).toEqual([{ type: 1, name: 'memory', description: 'Memory' }]);
  });

  it('warns, and goes on, where a guild refuses, which is tried again at the next start', async () => {
    const api = fakeApi();
    await register(api, { guildIds: ['1', '2'] });
    api.failing.add('1');
    const { logger } = await register(api, { guildIds: ['2'] });
    expect(logger.warnings).toEqual(['the commands could not be registered']);
    api.failing.clear();
    await register(api, { guildIds: ['2'] });
    expect(api.written.slice(-3)).toEqual(['1: 0', 'global: 0', '2: 1']);
  });
});

describe('registering commands with Discord', () => {
  it('changes from a guild to everywhere and back without leaving anything behind', async () => {
    const server = await openSandbox();
    const guildIds = Object.values((await server.info()).guilds);
    const store = new MemoryStore();
    await runGateway({ server, store, commandGuildIds: guildIds });
    expect((await server.commands()).map(({ name }) => name)).toEqual(['memory', 'Remember this']);
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

/** A command as Discord takes it. */
function formOf(definition: CommandDefinition) {
  const [form] = parseCommandForms([slashCommand(definition)]);
  if (form === undefined) throw new Error('No form');
  return form;
}

it('has a slash form of every command, in groups where there are more than Discord takes', () => {
  for (const definition of [memoryDefinition, settingsDefinition, catchupDefinition, statusDefinition]) {
    const form = formOf(definition);
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
  const paths = subcommandsOf(formOf(memoryDefinition)).map(({ path }) => path);
  for (const path of ['show', 'note', 'help', 'data export', 'data erase', 'item pin'])
    expect(paths).toContain(path);
});
