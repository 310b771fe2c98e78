import { jsonOf, jsonValuesIn } from '../core/lenient-json.ts';

/** A tool call that a model wrote as text. */
export interface WrittenCall {
  /** As it was written; empty where none can be told. */
  readonly name: string;
  readonly input: unknown;
}

/** The calls in a text that is nothing else, in any of the forms that models write; none where it is something else. */
export function writtenCalls(text: string, tools: readonly string[]): readonly WrittenCall[] {
  const plain = text.trim().replace(/^print\((.*)\)$/su, '$1');
  const [json] = jsonValuesIn(plain);
  if (json?.start === 0 && json.end === plain.length) return callsInJson(json.value);
  const call = /^(?:[a-z_]+[.:])?(?<name>\w+)\((?<written>.*)\)$/su.exec(plain)?.groups;
  if (call === undefined || !isOffered(call['name'] ?? '', tools)) return [];
  const input = inputIn(call['written'] ?? '');
  return input === undefined ? [] : [{ name: call['name'] ?? '', input }];
}

/** The calls between the marks of a template, at least one: a call that cannot be read has no name. */
export function callsBetweenMarks(region: string, tools: readonly string[]): readonly WrittenCall[] {
  const alone = writtenCalls(region, tools);
  if (alone.length > 0) return alone;
  let read = 0;
  const inJson = jsonValuesIn(region).flatMap(({ value, start, end }): readonly WrittenCall[] => {
    const name = nameIn(region.slice(read, start), tools);
    const calls = callsInJson(value);
    read = end;
    return calls.length > 0 || name === undefined ? calls : [{ name, input: value }];
  });
  if (inJson.length > 0) return inJson;
  const name = nameIn(region, tools) ?? '';
  const fields = Array.from(region.matchAll(parameters), ({ groups = {} }) => [
    groups['name'] ?? groups['key'] ?? '',
    (groups['value'] ?? groups['of'] ?? '').trim(),
  ]);
  return [{ name, input: Object.fromEntries(fields) }];
}

const parameters =
  /<(?:antml:)?parameter(?:=| name=")(?<name>\w+)"?>(?<value>.*?)<\/(?:antml:)?parameter>|<arg_key>(?<key>.*?)<\/arg_key>\s*<arg_value>(?<of>.*?)<\/arg_value>/gsu;

/** A tool's name without the prefix, number, mark or case that some models write, as in `functions.Recall_Memory:0` [M14]. */
export function bareName(name: string): string {
  return name
    .toLowerCase()
    .replace(/<.*/su, '')
    .replace(/:\d+$/u, '')
    .replace(/^.*[.:/]/su, '');
}

function isOffered(name: string, tools: readonly string[]): boolean {
  return tools.includes(bareName(name));
}

/** The offered tool that a text names last, else the word that stands where templates have the name. */
function nameIn(text: string, tools: readonly string[]): string | undefined {
  const words = text.match(/\w+/gu) ?? [];
  const offered = words.findLast((word) => isOffered(word, tools));
  return offered ?? /(?:function=|name="|functions\.|call:)(?<name>\w+)/u.exec(text)?.groups?.['name'];
}

function callsInJson(value: unknown): readonly WrittenCall[] {
  if (Array.isArray(value)) return value.flatMap(callsInJson);
  if (typeof value !== 'object' || value === null) return [];
  const fields: Readonly<Record<string, unknown>> = { ...value };
  const inner = fields['tool_calls'] ?? fields['tool_call'] ?? fields['function_call'] ?? fields['function'];
  if (typeof inner === 'object' && inner !== null) return callsInJson(inner);
  const name = fields['name'] ?? fields['tool'] ?? fields['tool_name'] ?? fields['action'] ?? inner;
  const written = ['arguments', 'parameters', 'input', 'args', 'action_input'].find((key) => key in fields);
  if (typeof name !== 'string' || written === undefined) return [];
  const input = fields[written];
  return [{ name, input: typeof input === 'string' ? jsonOf(input) : input }];
}

/** What Python writes in another way than JSON. */
const ofPython =
  /"[^"\\]*(?:\\.[^"\\]*)*"|'(?<text>[^'\\]*(?:\\.[^'\\]*)*)'|(?<!\w)(?<name>\w+)\s*=|(?<word>True|False|None)/gsu;
const words: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' };

/** What stands between the brackets of a call: JSON, or `name="value"` as in Python. */
function inputIn(written: string): unknown {
  const fields = written.replace(ofPython, (found, text?: string, name?: string, word?: string) => {
    if (text !== undefined) return JSON.stringify(text.replaceAll(String.raw`\'`, "'"));
    return name === undefined ? (words[word ?? ''] ?? found) : `"${name}":`;
  });
  const input = jsonOf(written) ?? jsonOf(`{${fields}}`);
  return typeof input === 'object' ? input : undefined;
}
