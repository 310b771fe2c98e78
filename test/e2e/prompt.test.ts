import { afterAll, beforeAll, expect, it } from 'vitest';

import type { ModelServerRequest } from '../support/model-server.ts';
import { command, idIn } from './memory-talk.ts';
import {
  answeringBy,
  blocksIn,
  callsOf,
  chatCall,
  historyIn,
  sectionIn,
  toldIn,
  withoutDate,
  type Answers,
} from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';

const soul = 'You are Pincers, a crab of few words.';
const notes = 'The rent is due on the first.';
const dailyText = 'Met the accountant.';

const answers: Answers = { summary: () => ({ text: 'They said hello.' }) };
let stage: Stage;

beforeAll(async () => {
  stage = await openStage({
    environment: {
      DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
      DISCOCLAW_DURABLE_INJECT_MAX_CHARS: '1200',
    },
    model: answeringBy(answers),
  });
  await stage.writeFile('workspace/SOUL.md', `${soul}\n`);
  await stage.writeFile('workspace/MEMORY.md', `${notes}\n`);
  await stage.writeFile(`workspace/memory/${today()}.md`, `${dailyText}\n`);
});
afterAll(() => stage[Symbol.asyncDispose]());

/** The local day of the bot, whose time zone is UTC. */
function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** The names of the sections that a text is made of, in order. */
function tagsOf(text: string): readonly string[] {
  return [...text.matchAll(/^<(?<name>[a-z_]+)[ >]/gmu)].map((match) => match.groups?.['name'] ?? '');
}

function isOwnersDm(call: ModelServerRequest): boolean {
  return /<message from="alice" where="direct message"/u.test(blocksIn(call).at(-1)?.text ?? '');
}

/** All that stands before history. */
function memoryIn(call: ModelServerRequest): string {
  const texts = blocksIn(call).map(({ text }) => text);
  return texts.slice(0, texts.findLastIndex((text) => /^<(?!message)/u.test(text)) + 1).join('');
}

/** Durable items as somebody writes them by hand, the first of them the newest. */
function itemsFile(texts: readonly string[]): string {
  const items = texts.map((text, index) => ({
    kind: 'fact',
    text,
    status: 'active',
    visibility: 'everywhere',
    pinned: false,
    source: { type: 'manual', channelId: '120000000000000001', messageId: '120000000000000009' },
    updatedAt: new Date(Date.UTC(2026, 0, 28 - index)).toISOString(),
  }));
  return JSON.stringify({ version: 1, items });
}

it('puts all sections in order, with cache marks after what changes less than the rest [P2]', async () => {
  const { channelId } = await stage.ask('alice', 'dm', '!memory help');
  await stage.writeFile(`workspace/channels/${channelId}.md`, 'This is where we plan.\n');
  const oldest =
    'plays in an oboe quartet, which meets on Thursdays, after work, at the town hall by the river';
  const many = Array.from({ length: 20 }, (_, index) => `likes the number ${index} more than the one before`);
  await stage.writeFile(
    `data/users/${stage.info.people['alice']}/durable.json`,
    itemsFile([...many, oldest]),
  );
  await stage.ask('alice', '#dev', 'How do I link mold?');
  const shortTermFile = `data/users/${stage.info.people['alice']}/short-term/${stage.info.guilds['Sandbox']}.json`;
  await expect.poll(() => stage.readFile(shortTermFile).catch(() => '')).toContain('link mold');
  for (let turn = 1; turn <= 5; turn += 1) await stage.ask('alice', 'dm', `This is turn ${turn}.`);
  const state = `data/sessions/${channelId}/${stage.info.people['alice']}/state.json`;
  await expect.poll(() => stage.readFile(state)).toContain('They said hello.');
  // Until then history shows all that the first summary holds, from the beginning of the conversation.
  await stage.restart();
  await stage.ask('alice', 'dm', 'This is turn 6.');
  await command(stage, '!memory', 'alice', 'dm', 'remember I keep bees');
  const call = await chatCall(stage, 'alice', 'dm', 'Tell me about the oboe quartet.');

  const blocks = blocksIn(call);
  const system = call.body.system ?? [];
  expect(system.map(({ text = '' }) => tagsOf(text))).toEqual([[], ['channel_context']]);
  expect(blocks.slice(0, 3).map(({ text }) => tagsOf(text))).toEqual([
    ['discord_actions', 'notes'],
    ['durable_items'],
    ['conversation_summary', 'notebook_index', 'recent_elsewhere'],
  ]);
  const history = blocks.slice(3, -1);
  expect(history.length).toBeGreaterThan(2);
  expect(history.flatMap(({ text }) => tagsOf(text))).toEqual([]);
  expect(tagsOf(blocks.at(-1)?.text ?? '')).toEqual(['matching_items', 'message']);
  expect(sectionIn(call, 'matching_items')).toContain('oboe quartet');
  expect(sectionIn(call, 'durable_items')).not.toContain('oboe quartet');
  expect(sectionIn(call, 'durable_items')).toContain('I keep bees');
  expect(sectionIn(call, 'notebook_index')).toContain(`\n- daily/${today()}.md\n`);

  const marked = [system[0], blocks[0], blocks[1], history.at(-1)];
  for (const block of marked) expect(block?.['cache_control']).toEqual({ type: 'ephemeral' });
  expect(call.raw.match(/cache_control/gu)).toHaveLength(marked.length);
});

it('keeps memory byte for byte while nothing changes, and shows what was remembered, forgotten or edited at once [P2]', async () => {
  const memory = (place: string, words: string) => command(stage, '!memory', 'bob', place, words);
  const next = (text: string) => chatCall(stage, 'bob', '#dev', text);
  const rust = idIn(await memory('#dev', 'remember I prefer Rust'));
  await memory('#dev', 'remember I live in Riga');
  const first = memoryIn(await next('one'));
  expect(first).toMatch(/<durable_items>\n[\s\S]*Riga[\s\S]*Rust[\s\S]*<\/durable_items>\n/u);
  expect(memoryIn(await next('two'))).toBe(first);

  await memory('dm', 'remember I am shy');
  await memory('#general', 'remember I keep bees');
  await memory('#dev', 'forget Riga');
  await memory('dm', `hide ${rust}`);
  const file = `data/users/${stage.info.people['bob']}/durable.json`;
  await stage.writeFile(file, (await stage.readFile(file)).replaceAll('I keep bees', 'I keep wasps'));
  const third = await next('three');
  expect(sectionIn(third, 'durable_items')).toContain('I keep wasps');
  expect(toldIn(third)).not.toMatch(/shy|Riga|Rust|bees/u);
});

it('reads a cold channel over REST after a restart, without commands, their answers and error lines [F2][H2]', async () => {
  const { id: channel } = await stage.sandbox.addChannel({ name: 'room' });
  const historyFor = async (text: string) =>
    historyIn(await chatCall(stage, 'carol', channel, `<@${stage.info.bot.id}> ${text}`)).map(
      (line) => `${line.role} ${withoutDate(line.text)}`,
    );
  answers.chat = () => ({ text: 'It is blue.' });
  await historyFor('which colour?');
  await stage.ask('carol', channel, '!memory remember green');
  answers.chat = () => ({ status: 400 });
  await stage.ask('carol', channel, `<@${stage.info.bot.id}> and now?`);
  await stage.stopBot();
  await stage.sandbox.say({ as: 'bob', in: channel, text: 'while you were away' });
  await stage.startBot();
  delete answers.chat;
  expect(await historyFor('still blue?')).toEqual([
    'user carol: which colour?\n',
    'assistant It is blue.\n',
    'user carol: and now?\n',
    'user bob: while you were away\n',
  ]);
  const reads = () => stage.sandbox.requests({ method: 'GET', path: `/channels/${channel}/messages` });
  const before = (await reads()).length;
  expect(before).toBeGreaterThan(0);
  await historyFor('and now?');
  expect(await reads()).toHaveLength(before);
});

it('takes a line from a public channel to the other channels and the DM, with channel and clock time [T1][T2]', async () => {
  const { name, id } = await stage.sandbox.addPerson({ name: 'dave' });
  const path = `data/users/${id}/short-term/${stage.info.guilds['Sandbox']}.json`;
  await stage.ask(name, 'dm', 'What is my secret?');
  const { id: linkers } = await stage.sandbox.addChannel({ name: 'linkers' });
  await stage.ask(name, linkers, `<@${stage.info.bot.id}> How do I link mold?`);
  await expect.poll(() => stage.readFile(path).catch(() => '')).toContain('mold');
  const elsewhere = async (place: string) =>
    sectionIn(await chatCall(stage, name, place, 'hello'), 'recent_elsewhere')
      .split('\n')
      .slice(2, -2);
  const line = /^- #linkers, \d{4}-\d\d-\d\d \d\d:\d\d: "How do I link mold\?" → "Understood\."$/u;
  for (const place of [`@${name}`, '#general'])
    expect(await elsewhere(place)).toEqual([expect.stringMatching(line)]);
});

it('opens the workspace in the owner’s DM only, and daily logs by their paths only [V3][N3]', async () => {
  for (const place of ['#general', '#dev', '#secret', 'dm'])
    for (const name of ['alice', 'bob']) await stage.ask(name, place, 'What is in your notes?');
  const calls = callsOf(stage, 'chat');
  const [inDm, elsewhere] = [calls.filter(isOwnersDm), calls.filter((call) => !isOwnersDm(call))];
  expect(elsewhere.length).toBeGreaterThan(10);
  for (const call of inDm) expect(sectionIn(call, 'notes')).toContain(`\n${notes}\n`);
  for (const { raw } of elsewhere) {
    expect(raw).not.toContain(notes);
    expect(raw).not.toContain(`memory/${today()}`);
  }
  for (const { raw } of stage.model.requests) expect(raw).not.toContain(dailyText);
});

it('offers the same tools in every turn, and begins every prompt with the same bytes', () => {
  const calls = callsOf(stage, 'chat');
  const [tools, ...otherTools] = new Set(calls.map(({ body }) => JSON.stringify(body.tools)));
  expect(otherTools).toEqual([]);
  expect(tools).toContain('"name":"remember_item"');
  expect(new Set(calls.map(({ body }) => JSON.stringify(body.system?.[0]))).size).toBe(1);
});

it('sends at most 13,000 characters of rules and tools in the owner’s DM, with all tools there [P2]', () => {
  const call = callsOf(stage, 'chat').find(isOwnersDm);
  const { tools = [], system = [] } = call?.body ?? {};
  expect(tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'memory_append',
      'memory_control',
      'read_channel',
      'discord_poll',
      'discord_send',
    ]),
  );
  const rules = (system[0]?.text ?? '').slice(`${soul}\n\n`.length);
  expect(rules).toMatch(/^# How to read a conversation\n/u);
  expect(JSON.stringify(tools).length + rules.length).toBeLessThanOrEqual(13_000);
});
