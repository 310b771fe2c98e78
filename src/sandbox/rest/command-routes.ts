import { isDeepStrictEqual } from 'node:util';

import { ApplicationCommandType } from 'discord-api-types/v10';
import type { FastifyInstance } from 'fastify';

import { commandPayload } from '../payloads/command-payload.ts';
import type { Command } from '../world/entities.ts';
import { apiErrors } from './api-error.ts';
import { parseCommandForm, parseCommandForms } from './command-form.ts';
import type { CommandForm } from './command-form.ts';
import { guildWithBot } from './rest-context.ts';
import type { RestContext } from './rest-context.ts';

/** How many commands of a type there may be, globally and in each guild. */
const mostCommands: Readonly<Record<ApplicationCommandType, number>> = {
  [ApplicationCommandType.ChatInput]: 100,
  [ApplicationCommandType.User]: 15,
  [ApplicationCommandType.Message]: 15,
  [ApplicationCommandType.PrimaryEntryPoint]: 0,
};

interface OnCommands {
  readonly Params: { readonly application: string; readonly guild?: string };
}
interface OnCommand {
  readonly Params: OnCommands['Params'] & { readonly command: string };
}

/** Commands of the application: global ones, and those of each guild. */
export function commandRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  for (const path of [
    '/applications/:application/commands',
    '/applications/:application/guilds/:guild/commands',
  ]) {
    app.get<OnCommands>(path, ({ params }) => registered(scopeOf(params)).map(payload));

    app.put<OnCommands>(path, ({ params, body }) => {
      const guildId = scopeOf(params);
      const forms = parseCommandForms(body);
      requireUniqueNames(forms);
      requireRoom(forms);
      const former = registered(guildId);
      for (const command of former) world.commands.delete(command.id);
      for (const form of forms) keep(guildId, form, former.find(sameName(form)));
      return registered(guildId).map(payload);
    });

    app.post<OnCommands>(path, ({ params, body }, reply) => {
      const guildId = scopeOf(params);
      const form = parseCommandForm(body);
      const former = registered(guildId).find(sameName(form));
      if (former === undefined) requireRoom([...registered(guildId), form]);
      return reply.code(former === undefined ? 201 : 200).send(payload(keep(guildId, form, former)));
    });

    app.get<OnCommand>(`${path}/:command`, ({ params }) => payload(commandOf(params)));

    app.patch<OnCommand>(`${path}/:command`, ({ params, body }) => {
      const command = commandOf(params);
      const change = typeof body === 'object' && body !== null ? body : {};
      const form = parseCommandForm({ ...payload(command), ...change, type: command.type });
      requireUniqueNames([...registered(command.guildId).filter(({ id }) => id !== command.id), form]);
      return payload(keep(command.guildId, form, command));
    });

    app.delete<OnCommand>(`${path}/:command`, ({ params }, reply) => {
      world.commands.delete(commandOf(params).id);
      return reply.code(204).send();
    });
  }

  /** The guild's id, or `undefined` for global commands. */
  function scopeOf({ application, guild }: OnCommands['Params']): string | undefined {
    if (application !== world.application.id) throw apiErrors.unknownApplication();
    return guild === undefined ? undefined : guildWithBot(context, guild).id;
  }

  function commandOf(params: OnCommand['Params']): Command {
    const guildId = scopeOf(params);
    const command = world.commands.get(params.command);
    if (command === undefined || command.guildId !== guildId) throw apiErrors.unknownCommand();
    return command;
  }

  /** A command keeps its id as long as its name stays, and its version as long as all of it does. */
  function keep(guildId: string | undefined, form: CommandForm, former: Command | undefined): Command {
    const unversioned = { ...form, id: former?.id ?? world.nextId(), guildId };
    const isSame =
      former !== undefined && isDeepStrictEqual({ ...unversioned, version: former.version }, former);
    const command: Command = { ...unversioned, version: isSame ? former.version : world.nextId() };
    world.commands.set(command.id, command);
    return command;
  }

  function registered(guildId: string | undefined): readonly Command[] {
    return [...world.commands.values()].filter((command) => command.guildId === guildId);
  }

  function payload(command: Command): object {
    return commandPayload(world, command);
  }
}

function sameName(form: CommandForm): (command: CommandForm) => boolean {
  return ({ name, type }) => name === form.name && type === form.type;
}

function requireUniqueNames(forms: readonly CommandForm[]): void {
  const names = new Set(forms.map(({ type, name }) => `${type} ${name}`));
  if (names.size === forms.length) return;
  throw apiErrors.invalidField(
    ['name'],
    'APPLICATION_COMMANDS_DUPLICATE_NAME',
    'Application command names must be unique',
  );
}

function requireRoom(forms: readonly CommandForm[]): void {
  for (const type of new Set(forms.map((form) => form.type))) {
    const most = mostCommands[type];
    if (forms.filter((form) => form.type === type).length > most) throw apiErrors.tooManyCommands(most);
  }
}
