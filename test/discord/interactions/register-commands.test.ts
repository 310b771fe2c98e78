import type { APIApplicationCommandOption } from 'discord.js';
import { expect, it } from 'vitest';

import { slashCommand } from '../../../src/discord/interactions/register-commands.ts';
import { catchupDefinition } from '../../../src/commands/catchup-command.ts';
import { memoryDefinition } from '../../../src/commands/memory-command.ts';
import { settingsDefinition } from '../../../src/commands/settings-command.ts';
import { statusDefinition } from '../../../src/commands/status-command.ts';
import type { CommandDefinition } from '../../../src/core/commands.ts';
import { subcommandsOf } from '../../../src/sandbox/people/slash-command.ts';
import { commandsSchema } from '../../support/sandbox/rules.ts';

/** A command's options as Discord takes them. @throws {ZodError} for what it would not take. */
function formOf(definition: CommandDefinition) {
  const command = slashCommand(definition);
  commandsSchema.parse([command]);
  const options: readonly APIApplicationCommandOption[] = JSON.parse(JSON.stringify(command)).options;
  return { options };
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
  for (const path of ['show', 'undo', 'help', 'data export', 'data erase', 'item pin'])
    expect(paths).toContain(path);
});
