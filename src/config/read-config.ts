import { z } from 'zod';

import { ConfigError } from './config-error.ts';
import type { Config, Values } from './config.ts';
import { arrangeConfig } from './config.ts';
import { nearestName } from './nearest-name.ts';
import type { Variable } from './variable.ts';
import { variables } from './variables.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the environment once. An empty variable counts as unset.
 *
 * @returns the frozen configuration, and notes for the log: names that look like a typing error, options without effect.
 * @throws {ConfigError} naming every bad variable with what was found and what is expected; secrets are not printed.
 */
export function readConfig(environment: Environment): { config: Config; notes: readonly string[] } {
  const known = new Map<string, Variable<unknown>>(
    Object.values(variables).flatMap((theme) => Object.entries<Variable<unknown>>(theme)),
  );
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, variable] of known) {
    const raw = environment[name];
    const result = z.safeParse(variable.schema, raw);
    if (result.success) values[name] = result.data;
    else
      problems.push(
        `${name}: expected ${variable.expects}, found ${variable.secret ? 'something else' : JSON.stringify(raw)}`,
      );
  }
  if (values['DISCORD_API_URL'] !== undefined && values['DISCORD_TOKEN'] === undefined) {
    problems.push('DISCORD_TOKEN: expected the token for the server at DISCORD_API_URL, found nothing');
  }
  if (problems.length > 0) throw new ConfigError(problems);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each value has just been made by the schema of its own name
  return { config: arrangeConfig(values as Values), notes: notesOn(environment, known) };
}

function notesOn(environment: Environment, known: ReadonlyMap<string, unknown>): readonly string[] {
  const names = Object.keys(environment).filter((name) => /^(?:DISCOCLAW|DISCORD)_/u.test(name));
  const unknown = names.filter((name) => !known.has(name));
  const notes = unknown.map((name) => {
    const nearest = nearestName(name, [...known.keys()]);
    return `${name} is not a variable of this bot${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
  });
  if ((environment['DISCOCLAW_RECENT_LOG_DAYS'] ?? '') !== '') {
    notes.push(
      'DISCOCLAW_RECENT_LOG_DAYS has no effect any more: daily logs are listed by path, for today and yesterday',
    );
  }
  return notes;
}
