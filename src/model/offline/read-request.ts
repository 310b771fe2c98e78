import { textOf, type ModelRequest } from '../../core/model.ts';
import { sectionNames, type SectionName } from '../../core/section.ts';

export type ReadRequest = ReturnType<typeof readRequest>;

/** Begins every reply, so that nobody takes the stand-in for a language model [M2]. */
export const offlineLabel = '[offline model]';

const section = new RegExp(String.raw`<(${sectionNames.join('|')})( [^<>\n]*)?>\n(.*?)\n</\1>\n?`, 'gsu');

/** Parses a request by the prompt's own tags, which no data can forge [P3]. */
export function readRequest(request: ModelRequest) {
  /** Lines without the section's title. */
  const sections = new Map<string, readonly string[]>();
  /** What the bot said before. */
  const ownWords: string[] = [];
  let message = { from: '', text: '' };

  for (const turn of request.messages) {
    for (const block of turn.content) {
      if (block.type !== 'text') continue;
      if (turn.role === 'assistant') {
        ownWords.push(block.text);
        continue;
      }
      for (const [, name = '', attributes = '', body = ''] of block.text.matchAll(section))
        if (name === 'message')
          message = {
            from: /from="([^"]*)"/u.exec(attributes)?.[1] ?? '',
            text: body.replace(/^\[attached: .*\]$/gmu, '').trim(),
          };
        else sections.set(name, body.split('\n').slice(1));
    }
  }
  const itemLines = itemSections.flatMap((name) => sections.get(name) ?? []);
  return {
    sections,
    ownWords,
    message,
    items: [...new Set(itemLines)].flatMap((line) => parseItemLine(line) ?? []),
    tools: new Set(request.tools?.map((tool) => tool.name)),
    turns: (sections.get('turns') ?? []).flatMap((line) => parseTurnLine(line) ?? []),
    /** Empty in the first round. */
    toolRuns: lastToolRuns(request),
  };
}

const itemSections: readonly SectionName[] = ['durable_items', 'matching_items'];

function lastToolRuns({ messages }: ModelRequest) {
  const results = messages.at(-1)?.content.filter((block) => block.type === 'tool_result') ?? [];
  const calls = messages.at(-2)?.content.filter((block) => block.type === 'tool_use') ?? [];
  return results.flatMap((result) =>
    calls.filter(({ id }) => id === result.toolUseId).map((call) => ({ call, result })),
  );
}

export function requestText(request: ModelRequest): string {
  return [textOf(request.system), ...request.messages.map((message) => textOf(message.content))].join('\n');
}

/** Parses `- Mon 2026-01-15 09:30 [<messageId>] Name: text`. */
function parseTurnLine(line: string) {
  const [, day = '', messageId = '', name, text] =
    /^- \S+ (\S+) \S+ \[(\d+)\] ([^:]+): (.+)$/u.exec(line) ?? [];
  return name === undefined || text === undefined ? undefined : { day, messageId, name, text };
}

/** Parses a durable item [D5] [D7]: `- [fact] I fly on Friday (src: manual, #dev, updated 2026-01-15, on 2026-01-16) (over)`. */
function parseItemLine(line: string) {
  const [, kind, rest = '', over = ''] = /^- \[(\w+)\] (.*?)\)( \(over\))?$/u.exec(line) ?? [];
  const at = rest.lastIndexOf(' (src: ');
  if (kind === undefined || at === -1) return undefined;
  const origin = rest.slice(at);
  const channel = /, #(.*?)(?:, updated \d|$)/u.exec(origin)?.[1];
  const date = /, updated (\d{4}-\d{2}-\d{2})/u.exec(origin)?.[1];
  const when = /, on (\d{4}-\d{2}-\d{2})$/u.exec(origin)?.[1];
  return { kind, text: rest.slice(0, at), channel, date, when, isOver: over !== '' };
}
