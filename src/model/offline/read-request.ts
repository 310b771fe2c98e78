import { textOf, type ModelRequest, type ToolResultBlock, type ToolUseBlock } from '../../core/model.ts';
import { sectionNames, type SectionName } from '../../core/section.ts';

/** A line of the conversation before the message. */
export interface HistoryLine {
  /** The author's name as written there; absent for this bot's own words. */
  readonly name?: string;
  readonly text: string;
}

/** A tool call of this exchange and what came of it. */
export interface ToolRun {
  readonly call: ToolUseBlock;
  readonly result: ToolResultBlock;
}

/** What a request holds, as far as the offline rules look at it. */
export type ReadRequest = ReturnType<typeof readRequest>;

const sectionStart = new RegExp(String.raw`<(${sectionNames.join('|')})( [^<>\n]*)?>\n`, 'gu');

/** Takes a request apart at the prompt's own tags; no data can forge them, so what is found is what was put there [P3]. */
export function readRequest(request: ModelRequest) {
  /** The lines of each section, without title. */
  const sections = new Map<SectionName, readonly string[]>();
  const history: HistoryLine[] = [];
  /** The names of attached files, opened or not. */
  const files: string[] = [];
  /** The words of the message to answer, and the name of who wrote it. */
  let message = { from: '', text: '' };

  for (const turn of request.messages) {
    for (const block of turn.content) {
      if (block.type !== 'text') continue;
      if (turn.role === 'assistant') {
        history.push({ text: block.text.trim() });
        continue;
      }
      const rest = takeSections(block.text, (name, attributes, body) => {
        if (name === 'message')
          message = { from: /from="([^"]*)"/u.exec(attributes)?.[1] ?? '', text: withoutNote(body) };
        else if (name === 'attached_file') files.push(...fileName(body));
        else sections.set(name, body.split('\n').slice(1));
      });
      history.push(...rest.split('\n').flatMap(historyLine));
    }
  }
  return {
    sections,
    history,
    message,
    files,
    tools: new Set(request.tools?.map((tool) => tool.name)),
    /** What the last round of tool calls gave, in order; empty in the first round. */
    toolRuns: lastToolRuns(request),
  };
}

/** Hands over the sections of a text in order; gives what is between them. */
function takeSections(
  text: string,
  take: (name: SectionName, attributes: string, body: string) => void,
): string {
  const between: string[] = [];
  let from = 0;
  for (const { 0: tag, 1: name = '', 2: attributes = '', index } of text.matchAll(sectionStart)) {
    const start = index + tag.length;
    const section = sectionNames.find((each) => each === name);
    const end = index < from ? -1 : text.indexOf(`\n</${name}>`, start);
    if (section === undefined || end === -1) continue;
    between.push(text.slice(from, index));
    take(section, attributes, text.slice(start, end));
    from = end + `\n</${name}>`.length;
    if (text.charAt(from) === '\n') from += 1;
  }
  return between.join('') + text.slice(from);
}

/** The words alone, without the line that names attached files. */
function withoutNote(body: string): string {
  return body.replace(/^\[attached: .*\]$/gmu, '').trim();
}

/** A file's section has its name as title. */
function fileName(body: string): readonly string[] {
  const name = /^(.+):$/mu.exec(body)?.[1];
  return name === undefined ? [] : [name];
}

function historyLine(line: string): readonly HistoryLine[] {
  const [, name, text] = /^([^:]{1,80}): (.+)$/u.exec(line.trim()) ?? [];
  return name === undefined || text === undefined ? [] : [{ name, text }];
}

function lastToolRuns(request: ModelRequest): readonly ToolRun[] {
  const results = request.messages.at(-1)?.content.filter((block) => block.type === 'tool_result') ?? [];
  const calls = request.messages.at(-2)?.content.filter((block) => block.type === 'tool_use') ?? [];
  return results.flatMap((result) => {
    const call = calls.find(({ id }) => id === result.toolUseId);
    return call === undefined ? [] : [{ call, result }];
  });
}

/** All text of a request, its instructions first. */
export function requestText(request: ModelRequest): string {
  return [textOf(request.system), ...request.messages.map((message) => textOf(message.content))].join('\n');
}

/** A message as requests about past turns show it. Reads `- [<messageId>] Name: text`. */
export function parseTurnLine(line: string) {
  const [, messageId, name, text] =
    /^- \[(\d+)\] ([^:]+): (?:<others_words>)?(.+?)(?:<\/others_words>)?$/u.exec(line) ?? [];
  if (messageId === undefined || name === undefined || text === undefined) return undefined;
  return { messageId, name, text };
}

/** A durable item as its line shows it [D5]. */
export interface RememberedLine {
  readonly kind: string;
  readonly text: string;
  /** Without `#`. */
  readonly channel?: string;
  /** `YYYY-MM-DD`. */
  readonly date?: string;
}

/** Reads `- [preference] Prefers Rust (src: manual, #dev, updated 2026-01-15)`. */
export function parseRememberedLine(line: string): RememberedLine | undefined {
  const [, kind, rest = ''] = /^- \[(\w+)\] (.*)\)$/u.exec(line) ?? [];
  const at = rest.lastIndexOf(' (src: ');
  if (kind === undefined || at === -1) return undefined;
  const origin = rest.slice(at);
  const [, date] = /, updated (\d{4}-\d{2}-\d{2})$/u.exec(origin) ?? [];
  const [, channel] = origin.replace(/, updated [\d-]+$/u, '').split(/, #(.*)/u);
  return {
    kind,
    text: rest.slice(0, at),
    ...(channel === undefined ? {} : { channel }),
    ...(date === undefined ? {} : { date }),
  };
}
