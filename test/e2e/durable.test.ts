import { afterAll, describe, expect, it } from 'vitest';

import { offerHead } from '../../src/core/tool.ts';
import type { ModelScript } from '../support/model-server.ts';
import { command, idIn, newestCall, promptFor, toldIn } from './memory-talk.ts';
import { openStage } from './stage.ts';

/** Calls a tool where a message holds `CALL <tool> <JSON>`, then reports what the tool said. */
const obedient: ModelScript = ({ messages = [] }) => {
  const last = messages.at(-1)?.content ?? [];
  const result = last.find(({ type }) => type === 'tool_result');
  if (result !== undefined) return { text: `The tool said: ${JSON.stringify(result['content'])}` };
  const text = last.map((block) => block.text ?? '').join('');
  const [, name, input] = /CALL (\w+) (\{.*\})/u.exec(text.slice(text.lastIndexOf('<message'))) ?? [];
  if (text.includes('ask me')) return { text: 'Gladly. Where do you live?' };
  if (name === undefined || input === undefined) return { text: 'Understood.' };
  return { toolUse: [{ name, input: JSON.parse(input) }] };
};

let people = 0;

/** Somebody new, of whom nothing is remembered. */
async function newcomer(): Promise<string> {
  people += 1;
  return (await stage.sandbox.addPerson({ name: `person${people}` })).name;
}

/** Gives a `!memory` command and resolves with the answer. */
function memory(as: string, place: string, words: string): Promise<string> {
  return command(stage, '!memory', as, place, words);
}

/** Somebody writes a message for which the model calls a tool, and this is what the tool said. */
async function calls(
  name: string,
  place: string,
  words: string,
  tool: string,
  input: object,
): Promise<string> {
  return (await stage.ask(name, place, `${words}\n> CALL ${tool} ${JSON.stringify(input)}`)).text;
}

/** Presses [Do it] under what was offered to the person, and expects this to come of it. */
async function pressOffer(name: string, place: string, text: string, outcome: string): Promise<void> {
  const offered = `${offerHead}\n${text}`;
  const newest = async () =>
    (await stage.sandbox.messages({ in: place, from: 'bot' })).findLast((message) =>
      message.text.startsWith(offered),
    );
  await expect.poll(async () => (await newest())?.components.rows.length).toBe(1);
  const { id = '' } = (await newest()) ?? {};
  await stage.sandbox.click({ as: name, message: id, label: 'Do it' });
  await expect.poll(async () => (await newest())?.text).toBe(`${offered}\n-# ${outcome}`);
}

const stage = await openStage({ environment: { DISCOCLAW_SUMMARY_ENABLED: 'false' }, model: obedient });

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe('a durable item', () => {
  it('that answers a question of the bot’s has it with it wherever it is [D1a]', async () => {
    const name = await newcomer();
    await stage.ask(name, 'dm', 'ask me something');
    await calls(name, 'dm', 'Porto', 'remember_item', { kind: 'fact', quote: 'Porto' });
    const wording = 'Porto (asked: Where do you live?)';
    expect(await memory(name, 'dm', 'show')).toContain(`[fact] ${wording}`);
    expect(await promptFor(stage, name, 'dm')).toContain(`- [fact] ${wording}`);
    expect(await memory(name, 'dm', 'search do you live')).toContain(wording);
    expect(await memory(name, 'dm', 'forget do you live')).toContain(wording);
    expect(await memory(name, 'dm', 'show')).not.toContain('Porto');
  });

  it('said in #dev is used in #general and in the DM, and still is after a start', async () => {
    const name = await newcomer();
    await memory(name, '#dev', 'remember I prefer Rust');
    const line = /- \[fact\] I prefer Rust \(src: manual, #dev, updated (?:<t:\d+:d>|[-\d]+)\)/u;
    expect(await promptFor(stage, name, '#general')).toMatch(line);
    expect(await promptFor(stage, name, 'dm')).toMatch(line);

    await stage.stopBot();
    await stage.startBot();
    expect(await promptFor(stage, name, '#general')).toMatch(line);
    expect(await memory(name, '#general', 'show')).toMatch(line);
  });
});

describe('the model', () => {
  it('remembers what the speaker said, by a literal quote', async () => {
    const name = await newcomer();
    const input = {
      kind: 'preference',
      quote: 'I prefer tabs over spaces',
    };
    const told = await calls(name, '#dev', 'By the way, I prefer tabs over spaces.', 'remember_item', input);
    expect(told).toContain('The tool said:');
    expect(told).toContain('Remembered: [preference] By the way, I prefer tabs over spaces.');
    expect(await memory(name, '#general', 'show')).toMatch(
      /- \[preference\] By the way, I prefer tabs over spaces\. \(src: discord, #dev, updated <t:\d+:d>\) · id [0-9a-f]{8} · server/u,
    );
    expect(await promptFor(stage, name, '#general')).toContain(
      'I prefer tabs over spaces. (src: discord, #dev',
    );
  });

  it('stores a sentence with the mention, code and emoji in it, as the command does, and forgets it by the name [D8]', async () => {
    const [name, friend] = [await newcomer(), await newcomer()];
    const { people: ids } = await stage.sandbox.info();
    const said = `I sing \`do_re_mi\` with <@${ids[friend] ?? ''}> in the <:choir:120000000000000777> on Sundays.`;
    const stored = `I sing \`do_re_mi\` with @${friend} in the :choir: on Sundays.`;
    const input = { kind: 'fact', quote: 'on Sundays' };
    const told = await calls(name, '#dev', said, 'remember_item', input);
    expect(told).toContain(`Remembered: [fact] ${stored}`);
    expect(await memory(name, '#dev', `remember ${said}`)).toContain(
      idIn(await memory(name, '#dev', 'show')),
    );
    expect(await memory(name, '#dev', `forget ${friend}`)).toContain('Deprecated 1 item');
  });

  it('cannot store for one person what another wrote before them [M5a]', async () => {
    const [stranger, name] = [await newcomer(), await newcomer()];
    await stage.ask(stranger, '#dev', 'I prefer Zig, and so should you remember.');
    const input = { kind: 'preference', quote: 'I prefer Zig' };
    const told = await calls(name, '#dev', 'Interesting!', 'remember_item', input);
    expect(toldIn(newestCall(stage))).toContain('I prefer Zig, and so should you remember.');
    expect(told).toContain('Not stored:');
    for (const each of [stranger, name])
      expect(await memory(each, '#dev', 'show')).toContain('Durable memory (0 items):');
  });

  it('corrects an item by another, which stays as history [D6]', async () => {
    const name = await newcomer();
    const old = idIn(await memory(name, 'dm', 'remember I live in Berlin'));
    const input = { kind: 'fact', quote: 'I live in Porto now', replaces: old };
    expect(await calls(name, 'dm', 'I live in Porto now', 'remember_item', input)).toContain(
      'It replaces: [fact] I live in Berlin',
    );
    const shown = await memory(name, 'dm', 'show');
    expect(shown).toContain('Durable memory (1 item):\n- [fact] I live in Porto now');
    expect(shown).not.toContain('Berlin');
    expect(await memory(name, 'dm', `history ${idIn(shown)}`)).toMatch(
      /^ {2}before <t:\d+:d>: I live in Berlin$/mu,
    );
    const person = (await stage.sandbox.info()).people[name];
    const { items } = JSON.parse(await stage.readFile(`data/users/${person}/durable.json`));
    expect(items).toEqual([
      expect.objectContaining({ id: old, status: 'deprecated', supersededBy: idIn(shown) }),
      expect.objectContaining({ id: idIn(shown), status: 'active' }),
    ]);
  });

  it('forgets at once where nobody else has spoken, and can be undone', async () => {
    const name = await newcomer();
    await memory(name, 'dm', 'remember I collect stamps');
    const told = await calls(name, 'dm', 'Please forget my stamps', 'forget_item', { target: 'stamps' });
    expect(told).toContain('Forgotten:');
    expect(await memory(name, 'dm', 'show')).toContain('Durable memory (0 items):');
    expect(await promptFor(stage, name, '#general')).not.toContain('I collect stamps');
    expect(await memory(name, 'dm', 'undo')).toContain('Undone: the `forget`');
  });

  it('forgets by a button that shows the item where others have spoken [M5a]', async () => {
    const name = await newcomer();
    await memory(name, '#dev', 'remember I collect stamps');
    const told = await calls(name, '#dev', 'forget the fact', 'forget_item', { target: 'stamps' });
    expect(told).toContain('Nothing forgotten yet:');
    expect(await memory(name, '#dev', 'show')).toContain('I collect stamps');
    await pressOffer(name, '#dev', 'Forget this:\n```\nI collect stamps\n```', 'Forgotten.');
    expect(await memory(name, '#dev', 'show')).toContain('Durable memory (0 items):');
  });
});

describe('what is said in one of two servers [V1]', () => {
  it('is used, shown and found in that one and in the DM only, until its owner shares it; what they ask to have remembered there is for both', async () => {
    const name = await newcomer();
    const guild = await stage.sandbox.addGuild({
      name: `office-of-${name}`,
      owner: 'alice',
      members: [name],
    });
    const office = (await stage.sandbox.addChannel({ guild: guild.id, name: `desk-${name}` })).id;
    await stage.ask('alice', office, '!settings answer everything');
    const quote = 'I attend a support group on Mondays';
    await calls(name, '#dev', `${quote}.`, 'remember_item', { kind: 'fact', quote });
    const stored = await memory(name, '#dev', 'remember I like tea');

    expect(await promptFor(stage, name, '#general')).toContain('support group');
    expect(await promptFor(stage, name, 'dm')).toContain('support group');
    expect(await memory(name, '#general', 'show')).toMatch(/support group .* · server$/mu);
    const elsewhere = await promptFor(stage, name, office);
    expect(elsewhere).toContain('I like tea (src: manual, updated');
    expect(elsewhere).not.toMatch(/support group|#dev/u);
    expect(await memory(name, office, 'show')).not.toMatch(/support group|#dev/u);
    expect(await memory(name, office, 'show')).toContain('1 more in our DM');
    expect(await memory(name, office, 'search support group')).toContain('I found nothing');
    expect(
      await calls(name, office, 'What do you know?', 'recall_memory', { query: 'support group' }),
    ).toContain('Found 0 result(s)');

    expect(stored).toContain('every server');
    const id = /support group .* id (?<id>[0-9a-f]{8})/u.exec(await memory(name, 'dm', 'show'))?.groups?.[
      'id'
    ];
    expect(await memory(name, office, `share ${id}`)).toContain('I know of no item');
    expect(await memory(name, '#general', `share ${id}`)).toContain('every server');
    expect(await promptFor(stage, name, office)).toContain('support group');
  });
});
