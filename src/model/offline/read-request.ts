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

const sectionPattern = new RegExp(
  String.raw`<(${sectionNames.join('|')})( [^<>\n]*)?>\n([\s\S]*?)\n</\1>\n?`,
  'gu',
);

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
      const rest = block.text.replace(
        sectionPattern,
        (_, name: SectionName, attributes = '', body: string) => {
          if (name === 'message')
            message = { from: /from="([^"]*)"/u.exec(attributes)?.[1] ?? '', text: withoutNote(body) };
          else if (name === 'attached_file') files.push(...fileName(body));
          else sections.set(name, body.split('\n').slice(1));
          return '';
        },
      );
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

/** The words alone, without the line that names attached files. */
function withoutNote(body: string): string {
  return body.replace(/^\[attached: [^\n]*\]$/gmu, '').trim();
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
  const [, messageId, name, text] = /^- \[(\d+)\] ([^:]+): (.+)$/u.exec(line) ?? [];
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
  const [, kind, text, origin = ''] = /^- \[(\w+)\] (.*) \((src: .*)\)$/u.exec(line) ?? [];
  if (kind === undefined || text === undefined) return undefined;
  const [, channel] = /, #(.*?)(?:, updated [\d-]+)?$/u.exec(origin) ?? [];
  const [, date] = /, updated (\d{4}-\d{2}-\d{2})$/u.exec(origin) ?? [];
  return {
    kind,
    text,
    ...(channel === undefined ? {} : { channel }),
    ...(date === undefined ? {} : { date }),
  };
}
