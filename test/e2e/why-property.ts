import fc from 'fast-check';
import { expect } from 'vitest';

import type { MessageView } from '../../src/sandbox/control/message-view.ts';
import type { MessagesBlock, ModelServerRequest, ModelScript } from '../support/model-server.ts';
import { answersTo } from './answers-to.ts';
import { answeringBy, callsOf, sectionIn, toldIn } from './model-calls.ts';
import { obedientModel } from './obedient-model.ts';
import { openStage, type Stage } from './stage.ts';

/** Milliseconds for one turn and the question why, on a machine that is busy with other things. */
const longestMs = 20_000;

export function timeFor(turns: number): number {
  return (turns + 10) * longestMs;
}

const words = ['apple', 'birch', 'cedar', 'daisy', 'elder', 'fern', 'ginger', 'hazel'] as const;
const word = fc.constantFrom(...words);
const read = (path: string) => `CALL memory_read ${JSON.stringify({ path })}`;

/** What is said, most of it with a call of a tool for the model that obeys. */
const anyWords = fc.oneof(
  { weight: 3, arbitrary: word.map((each) => `What about ${each}?`) },
  word.map((each) => `Search: CALL recall_memory ${JSON.stringify({ query: each, limit: 4 })}`),
  {
    weight: 3,
    arbitrary: fc
      .constantFrom('USER.md', 'MEMORY.md', 'overview.md', 'facts/user.md')
      .map((path) => `Read: ${read(path)}`),
  },
  fc.constant('List: CALL memory_list {}'),
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('overview.md', 'USER.md', 'facts/user.md', 'topics/trees.md'), word)
      .map(([path, each]) => `Note: CALL memory_append ${JSON.stringify({ path, entry: `Grows ${each}.` })}`),
  },
  word.map(
    (each) =>
      `I grow ${each}. CALL remember_item ${JSON.stringify({ kind: 'fact', quote: `I grow ${each}` })}`,
  ),
  word.map((each) => `Forget ${each}: CALL forget_item ${JSON.stringify({ target: each })}`),
);

/** What the person does to their memory before. */
const anyCommand = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  fc.tuple(word, fc.nat(99)).map(([each, number]) => `remember Has ${number} plants of ${each}`),
  word.map((each) => `forget all ${each}`),
  word.map((each) => `edit ID Once had a garden with ${each}`),
  fc.constantFrom('hide ID', 'share ID', 'pin ID', 'reset rolling'),
);

const anyTurn = fc.record({
  as: fc.constantFrom('alice', 'bob'),
  place: fc.constantFrom('#general', '#dev', '#secret', 'dm', 'thread'),
  before: anyCommand,
  says: anyWords,
  way: fc.constantFrom('reply', 'slash', 'menu', 'button'),
});

type AnyTurn = typeof anyTurn extends fc.Arbitrary<infer Turn> ? Turn : never;

let summaries = 0;
const model: ModelScript = answeringBy({
  // Of a long list the answer says so much as stands in one message, since the test reads the button there.
  chat(body, index) {
    const answer = obedientModel(body, index);
    return typeof answer === 'object' && 'text' in answer && typeof answer.text === 'string'
      ? { ...answer, text: answer.text.slice(0, 1000) }
      : answer;
  },
  summary: () => ({ text: `Summary ${(summaries += 1)} of a talk about trees.` }),
});

/**
 * So many random turns in a guild, a private channel, a thread and DMs. Rejects unless `why` names, after each, just what stood in the requests that the model
 * server was sent; resolves with how often each kind of memory did.
 */
export async function playTurns(turns: number): Promise<ReadonlyMap<string, number>> {
  await using stage = await openStage({
    environment: {
      DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
      DISCOCLAW_SHORTTERM_MAX_ENTRIES: '3',
      // So rarely that the list of replaced ones, too, is told in one message.
      DISCOCLAW_SUMMARY_EVERY_N_TURNS: String(Math.max(2, Math.round(turns / 40))),
      DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'false',
      DISCOCLAW_REFLECTION_ENABLED: 'false',
      DISCOCLAW_DURABLE_INJECT_MAX_CHARS: '600',
    },
    model,
  });
  const thread = (await stage.sandbox.addThread({ channel: '#dev', name: 'trees', as: 'alice' })).id;
  for (const id of [stage.info.people['alice'], stage.info.people['bob']])
    for (const file of ['USER.md', 'facts/user.md'])
      await stage.writeFile(`data/users/${id}/notebook/${file}`, 'Has a garden.\n');
  const counts = new Map<string, number>();
  for (const [at, step] of fc.sample(anyTurn, { numRuns: turns }).entries()) {
    const place = step.place === 'thread' ? thread : step.place;
    const { shown, told } = await play(stage, { ...step, place }, at);
    expect(told, `turn ${at}: ${JSON.stringify(step)}`).toEqual(shown);
    for (const each of shown) {
      const kind = each.slice(0, each.indexOf(':'));
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
  }
  return counts;
}

async function play(stage: Stage, turn: Omit<AnyTurn, 'place'> & { readonly place: string }, at: number) {
  const { as, before, says, way } = turn;
  const place = turn.place === 'dm' ? `@${as}` : turn.place;
  if (before !== undefined) {
    const give = async (line: string) =>
      answerTo(stage, await stage.sandbox.say({ as, in: place, text: `!memory ${line}` }));
    const id = /\bid (\S+)/u.exec((await give('show')).text)?.[1];
    if (id !== undefined || !before.includes('ID')) await give(before.replace('ID', id ?? ''));
  }
  const mark = `turn${at}x`;
  const said = await stage.sandbox.say({
    as,
    in: place,
    text: `${says}\n(${mark})`,
    mentionBot: place !== `@${as}`,
  });
  const callFor = () =>
    callsOf(stage, 'chat').findLast((each) => toldIn(each).includes(`(${mark})\n</message>`));
  const answer = await answerTo(stage, said, () => shownIn(callFor()).length > 0);
  const call = callFor();
  // Words of messages that a tool had forgotten may have gone from the summary with them.
  const mayGo = (line: string): string =>
    forgottenIn(call).length > 0 && line.startsWith('summary: ') ? 'summary: one' : line;
  const shown = shownIn(call).map(mayGo);
  const text = await whyBy(stage, way, { as, place, answer: answer.id, hasButton: shown.length > 0 });
  return { shown, told: toldBy(text, stage).map(mayGo) };
}

/** The answer that points at what was said, and none of what else the bot says meanwhile; whole, as its button tells, where it is to have one. */
async function answerTo(stage: Stage, said: MessageView, hasButton = () => false): Promise<MessageView> {
  await expect
    .poll(
      async () => {
        const [found] = await answersTo(stage.sandbox, said);
        return found !== undefined && (!hasButton() || found.components.rows.length > 0) ? 'whole' : found;
      },
      { message: said.text },
    )
    .toBe('whole');
  const [answer] = await answersTo(stage.sandbox, said);
  if (answer === undefined) throw new Error('The answer is gone');
  return answer;
}

/** Asks by one of the ways. The button is on the answer only where there was something. */
async function whyBy(
  stage: Stage,
  way: string,
  { as, place, answer, hasButton }: { as: string; place: string; answer: string; hasButton: boolean },
): Promise<string> {
  const { sandbox } = stage;
  switch (way) {
    case 'slash': {
      const given = { as, in: place, name: 'memory', subcommand: 'why', options: { id: answer } };
      return (await sandbox.slash(given)).answer?.text ?? '';
    }
    case 'menu':
      return (await sandbox.menu({ as, message: answer, name: 'Why this answer?' })).answer?.text ?? '';
    case 'button': {
      if (!hasButton) break;
      const { followUps } = await sandbox.click({ as, message: answer, label: '❔', followUps: 1 });
      return followUps[0]?.text ?? '';
    }
  }
  return (await answerTo(stage, await sandbox.say({ as, in: place, text: '!memory why', replyTo: answer })))
    .text;
}

/** What of memory stands in a call: in its sections, and in what tools gave; `gone` where a tool had it forgotten. */
function shownIn(call: ModelServerRequest | undefined): readonly string[] {
  if (call === undefined) throw new Error('Nothing was asked');
  const forgotten = forgottenIn(call);
  const lines = (name: string) => sectionIn(call, name).trimEnd().split('\n').slice(2, -1);
  const inList = ['durable_items', 'matching_items', 'recent_elsewhere', 'changes']
    .flatMap(lines)
    .map((line) => {
      const item = /^- \[\w+\] (?<text>.*) \(src: [^)]*\)$/u.exec(line)?.groups?.['text'];
      const { channel, when } = /^- #(?<channel>[^,]+), (?<when>[-\d]+ [:\d]+): /u.exec(line)?.groups ?? {};
      if (item === undefined) return `exchange: #${channel} ${when}`;
      return forgotten.includes(item) ? 'item: gone' : `item: ${item}`;
    });
  const files = { user_profile: 'USER.md', notes: 'MEMORY.md', overview: 'overview.md' };
  return [
    ...inList,
    ...lines('conversation_summary').map((line) => `summary: ${line}`),
    ...Object.entries(files).flatMap(([name, path]) => (lines(name).length === 0 ? [] : [`file: ${path}`])),
    ...lines('notebook_index').flatMap((line) => {
      const path = /^- (\S+)/u.exec(line)?.[1];
      return path === undefined ? [] : [`listed: ${path}`];
    }),
    ...readIn(call),
  ].toSorted();
}

/** What tools gave of memory, by the tool. */
function readIn({ body }: ModelServerRequest): readonly string[] {
  const blocks = (body.messages ?? []).flatMap(({ content }) => content);
  return blocks.flatMap((block) => {
    if (block.type !== 'tool_result') return [];
    const tool = String(blocks.find(({ id }) => id === block['tool_use_id'])?.['name']);
    return sourcesIn(tool, textOf(block)).map(
      (source) => `${tool}: ${tool === 'forget_item' ? 'gone' : source}`,
    );
  });
}

/** The texts of the items that a tool had forgotten. */
function forgottenIn(call: ModelServerRequest | undefined): readonly string[] {
  const results = (call?.body.messages ?? []).flatMap(({ content }) =>
    content.filter(({ type }) => type === 'tool_result'),
  );
  return results
    .map(textOf)
    .filter((text) => text.startsWith('Forgotten:'))
    .flatMap((text) => [...text.matchAll(/^- \[\w+\] (.*) \(id \S+\)$/gmu)].map(([, item = '']) => item));
}

function sourcesIn(tool: string, text: string): readonly string[] {
  const all = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = '']) => found);
  switch (tool) {
    case 'recall_memory':
      return [
        ...all(/^File: (\S+)$/gmu).map((path) => `file ${path}`),
        ...all(/^Link: (\S+)$/gmu).map((link) => `message ${link}`),
        ...all(/^Item: (\S+)$/gmu).map((id) => `item ${id}`),
      ];
    case 'memory_read':
      return all(/^(\S+\.md)(?::|, characters [^:]*:)$/gmu)
        .slice(0, 1)
        .map((path) => `file ${path}`);
    case 'memory_list':
      return all(/^- (\S+) \(\d+B\)/gmu).map((path) => `file ${path}`);
    default:
      return [...new Set(all(/\(id (\S+)\)$/gmu))].map((id) => `item ${id}`);
  }
}

function textOf(block: MessagesBlock): string {
  const content: unknown = block['content'];
  if (!Array.isArray(content)) return String(content);
  return content.map((each: { readonly text?: string }) => each.text ?? '').join('');
}

const kinds: ReadonlyMap<string, string> = new Map([
  ['Items', 'item'],
  ['Summary of the conversation', 'summary'],
  ['Recent exchanges elsewhere', 'exchange'],
  ['Notes', 'file'],
  ['Notes by name only', 'listed'],
]);

/** What an answer to why tells, in the same words. */
function toldBy(text: string, { info }: Pick<Stage, 'info'>): readonly string[] {
  if (text.length > 1900) throw new Error('The answer to why is too long for this test to read it');
  if (text.startsWith('I used nothing')) return [];
  const names = new Map(Object.entries(info.channels).map(([name, id]) => [id, name]));
  let kind = '';
  return text
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const tool = /^Read by `(\w+)`:$/u.exec(line)?.[1];
      if (!line.startsWith('- ')) {
        kind = tool ?? kinds.get(line.slice(0, -1)) ?? `unknown ${line}`;
        return [];
      }
      const gone = /^- (\d+) items? that (?:was|were) forgotten since/u.exec(line)?.[1];
      if (gone !== undefined) return Array.from({ length: Number(gone) }, () => `${kind}: gone`);
      return [`${kind}: ${toldLine(kind, line.slice(2), names)}`];
    })
    .toSorted();
}

function toldLine(kind: string, line: string, names: ReadonlyMap<string, string>): string {
  const [, item, id] = /^"(.*)" · id (\S+)(?: .*)?$/u.exec(line) ?? [];
  const [, path] = /^`([^`]+)`/u.exec(line) ?? [];
  switch (kind) {
    case 'item':
      return item ?? line;
    case 'summary':
      return /^"(.*)" of <t:\d+:f>$/u.exec(line)?.[1] ?? line;
    case 'exchange': {
      const [, channel = '', seconds] = /^<#(\d+)>, <t:(\d+):f>$/u.exec(line) ?? [];
      const at = new Date(Number(seconds) * 1000).toISOString();
      return `#${names.get(channel) ?? 'trees'} ${at.slice(0, 16).replace('T', ' ')}`;
    }
    case 'file':
    case 'listed':
      return path ?? line;
    default:
      if (id !== undefined) return `item ${id}`;
      return path === undefined ? `message ${/<(https:[^>]+)>$/u.exec(line)?.[1] ?? line}` : `file ${path}`;
  }
}
