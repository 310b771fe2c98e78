import { textOf, type ModelRequest } from '../../core/model.ts';
import { sectionNames, type SectionName } from '../../core/section.ts';
import { clipAtWord, toSingleLine } from '../../core/text.ts';
import { clausesOf, memoryWishIn, toSecondPerson } from './phrases.ts';

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
    /^- \S+ (\S+) \S+ \[(\d+)\] ([^:]+): (?:<(?:others_words|heard)>)?(.+?)(?:<\/(?:others_words|heard)>)?$/u.exec(
      line,
    ) ?? [];
  return name === undefined || text === undefined ? undefined : { day, messageId, name, text };
}

const updatedEnd = /, updated (\d{4}-\d{2}-\d{2})$/u;
const dayEnd = /, on (\d{4}-\d{2}-\d{2})$/u;

/** Parses a durable item [D5] [D7]: `- [fact] I fly on Friday (src: manual, #dev, updated 2026-01-15, on 2026-01-16) (over)`. */
function parseRememberedLine(line: string) {
  const [, kind, rest = '', over] = /^- \[(\w+)\] (.*?)\)( \(over\))?$/u.exec(line) ?? [];
  const at = rest.lastIndexOf(' (src: ');
  if (kind === undefined || at === -1) return undefined;
  const [undated = '', when] = rest.slice(at).split(dayEnd);
  const [origin = '', date] = undated.split(updatedEnd);
  const [, channel] = origin.split(/, #(.*)/u);
  return { kind, text: rest.slice(0, at), channel, date, when, isOver: over !== undefined };
}

/** Begins every reply, so that nobody takes the stand-in for a language model [M2]. */
export const offlineLabel = '[offline model]';

/** The least share of a question's words that an answer has. */
export const leastShare = 0.25;

/** Something in the prompt that may answer a question; a `profile` describes the speaker. */
export interface MemoryPiece {
  readonly kind: 'item' | 'profile' | 'notes' | 'said';
  /** Compared with the question. */
  readonly search: string;
  /** For the speaker, with its origin. */
  readonly told: string;
}

const itemSections: readonly SectionName[] = ['durable_items', 'matching_items', 'changes'];
const textSections: readonly (readonly [SectionName, MemoryPiece['kind'], origin: string])[] = [
  ['user_profile', 'profile', 'From your profile'],
  ['notes', 'profile', 'From your notes'],
  ['overview', 'notes', 'From my notes on this conversation'],
  ['conversation_summary', 'notes', 'From the summary of this conversation'],
  ['recent_elsewhere', 'notes', 'From another channel'],
  ['channel_notes', 'notes', 'From a channel of this server'],
  ['changes', 'notes', 'From another channel'],
];

export function rememberedItems({ sections }: ReadRequest) {
  const lines = new Set(itemSections.flatMap((name) => sections.get(name) ?? []));
  return [...lines].flatMap((line) => parseRememberedLine(line) ?? []);
}

/** Everything in the prompt that may answer a question, the surest first; no questions, nor requests to remember. */
export function memoryPieces(request: ReadRequest): readonly MemoryPiece[] {
  const { sections, history, message } = request;
  const items = rememberedItems(request).flatMap(({ kind, text, channel, date, when, isOver }) => {
    const place = channel === undefined ? '' : ` in #${channel}`;
    const at = date === undefined ? '' : ` on ${date}`;
    const onDay = when === undefined ? '' : ` (${when}${isOver ? ', over' : ''})`;
    return clausesOf(text).map((clause): MemoryPiece => {
      const told = `${toSecondPerson(clause) ?? `“${clause}”`}${onDay} — you told me${place}${at}.`;
      return { kind: 'item', search: `${kind} ${clause}`, told };
    });
  });
  const texts = textSections.flatMap(([name, kind, origin]) =>
    (sections.get(name) ?? [])
      .map((line) => (parseRememberedLine(line) === undefined ? line.replace(/^[-*\s]+/u, '') : ''))
      .filter((line) => line !== '' && !line.includes('?'))
      .map((line): MemoryPiece => ({ kind, search: line, told: `${origin}: “${clipAtWord(line, 300)}”` })),
  );
  const said = history.flatMap(({ name, text }): readonly MemoryPiece[] => {
    if (name === undefined || text.includes('?') || memoryWishIn(text) !== undefined) return [];
    const who = name === message.from ? 'Earlier you said' : `${name} said here`;
    return [{ kind: 'said', search: text, told: `${who}: “${clipAtWord(toSingleLine(text), 300)}”` }];
  });
  return [...items, ...texts, ...said.toReversed()];
}

const passage =
  /^\[\d+\] Source: .*\n.*\n(?:Date: (?<date>[\d-]+)(?: .*)?\n)?Content: (?<content>.*)\nCitation: (?<citation>.*)(?:\nLink: (?<link>.*))?$/u;

/** A line each with its source [C3]. Of messages only the speaker's own, and no questions or wishes. */
export function recalledPassages(
  result: string,
  speaker: string,
  share: (text: string) => number,
): readonly string[] {
  return result.split('\n\n').flatMap((text) => {
    const { date, content = '', citation = '', link } = passage.exec(text)?.groups ?? {};
    const told = content.split(' | ').flatMap((part) => {
      const [, author, words = ''] = /^(?:([^:]{1,80}): )?(.*)$/u.exec(part) ?? [];
      const isTold = !citation.startsWith('messages') || author === speaker;
      return isTold && !part.includes('?') && memoryWishIn(words) === undefined ? [part] : [];
    });
    const source = link === undefined ? citation : `${citation}, <${link}>`;
    const day = date === undefined ? '' : `[${date}] `;
    return share(told.join(' ')) < leastShare ? [] : [`- ${day}${told.join(' | ')} (${source})`];
  });
}
