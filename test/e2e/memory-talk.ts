import type { Stage } from './stage.ts';

/** The two ways to give a command. */
export const ways = ['!memory', '/memory'] as const;
export type Way = (typeof ways)[number];

const optionNames: ReadonlyMap<string, string> = new Map([
  ['search', 'query'],
  ['remember', 'text'],
  ['note', 'text'],
  ['forget', 'target'],
  ['purge', 'target'],
  ['reset', 'layer'],
  ['mode', 'value'],
  ['pause', 'for'],
  ['notices', 'value'],
  ['review', 'answer'],
  ['timezone', 'name'],
  ['notebook', 'file'],
]);

/** Gives a command by its words, such as `forget Acme`, and resolves with the answer's first message. */
export async function command(
  stage: Stage,
  way: Way,
  as: string,
  place: string,
  words: string,
): Promise<string> {
  if (way === '!memory') return (await stage.ask(as, place, `!memory ${words}`)).text;
  const [, subcommand = '', value] = /^(\S+)(?: ([\s\S]+))?$/u.exec(words) ?? [];
  const options = optionsOf(subcommand, value);
  const { answer } = await stage.sandbox.slash({ as, in: place, name: 'memory', subcommand, options });
  return answer?.text ?? '';
}

/** The options of a slash command for what is written behind its name. */
function optionsOf(subcommand: string, value = ''): Readonly<Record<string, string>> {
  const [, id = '', text = ''] = /^(\S+)\s+([\s\S]+)$/u.exec(value) ?? [];
  if (value === '') return {};
  return subcommand === 'edit' ? { id, text } : { [optionNames.get(subcommand) ?? 'id']: value };
}

/** The id that an answer names. */
export function idIn(answer: string): string {
  return /\bid ([0-9a-f]{8})\b/u.exec(answer)?.[1] ?? `no id in: ${answer}`;
}
