import { ApplicationCommandType } from 'discord-api-types/v10';
import type { APIApplicationCommandOption } from 'discord-api-types/v10';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { commandPayload } from '../payloads/interaction-payload.ts';
import type { Command } from '../world/entities.ts';
import { apiErrors, parseForm } from './api-error.ts';
import { guildWithBot } from './rest-context.ts';
import type { RestContext } from './rest-context.ts';

const commandSchema = z.object({
  name: z.string().regex(/^[-_\p{L}\p{N}]{1,32}$/u),
  type: z.enum(ApplicationCommandType).default(ApplicationCommandType.ChatInput),
  description: z.string().max(100).default(''),
  options: z
    .array(
      z.custom<APIApplicationCommandOption>(
        (value) => z.object({ name: z.string(), type: z.int() }).safeParse(value).success,
      ),
    )
    .max(25)
    .default([]),
});

interface OfApplication {
  readonly Params: { readonly application: string };
}
interface OfGuild {
  readonly Params: { readonly application: string; readonly guild: string };
}

/** Slash commands: overwriting all global ones, or all of a guild, and listing them. */
export function commandRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.put<OfApplication>('/applications/:application/commands', (request) => {
    requireOwnApplication(request.params.application);
    return overwrite(undefined, request.body);
  });

  app.get<OfApplication>('/applications/:application/commands', (request) => {
    requireOwnApplication(request.params.application);
    return list(undefined);
  });

  app.put<OfGuild>('/applications/:application/guilds/:guild/commands', (request) => {
    requireOwnApplication(request.params.application);
    return overwrite(guildWithBot(context, request.params.guild).id, request.body);
  });

  app.get<OfGuild>('/applications/:application/guilds/:guild/commands', (request) => {
    requireOwnApplication(request.params.application);
    return list(guildWithBot(context, request.params.guild).id);
  });

  function requireOwnApplication(id: string): void {
    if (id !== world.application.id) throw apiErrors.unknownCommand();
  }

  /** A command keeps its id over an overwrite as long as its name stays. */
  function overwrite(guildId: string | undefined, body: unknown): readonly object[] {
    const forms = parseForm(z.array(commandSchema).max(100), body);
    const former = registered(guildId);
    for (const command of former) world.commands.delete(command.id);
    for (const form of forms) {
      const id =
        former.find(({ name, type }) => name === form.name && type === form.type)?.id ?? world.nextId();
      world.commands.set(id, { ...form, id, guildId, version: world.nextId() });
    }
    return list(guildId);
  }

  function list(guildId: string | undefined): readonly object[] {
    return registered(guildId).map((command) => commandPayload(world, command));
  }

  function registered(guildId: string | undefined): readonly Command[] {
    return [...world.commands.values()].filter((command) => command.guildId === guildId);
  }
}
