import { randomUUID } from 'node:crypto';

import { endOfJson, jsonOf } from '../core/lenient-json.ts';
import { textOf, type ModelResponse, type ToolUseBlock } from '../core/model.ts';
import { sectionNames } from '../core/section.ts';
import { escapePattern } from '../core/text.ts';
import { bareName, callsBetweenMarks, writtenCalls, type WrittenCall } from './written-calls.ts';

/** Names in angle brackets that chat templates of common models give a meaning. */
const named =
  'start_of_turn|end_of_turn|start_of_image|end_of_image|start_function_call|end_function_call|bos|eos|pad|unk|mask|sop|eop|s|think|seed:think|tool_calls?|tool_response|tools|function_calls?|fim_(?:prefix|middle|suffix)|unused\\d+|extra_id_\\d+|reserved_\\d+';

/**
 * A mark of a chat template, such as `<|im_start|>`, `<｜User｜>`, `<end_of_turn>`, `</s>`, `<<SYS>>` or `[INST]`: from models' published
 * templates. Bars with white space inside, as in code, are none.
 */
const mark = String.raw`<[|｜][^\s<>]{1,64}>|<[^\s<>|｜]{1,64}[|｜]>|</?(?:${named})>|<</?SYS>>|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|THINK|ARGS|IMG|gMASK)\]|\]~!?b[\][]`;

const templateMark = new RegExp(mark, 'gu');

/** Breaks up the marks in a text that a model is given, so that its server reads none of them as its own [M12]. */
export function withMarksBroken(text: string): string {
  return text.replace(templateMark, (found) => `${found.charAt(0)} ${found.slice(1)}`);
}

/** What a model's answer is read by. */
export interface AnswerFrame {
  /** Names of the tools that it was offered; without any, no call is looked for. */
  readonly tools: readonly string[];
  /** As history shows them; absent where no person is answered. */
  readonly names?: { readonly own: string; readonly asker: string } | undefined;
  /** It may quote people's lines, since it has read a channel. */
  readonly mayQuote?: boolean;
  /** Its template may have opened thoughts before the answer begins: a part without a sign of that is not certain. */
  readonly mayThinkAloud?: boolean;
}

export interface CleanAnswer {
  readonly text: string;
  /** Tool calls that the model wrote as text; what it wrote behind them is left out. */
  readonly calls: readonly WrittenCall[];
  /** Thoughts stood in the text. */
  readonly thinksAloud: boolean;
}

/** Thoughts: what opens them, and what closes any of them. From the templates of Qwen, DeepSeek, Magistral, Kimi, Command, Gemma. */
const opens =
  '<(?:think|thinking|thoughts?|reasoning|seed:think)>|\\[THINK\\]|◁think▷|<\\|START_THINKING\\|>|<\\|begin_of_thought\\|>|<\\|channel>thought';
const closes =
  '</(?:think|thinking|thoughts?|reasoning|seed:think)>|\\[/THINK\\]|◁/think▷|<\\|END_THINKING\\|>|<\\|end_of_thought\\|>|<channel\\|>';

/** Where a call begins, with what ends it; absent: the end of the answer. */
const callMarks = [
  ['<tool_calls?>', '</tool_calls?>'],
  ['<(?:antml:)?function_calls?>', '</(?:antml:)?function_calls?>'],
  ['<function=[\\w.:-]+>', '</function>'],
  ['<(?:antml:)?invoke\\s[^<>]*>', '</(?:antml:)?invoke>'],
  ['<tool_response>', '</tool_response>'],
  ['\\[TOOL_CALLS\\]', undefined],
  ['<\\|python_tag\\|>', undefined],
  ['<\\|tool_call\\|>', '<\\|/tool_call\\|>'],
  ['<\\|tool_call>', '<tool_call\\|>'],
  ['<start_function_call>', '<end_function_call>'],
  ['<\\|tool_calls_section_begin\\|>', '<\\|tool_calls_section_end\\|>'],
  ['<｜tool▁calls▁begin｜>', '<｜tool▁calls▁end｜>'],
  ['<\\|START_ACTION\\|>', '<\\|END_ACTION\\|>'],
] as const;

/** By what a template begins a turn of somebody. */
const turnOf = (who: string): string =>
  `<\\|(?:im_start|start|turn)\\|?>\\s*${who}|<\\|start_header_id\\|>\\s*${who}\\s*<\\|end_header_id\\|>|<start_of_turn>\\s*${who}`;
const ownTurn = `${turnOf('(?:assistant|model|bot)\\b')}|<[|｜](?:assistant|bot)[|｜]>|\\[/INST\\]`;
const otherTurn = `${turnOf('\\w+')}|<[|｜](?:user|system|human)[|｜]>|\\[INST\\]`;

const ourTags = `</?(?:${sectionNames.join('|')})(?:\\s[^<>]*)?>`;

const dateMark = String.raw`\[\p{L}{2,12}\.? \d{4}-\d{2}-\d{2} \d{2}:\d{2}\]`;

/** What may mean more than its characters, by what it is. */
function tokensOf(tools: readonly string[]): RegExp {
  const calls = [
    '(?<=^|\\s)(?<json>(?:\\[\\s*)?\\{\\s*"(?:name|tool|tool_name|tool_calls?|function|function_call|type|id|action|arguments|parameters)"\\s*:)',
    `(?<named>^[ \\t]*(?:print\\()?(?:[a-z_]+[.:])?(?:${tools.map(escapePattern).join('|')})\\()`,
  ];
  const kinds = [
    '(?<fence>^[ \\t]*(?:`{3,}|~{3,}))',
    '(?<code>`+)',
    `(?<opens>${opens})`,
    `(?<closes>${closes})`,
    '(?<channel>(?:<\\|start\\|>\\s*assistant\\s*)?(?:to=[\\w.:-]+\\s*)?(?=<\\|channel\\|>))',
    `(?<call>${callMarks.map(([begin]) => begin).join('|')})`,
    ...(tools.length === 0 ? [] : calls),
    `(?<own>${ownTurn})`,
    `(?<other>${otherTurn})`,
    `(?<mark>${templateMark.source}|${ourTags})`,
  ];
  return new RegExp(kinds.join('|'), 'gimu');
}

/** What may mean more, where it stands, and how far the answer was read. */
interface Token {
  readonly found: string;
  readonly index: number;
  /** Where what follows begins. */
  readonly after: number;
  readonly raw: string;
  readonly tools: readonly string[];
  /** What is for people so far. */
  readonly text: string;
}

/** What a token comes to, up to where. */
interface Step {
  readonly next: number;
  /** More of the answer may make something else of it. */
  readonly isOpen?: boolean;
  /** For people, as they stand. Default: none. */
  readonly isText?: boolean;
  readonly calls?: readonly WrittenCall[];
}

/** What is not here is only left out. */
const readers: Readonly<Record<string, (token: Token) => Step>> = {
  fence(token) {
    const { found, after, raw, tools } = token;
    const code = upTo(`^[ \\t]*${found.trim()}+[ \\t]*(?=$|<[|｜/])`, raw, after);
    const written = (code?.body ?? raw.slice(after)).replace(/^[^\n]*\n?/u, '');
    if (code !== undefined) return codeStep(written, code.next, token);
    // One that does not end may be a slip within thoughts.
    const isThought = upTo(closes, raw, after) !== undefined;
    const mayBeCall = tools.length > 0 && /^\s*(?:$|[{[]|\w+[.(:])/u.test(written);
    return { next: isThought ? after : raw.length, isText: true, isOpen: mayBeCall };
  },
  code(token) {
    const { found, after, raw, text } = token;
    const code = upTo(`(?<!\`)${found}(?!\`)|\\n\\n`, raw, after);
    if (code?.end !== found) return { next: after, isText: true, isOpen: code === undefined };
    return text.trim() === '' ? codeStep(code.body, code.next, token) : { next: code.next, isText: true };
  },
  opens({ after, raw }) {
    const thoughts = upTo(closes, raw, after);
    return { next: thoughts?.next ?? raw.length, isOpen: thoughts === undefined };
  },
  channel({ found, after, raw }) {
    const [head = '', kind] =
      /^<\|channel\|>(\w+)?(?:[^<\n]|<\|constrain\|>)*(?:<\|message\|>)?/u.exec(raw.slice(after)) ?? [];
    const start = after + head.length;
    const isHeadOpen = !head.endsWith('<|message|>');
    const name = /\bto=(?:functions\.)?([\w.-]+)/u.exec(found + head)?.[1];
    if (name === undefined && kind !== 'analysis') return { next: start, isOpen: isHeadOpen };
    const content = upTo('(?=<\\|(?:end|return|call|start|channel)\\|>)', raw, start);
    const next = content?.next ?? raw.length;
    const calls = name === undefined ? [] : [{ name, input: jsonOf(raw.slice(start, next)) }];
    return { next, calls, isOpen: isHeadOpen || content === undefined };
  },
  call({ found, index, after, raw, tools }) {
    const end = callMarks.find(([begin]) => new RegExp(`^(?:${begin})$`, 'iu').test(found))?.[1];
    const region = end === undefined ? undefined : upTo(end, raw, after);
    const next = region?.next ?? raw.length;
    // Some marks hold the name.
    const calls = callsBetweenMarks(raw.slice(found.includes('=') ? index : after, next), tools);
    return { next, calls: found === '<tool_response>' ? [] : calls, isOpen: region === undefined };
  },
  json: (token) => writtenStep(token, endOfJson(token.raw, token.index)),
  named: (token) => writtenStep(token, upTo('\\)[ \\t]*(?=$)', token.raw, token.after)?.next),
  other({ after, raw, text }) {
    // Before an answer a template is repeated; behind it the model goes on as somebody else.
    const own = text.trim() === '' ? upTo(ownTurn, raw, after) : undefined;
    return { next: own?.next ?? raw.length, isOpen: own === undefined };
  },
};

function upTo(end: string, raw: string, from: number) {
  const pattern = new RegExp(end, 'gimu');
  pattern.lastIndex = from;
  const closing = pattern.exec(raw);
  if (closing === null) return undefined;
  const { 0: found, index } = closing;
  return { body: raw.slice(from, index), end: found, next: index + found.length };
}

/** Code is shown, unless it is a call with which the answer ends. */
function codeStep(written: string, next: number, { raw, tools }: Token): Step {
  const calls = writtenCalls(written, tools);
  const isCall = calls.length > 0 && areOffered(calls, tools) && raw.slice(next).trim() === '';
  return isCall ? { next, calls, isOpen: true } : { next, isText: true };
}

/** A call to a tool that is not there may be what the answer tells about, unless it is all of it. */
function writtenStep({ index, after, raw, tools, text }: Token, end: number | undefined): Step {
  if (end === undefined) return { next: after, isText: true, isOpen: true };
  const calls = writtenCalls(raw.slice(index, end), tools);
  const isLast = raw.slice(end).trim() === '';
  const isCall = calls.length > 0 && (areOffered(calls, tools) || (isLast && text.trim() === ''));
  return isCall ? { next: end, calls, isOpen: isLast } : { next: end, isText: true, isOpen: isLast };
}

function areOffered(calls: readonly WrittenCall[], tools: readonly string[]): boolean {
  return calls.every(({ name }) => tools.includes(bareName(name)));
}

/**
 * What of an answer is meant for people, and the tool calls that it holds as text [M11]. Of a part of an answer only what is certain,
 * which is how the whole begins, unless a mark that closes thoughts without one that opened them comes later.
 */
export function cleanAnswer(raw: string, frame: AnswerFrame, isWhole = true): CleanAnswer {
  const { tools } = frame;
  const tokens = tokensOf(tools);
  const calls: WrittenCall[] = [];
  let text = '';
  let next = 0;
  let thinksAloud = false;
  let isOpen = false;
  for (;;) {
    tokens.lastIndex = next;
    const token = tokens.exec(raw);
    // Words behind a call say what came of it, which the model cannot know.
    if (calls.length === 0) text += raw.slice(next, token?.index);
    if (token === null) break;
    const { 0: found, index, groups = {} } = token;
    const [kind = ''] = Object.entries(groups).find(([, value]) => value !== undefined) ?? [];
    const after = index + found.length;
    const step = readers[kind]?.({ found, index, after, raw, tools, text }) ?? { next: after };
    isOpen = !isWhole && step.isOpen === true;
    if (isOpen) break;
    thinksAloud ||= ['opens', 'closes', 'channel'].includes(kind);
    // A template had opened them before the answer began.
    if (kind === 'closes') {
      text = '';
      calls.length = 0;
    }
    if (step.isText === true && calls.length === 0) text += raw.slice(index, step.next);
    calls.push(...(step.calls ?? []));
    next = step.next;
    // What is taken out of a line of its own takes that line along.
    if (step.isText !== true && /(?:^|\n)$/u.test(text)) while (raw[next] === '\n') next += 1;
  }
  if (!isWhole && frame.mayThinkAloud === true && !thinksAloud) return { text: '', calls, thinksAloud };
  const certain = isWhole || isOpen ? text : withoutOpenEnd(text, tools);
  return { text: withoutTurns(certain, frame, isWhole), calls, thinksAloud };
}

/** The same of a whole response: what was written as calls becomes calls. */
export function cleanResponse(response: ModelResponse, frame: AnswerFrame): ModelResponse {
  const { content, stop } = response;
  const raw = textOf(content);
  const { text, calls, thinksAloud } = cleanAnswer(raw, frame);
  const isCalling = content.some(({ type }) => type === 'tool_use');
  const added = isCalling || stop === 'cut' || stop === 'refusal' ? [] : calls.map(toolUse);
  if (text === raw && added.length === 0) return response;
  const first = content.findIndex(({ type }) => type === 'text');
  const cleaned = content.flatMap((block, index): ModelResponse['content'] => {
    if (block.type !== 'text') return [block];
    return index === first && text.trim() !== '' ? [{ type: 'text', text }] : [];
  });
  return {
    ...response,
    content: [...cleaned, ...added],
    stop: added.length > 0 ? 'tool_use' : stop,
    thinksAloud,
  };
}

function toolUse({ name, input }: WrittenCall): ToolUseBlock {
  return { type: 'tool_use', id: `toolu_${randomUUID()}`, name, input: input ?? {} };
}

/** Ends that may become a mark or a call. */
const openEnd =
  /(?:<[^<>\n]{0,80}|\[[^\]\n]{0,40}|◁[^▷\n]{0,10}|\]~!?b?|\{[\s\w"]{0,60}|`{1,9}|~{1,9}|\bto=[\w.:-]{0,60})$/u;
const openName = /(?<=^|\n)[ \t]*(?:print\()?[\w.:]*$/u;

function withoutOpenEnd(text: string, tools: readonly string[]): string {
  const certain = text.replace(openEnd, '');
  return tools.length === 0 ? certain : certain.replace(openName, '');
}

/** How a line begins that history would show as somebody's. */
function nameMark(name: string): string {
  return `\\*{0,2}${escapePattern(name)}(?: \\(bot\\))?\\*{0,2}[ \\t]*[:：]\\*{0,2}`;
}

/** Without a name or date of history's form before the answer, and turns that the model goes on to invent behind it. */
function withoutTurns(text: string, { names, mayQuote }: AnswerFrame, isWhole: boolean): string {
  if (names === undefined) return text.trimStart();
  const own = `${dateMark}|${nameMark(names.own)}`;
  const answer = text.replace(new RegExp(`^(?:\\s*(?:${own}))*\\s*`, 'iu'), '');
  const lines = answer.split('\n');
  const open = lines.at(-1)?.replaceAll('*', '').trim().toLowerCase() ?? '';
  if (!isWhole && Object.values(names).some((name) => `${name}:`.toLowerCase().startsWith(open))) lines.pop();
  const dated = new RegExp(`^[ \\t]*${dateMark}`, 'iu');
  const turn = new RegExp(`^[ \\t]*(?:${own}|${nameMark(names.asker)})`, 'iu');
  const last = lines.findLastIndex((line) => line.trim() !== '' && !turn.test(line));
  const end = lines.findIndex((line, index) => {
    const isParagraph = (lines[index - 1] ?? '').trim() === '';
    return index > last && (dated.test(line) || (isParagraph && turn.test(line)));
  });
  const isCut = end !== -1 && mayQuote !== true;
  if (isWhole && !isCut) return answer;
  return lines
    .slice(0, isCut ? end : undefined)
    .join('\n')
    .trimEnd();
}
