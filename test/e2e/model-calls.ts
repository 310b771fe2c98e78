import type {
  MessagesBlock,
  MessagesBody,
  ModelScript,
  ModelServerRequest,
} from '../support/model-server.ts';
import type { ModelAnswer } from '../support/model-answer.ts';
import type { Stage } from './stage.ts';

/** What the bot asks a model for. */
type CallKind = 'chat' | 'summary' | 'condense' | 'extraction' | 'stretch' | 'missed';

const openings: readonly (readonly [string, CallKind])[] = [
  ['You keep the summary', 'summary'],
  ['You shorten the summary', 'condense'],
  ['You find what one person says', 'extraction'],
  ['You condense a stretch of talk', 'stretch'],
  ['You tell somebody what they missed', 'missed'],
];

/** How each kind of call is answered; a test replaces what it is about. */
export type Answers = Partial<Record<CallKind, ModelScript>>;

/** Answers by kind, as `answers` stands at the time of the call; what it does not say is answered harmlessly. */
export function answeringBy(answers: Answers): ModelScript {
  return (body, index): ModelAnswer => {
    const kind = kindOf(body);
    const script = answers[kind];
    if (script !== undefined) return script(body, index);
    return kind === 'extraction' ? { json: { items: [] } } : { text: 'Understood.' };
  };
}

/** Numbers its answers; a message that says `slowly` is thought about until `thought` settles. */
export function numberedBy(thought: () => Promise<void>): ModelScript {
  return ({ messages = [] }, index) => {
    const text = (messages.at(-1)?.content ?? []).map((block) => block.text ?? '').join('');
    const isSlow = text.slice(text.lastIndexOf('<message ')).includes('slowly');
    return { text: `Answer ${index}.`, ...(isSlow ? { held: thought() } : {}) };
  };
}

export function kindOf({ system = [] }: MessagesBody): CallKind {
  const start = system[0]?.text ?? '';
  return openings.find(([opening]) => start.startsWith(opening))?.[1] ?? 'chat';
}

/** The calls of one kind so far, oldest first. */
export function callsOf(stage: Stage, kind: CallKind): readonly ModelServerRequest[] {
  return stage.model.requests.filter(({ body }) => kindOf(body) === kind);
}

/** The newest call of a kind. */
export function newestOf(stage: Stage, kind: CallKind): ModelServerRequest {
  const newest = callsOf(stage, kind).at(-1);
  if (newest === undefined) throw new Error(`There was no ${kind} call`);
  return newest;
}

/** Somebody says something; resolves with the call that was made to answer it. */
export async function chatCall(
  stage: Stage,
  as: string,
  place: string,
  text = 'hello',
): Promise<ModelServerRequest> {
  await stage.ask(as, place, text);
  const call = callsOf(stage, 'chat').findLast((each) =>
    blocksIn(each).at(-1)?.text.includes(`<message from="${as}" `),
  );
  if (call === undefined) throw new Error(`Nothing was asked for ${as}`);
  return call;
}

/** A block of the conversation, with the side that says it. */
export interface SaidBlock extends MessagesBlock {
  readonly role: string;
  readonly text: string;
}

/** All text blocks of a call's conversation in order. */
export function blocksIn({ body }: ModelServerRequest): readonly SaidBlock[] {
  return (body.messages ?? []).flatMap(({ role, content }) =>
    content.flatMap((block) => (block.text === undefined ? [] : [{ ...block, role, text: block.text }])),
  );
}

/** All that a call tells the model besides its instructions. */
export function toldIn(call: ModelServerRequest): string {
  return blocksIn(call)
    .map(({ text }) => text)
    .join('');
}

/** The system prompt as one text. */
export function systemIn({ body }: ModelServerRequest): string {
  return (body.system ?? []).map(({ text = '' }) => text).join('\n');
}

/** A section as it stands in a call, tags and the line break after it included; the empty string where it is absent. */
export function sectionIn(call: ModelServerRequest, name: string): string {
  const text = `${systemIn(call)}\n${toldIn(call)}`;
  return new RegExp(`(?<=^|\\n)<${name}>\\n[\\s\\S]*?\\n</${name}>\\n`, 'u').exec(text)?.[0] ?? '';
}

/** A line of history without the date that it may begin with. */
export function withoutDate(line: string): string {
  return line.replace(/^\[\w{3} [\d-]+ [\d:]+\] /u, '');
}

/** The earlier messages that a call shows: what stands between the memory at the beginning and the message itself. */
export function historyIn(call: ModelServerRequest): readonly SaidBlock[] {
  return blocksIn(call)
    .slice(0, -1)
    .filter(
      ({ text }) =>
        !/^<(?:notes|durable_items|discord_actions|recent_elsewhere|conversation_summary|notebook_index)>\n/u.test(
          text,
        ),
    );
}
