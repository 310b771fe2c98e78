import { textOf } from '../../src/core/model.ts';
import type { MessagesBody, ModelServerRequest } from '../support/model-server.ts';
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

/** Whether a call asks for a rolling summary and not for an answer. */
export function asksForSummary({ system = [] }: MessagesBody): boolean {
  return system.some(({ text = '' }) => text.startsWith('You keep the summary'));
}

/** The calls for an answer so far; a summary of an earlier conversation may come in at any time. */
export function callsForAnswers(stage: Stage): readonly ModelServerRequest[] {
  return stage.model.requests.filter(({ body }) => !asksForSummary(body));
}

/** The newest call for an answer. */
export function newestCall(stage: Stage): ModelServerRequest {
  const newest = callsForAnswers(stage).at(-1);
  if (newest === undefined) throw new Error('The model was never asked for an answer');
  return newest;
}

/** All that a call tells the model besides its instructions: what is remembered, history, and the message. */
export function toldIn({ body }: ModelServerRequest): string {
  return (body.messages ?? []).map(({ content }) => textOf(content)).join('');
}

/** Somebody says something, and this is what the model is sent for it. */
export async function promptFor(stage: Stage, as: string, place: string, text = 'hello'): Promise<string> {
  await stage.ask(as, place, text);
  return newestCall(stage).raw;
}
