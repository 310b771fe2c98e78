import { textOf, type ModelRequest } from '../../core/model.ts';
import { sectionNames, type SectionName } from '../../core/section.ts';

export type ReadRequest = ReturnType<typeof readRequest>;

/** At the start of a line of history. */
const dateForm = /^\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d\] ?/u;
const section = new RegExp(String.raw`<(${sectionNames.join('|')})( [^<>\n]*)?>\n(.*?)\n</\1>\n?`, 'gsu');

/** Parses a request by the prompt's own tags, which no data can forge [P3]. */
export function readRequest(request: ModelRequest) {
  /** Lines without the section's title. */
  const sections = new Map<SectionName, readonly string[]>();
  /** The bot's own words have no name. */
  const history: { readonly name?: string; readonly text: string }[] = [];
  /** The names of attached files, opened or not. */
  const files: string[] = [];
  /** The message to answer; `from` is its author's name. */
  let message = { from: '', text: '' };

  for (const turn of request.messages) {
    for (const block of turn.content) {
      if (block.type !== 'text') continue;
      if (turn.role === 'assistant') {
        history.push({ text: block.text.trim() });
        continue;
      }
      const rest = block.text.replaceAll(section, (_, name: SectionName, attributes = '', body: string) => {
        if (name === 'message')
          message = {
            from: /from="([^"]*)"/u.exec(attributes)?.[1] ?? '',
            text: body.replace(/^\[attached: .*\]$/gmu, '').trim(),
          };
        else if (name === 'attached_file') files.push(...(/^.+(?=:$)/mu.exec(body) ?? []));
        else sections.set(name, body.split('\n').slice(1));
        return '';
      });
      for (const line of rest.split('\n')) {
        const [, name, text] = /^([^:]{1,80}): (.+)$/u.exec(line.trim().replace(dateForm, '')) ?? [];
        if (name !== undefined && text !== undefined) history.push({ name, text });
      }
    }
  }
  return {
    sections,
    history,
    message,
    files,
    tools: new Set(request.tools?.map((tool) => tool.name)),
    turns: (sections.get('turns') ?? []).flatMap((line) => parseTurnLine(line) ?? []),
    /** Empty in the first round. */
    toolRuns: lastToolRuns(request),
  };
}

/** Tool calls of the last round with their results. */
function lastToolRuns({ messages }: ModelRequest) {
  const results = messages.at(-1)?.content.filter((block) => block.type === 'tool_result') ?? [];
  const calls = messages.at(-2)?.content.filter((block) => block.type === 'tool_use') ?? [];
  return results.flatMap((result) =>
    calls.filter(({ id }) => id === result.toolUseId).map((call) => ({ call, result })),
  );
}

/** All text of a request, instructions first. */
export function requestText(request: ModelRequest): string {
  return [textOf(request.system), ...request.messages.map((message) => textOf(message.content))].join('\n');
}

/** Parses `- Mon 2026-01-15 09:30 [<messageId>] Name: text`. */
function parseTurnLine(line: string) {
  const [, day = '', messageId = '', name, text] =
    /^- \S+ (\S+) \S+ \[(\d+)\] ([^:]+): (?:<others_words>)?(.+?)(?:<\/others_words>)?$/u.exec(line) ?? [];
  return name === undefined || text === undefined ? undefined : { day, messageId, name, text };
}

/** Parses a durable item [D5]: `- [preference] Prefers Rust (src: manual, #dev, updated 2026-01-15)`. */
export function parseRememberedLine(line: string) {
  const [, kind, rest = ''] = /^- \[(\w+)\] (.*)\)$/u.exec(line) ?? [];
  const at = rest.lastIndexOf(' (src: ');
  if (kind === undefined || at === -1) return undefined;
  const [origin = '', date] = rest.slice(at).split(/, updated (\d{4}-\d{2}-\d{2})$/u);
  const [, channel] = origin.split(/, #(.*)/u);
  return { kind, text: rest.slice(0, at), channel, date };
}
