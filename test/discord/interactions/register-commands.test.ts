import { describe, expect, it } from 'vitest';

import {
  registerCommands,
  slashCommand,
  wantedCommands,
  type ApplicationCommand,
} from '../../../src/discord/interactions/register-commands.ts';
import { catchupDefinition } from '../../../src/commands/catchup-command.ts';
import { memoryDefinition } from '../../../src/commands/memory-command.ts';
import { settingsDefinition } from '../../../src/commands/settings-command.ts';
import { statusDefinition } from '../../../src/commands/status-command.ts';
import type { CommandDefinition } from '../../../src/core/commands.ts';
import { subcommandsOf } from '../../../src/sandbox/control/slash-command.ts';
import { parseCommandForms } from '../../../src/sandbox/rest/command-routes.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { openSandbox, runGateway } from '../support/gateway-harness.ts';

const applicationId = '100000000000000001';
const memory = { type: 1, name: 'memory', description: 'Memory', contexts: [0, 1], integration_types: [0] };

/** Discord's store of commands, with what was written to it. */
function fakeApi() {
  const written: (readonly object[])[] = [];
  return {
    written,
    isFailing: false,
    async registerCommands(_application: string, commands: readonly object[]) {
      if (this.isFailing) throw new Error('Missing Access');
      written.push(commands);
    },
  };
}

async function register(api: ReturnType<typeof fakeApi>, commands: readonly ApplicationCommand[] = [memory]) {
  const logger = new RecordingLogger();
  await registerCommands({ api, applicationId, commands, logger });
  return { logger };
}

describe('registering commands', () => {
  it('is one request at a start, which replaces what there is', async () => {
    const api = fakeApi();
    await register(api);
    await register(api);
    expect(api.written).toEqual([[memory], [memory]]);
  });

  it('writes what changed, and removes what is switched off', async () => {
    const api = fakeApi();
    const changed = { ...memory, description: 'See your memory' };
    await register(api);
    await register(api, [changed]);
    await register(api, []);
    expect(api.written).toEqual([[memory], [changed], []]);
  });

  it('warns where Discord refuses, and is tried again at the next start', async () => {
    const api = fakeApi();
    api.isFailing = true;
    const { logger } = await register(api);
    expect(logger.warnings).toEqual(['the commands could not be registered']);
    api.isFailing = false;
    await register(api);
    expect(api.written).toEqual([[memory]]);
  });
});

describe('registering commands with Discord', () => {
  it('leaves the same commands after each start', async () => {
    const server = await openSandbox();
    await runGateway({ server });
    await runGateway({ server });
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
    expect(wantedCommands([], ['Remember this'])).toMatchObject([{ type: 3, contexts: [0, 1] }]);
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

it('has a slash form of every command, in groups if there are more than Discord allows', () => {
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
