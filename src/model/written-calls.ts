/** A tool call that a model wrote as text. */
export interface WrittenCall {
  /** As it was written; empty where none can be told. */
  readonly name: string;
  readonly input: unknown;
}

/** The JSON object or list that begins at an offset, and where it ends; `undefined` where it does not end or is none. */
export function jsonAt(text: string, start: number): { value: unknown; end: number } | undefined {
  let depth = 0;
  // Strings are passed over whole, so that their brackets do not count.
  for (const { 0: token, index } of text.slice(start).matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]]/gsu)) {
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    if (depth > 0) continue;
    const end = start + index + token.length;
    const value = parsed(text.slice(start, end));
    return value === undefined ? undefined : { value, end };
  }
  return undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The calls in a text that is nothing else, in any of the forms that models write; none where it is something else. */
export function writtenCalls(text: string, tools: readonly string[]): readonly WrittenCall[] {
  const plain = text.trim().replace(/^print\((.*)\)$/su, '$1');
  const start = plain.search(/[{[]/u);
  const json = start === 0 ? jsonAt(plain, 0) : undefined;
  if (json !== undefined && plain.slice(json.end).trim() === '') return callsInJson(json.value);
  const call = /^(?:[a-z_]+[.:])?(?<name>\w+)\((?<written>.*)\)$/su.exec(plain)?.groups;
  if (call === undefined || !isOffered(call['name'] ?? '', tools)) return [];
  const input = inputIn(call['written'] ?? '');
  return input === undefined ? [] : [{ name: call['name'] ?? '', input }];
}

/** The calls between the marks of a template, at least one: a call that cannot be read has no name. */
export function callsBetweenMarks(region: string, tools: readonly string[]): readonly WrittenCall[] {
  const alone = writtenCalls(region, tools);
  if (alone.length > 0) return alone;
  const found: WrittenCall[] = [];
  let before = '';
  for (let at = 0; at < region.length;) {
    const start = region.slice(at).search(/[{[]/u);
    const json = start === -1 ? undefined : jsonAt(region, at + start);
    before += region.slice(at, start === -1 ? undefined : at + start + (json === undefined ? 1 : 0));
    if (start === -1) break;
    at = json?.end ?? at + start + 1;
    if (json === undefined) continue;
    const name = nameIn(before, tools);
    const inJson = callsInJson(json.value);
    if (inJson.length > 0) found.push(...inJson);
    else if (name !== undefined) found.push({ name, input: json.value });
    before = '';
  }
  if (found.length > 0) return found;
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
  return [{ name, input: typeof input === 'string' ? parsed(input) : input }];
}

/** What stands between the brackets of a call: JSON, or `name="value"` as in Python. */
function inputIn(written: string): unknown {
  if (written.trim() === '') return {};
  const json = parsed(written);
  if (json !== undefined) return typeof json === 'object' ? json : undefined;
  const fields: [string, unknown][] = [];
  let rest = written;
  while (rest.trim() !== '') {
    const field =
      /^\s*(?<name>\w+)\s*=\s*(?<value>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\[[^\]]*\]|[\w.+-]+)\s*(?:,|$)/su.exec(
        rest,
      );
    if (field?.groups === undefined) return undefined;
    const { name = '', value = '' } = field.groups;
    const quoted = value.startsWith("'")
      ? JSON.stringify(value.slice(1, -1).replaceAll(String.raw`\'`, "'"))
      : value;
    fields.push([name, parsed(quoted.replace(/^(?:True|False)$/u, (word) => word.toLowerCase())) ?? null]);
    rest = rest.slice(field[0].length);
  }
  return Object.fromEntries(fields);
}
