import type { CommandDefinition } from '../../core/application-command.ts';

type Json = Readonly<Record<string, unknown>>;

/** What a command has that is not given, as Discord answers with it. */
const commandDefaults: Json = {
  type: 1,
  name: '',
  description: '',
  options: [],
  contexts: null,
  integration_types: [0],
  default_member_permissions: null,
  nsfw: false,
};

const optionDefaults: Json = {
  type: null,
  name: '',
  description: '',
  required: false,
  autocomplete: false,
  choices: [],
  options: [],
  channel_types: [],
  min_value: null,
  max_value: null,
  min_length: null,
  max_length: null,
};

const choiceDefaults: Json = { name: '', value: null };

/**
 * Whether what is registered is what should be. Neither the order of commands or keys, nor defaults, nor what Discord adds of its own, is a
 * difference.
 */
export function areSameDefinitions(
  registered: readonly object[],
  wanted: readonly CommandDefinition[],
): boolean {
  return comparable(registered) === comparable(wanted);
}

function comparable(definitions: readonly object[]): string {
  return JSON.stringify(definitions.map((definition) => JSON.stringify(command(definition))).toSorted());
}

function command(definition: object): Json {
  const { contexts, integration_types: types, options, ...rest } = withDefaults(definition, commandDefaults);
  return { ...rest, contexts: sorted(contexts), types: sorted(types), options: listOf(options, option) };
}

/** Options keep their order: people see it. */
function option(given: object): Json {
  const { choices, options, channel_types: types, ...rest } = withDefaults(given, optionDefaults);
  return {
    ...rest,
    types: sorted(types),
    choices: listOf(choices, (choice) => withDefaults(choice, choiceDefaults)),
    options: listOf(options, option),
  };
}

/** The known keys, in their order. */
function withDefaults(given: object, defaults: Json): Json {
  const values = new Map<string, unknown>(Object.entries(given));
  return Object.fromEntries(Object.entries(defaults).map(([key, value]) => [key, values.get(key) ?? value]));
}

function listOf(value: unknown, read: (element: object) => Json): readonly Json[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((element: unknown) =>
    typeof element === 'object' && element !== null ? [read(element)] : [],
  );
}

function sorted(value: unknown): unknown {
  return Array.isArray(value) ? value.map(String).toSorted() : value;
}
