import { afterAll, describe, expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import { labelsOf } from './footers.ts';
import { command, idIn } from './memory-talk.ts';
import { chatCall, newestOf, sectionIn, toldIn } from './model-calls.ts';
import { obedientModel } from './obedient-model.ts';
import { openStage } from './stage.ts';

let people = 0;

/** Somebody new, of whom nothing is remembered. */
async function newcomer(): Promise<{ readonly name: string; readonly id: string; readonly dm: string }> {
  people += 1;
  const { name, id } = await stage.sandbox.addPerson({ name: `person${people}` });
  return { name, id, dm: `@${name}` };
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

/** Somebody says something, and the model remembers it. */
const notes = (name: string, place: string, quote: string) =>
  calls(name, place, quote, 'remember_item', { kind: 'fact', quote });

/** The bot's newest message in a place that holds a text. */
async function newest(place: string, text: string): Promise<MessageView> {
  const all = await stage.sandbox.messages({ in: place, from: 'bot' });
  const found = all.findLast((message) => message.text.includes(text));
  if (found === undefined) throw new Error(`There is no answer with ${text}`);
  return found;
}

const labelsUnder = async (place: string, text: string) => labelsOf(await newest(place, text));

/** Presses a button under the answer that holds a text; resolves with what the person is told. */
async function press(as: string, place: string, text: string, label: string): Promise<string> {
  const { id: message } = await newest(place, text);
  return (await stage.press(as, message, label)).text;
}

async function promptOf(as: string, place: string): Promise<string> {
  await stage.ask(as, place, 'what do you know?');
  return toldIn(newestOf(stage, 'chat'));
}

const stage = await openStage({ environment: { DISCOCLAW_SUMMARY_ENABLED: 'false' }, model: obedientModel });

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe('a durable item', () => {
  it('said in #dev is used in #general and in the DM, and still is after a start', async () => {
    const { name } = await newcomer();
    await memory(name, '#dev', 'remember I prefer Rust');
    const line = /- \[fact\] I prefer Rust \(src: manual, #dev, updated (?:<t:\d+:d>|[-\d]+)\)/u;
    expect((await chatCall(stage, name, '#general')).raw).toMatch(line);
    expect((await chatCall(stage, name, 'dm')).raw).toMatch(line);

    await stage.restart();
    expect((await chatCall(stage, name, '#general')).raw).toMatch(line);
    expect(await memory(name, '#general', 'show')).toMatch(line);
  });

  it('is a sentence with the mention, code and emoji in it, as the command does, and is forgotten by the name [D8]', async () => {
    const [{ name }, friend] = [await newcomer(), await newcomer()];
    const said = `I sing \`do_re_mi\` with <@${friend.id}> in the <:choir:120000000000000777> on Sundays.`;
    const stored = `I sing \`do_re_mi\` with @${friend.name} in the :choir: on Sundays.`;
    const input = { kind: 'fact', quote: 'on Sundays' };
    const told = await calls(name, '#dev', said, 'remember_item', input);
    expect(told).toContain(`Remembered: [fact] ${stored}`);
    expect(await memory(name, '#dev', `remember ${said}`)).toContain(
      idIn(await memory(name, '#dev', 'show')),
    );
    expect(await memory(name, '#dev', `forget ${friend.name}`)).toContain('Deprecated 1 item');
  });

  it('with a moment as Discord marks it has its day, and is told in the zone of its person and quoted as it stands [D7] [D8]', async () => {
    const { name, dm } = await newcomer();
    await memory(name, dm, 'timezone Asia/Tokyo');
    const mark = `<t:${Date.parse('2027-01-15T20:00:00Z') / 1000}:F>`;
    const told = `${mark} (Sat 2027-01-16 05:00)`;
    await notes(name, dm, `My exam is at ${mark}`);
    const later = await chatCall(stage, name, dm, 'When is it?');
    expect(toldIn(later)).toContain(`] ${name}: My exam is at ${told}`);
    expect(sectionIn(later, 'durable_items')).toContain(`- [fact] My exam is at ${told}`);
    const shown = await memory(name, dm, 'show');
    expect(shown).toContain(`- [fact] My exam is at ${mark}`);
    expect(shown).toContain('on 2027-01-16');
  });
});

describe('what is said in one of two servers [V1]', () => {
  it('is used, shown and found in that one and in the DM only, until its owner shares it; what they ask to have remembered there is for both', async () => {
    const { name } = await newcomer();
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

    expect((await chatCall(stage, name, '#general')).raw).toContain('support group');
    expect((await chatCall(stage, name, 'dm')).raw).toContain('support group');
    expect(await memory(name, '#general', 'show')).toMatch(/support group .* · server$/mu);
    const elsewhere = (await chatCall(stage, name, office)).raw;
    expect(elsewhere).toContain('I like tea (src: manual, updated');
    for (const told of [elsewhere, await memory(name, office, 'show')])
      expect(told).not.toMatch(/support group|#dev/u);
    expect(await memory(name, office, 'search support group')).toContain('I found nothing');
    const recall = await calls(name, office, 'What?', 'recall_memory', { query: 'support group' });
    expect(recall).toContain('Found 0 result(s)');

    expect(stored).toContain('every server');
    const [, id] = /support group .* id ([0-9a-f]{8})/u.exec(await memory(name, 'dm', 'show')) ?? [];
    expect(await memory(name, office, `share ${id}`)).toContain('I know of no item');
    expect(await memory(name, '#general', `share ${id}`)).toContain('every server');
    expect((await chatCall(stage, name, office)).raw).toContain('support group');
  });
});

describe('forgetting an item', () => {
  it('takes the sentence it came from out of history, search and prompt, until it is undone, after a start too [K4][K5]', async () => {
    const { name, dm } = await newcomer();
    await notes(name, dm, 'I live in Lisbon');
    expect(await promptOf(name, dm)).toContain('Lisbon');
    const answer = await memory(name, dm, 'forget Lisbon');
    expect(answer).toMatch(/^Deprecated 1 item matching "Lisbon"\n/u);
    expect(answer).toMatch(/With it went 2 messages/u);
    expect(await promptOf(name, dm)).not.toContain('Lisbon');
    expect(await memory(name, dm, 'search Lisbon')).toMatch(/nothing/u);

    await stage.restart();
    expect(await promptOf(name, dm)).not.toContain('Lisbon');
    expect(await press(name, dm, 'Deprecated 1 item matching "Lisbon"', 'Undo')).toContain('Undone');
    for (const words of ['show', 'search Lisbon'])
      expect(await memory(name, dm, words)).toContain('I live in Lisbon');
    expect(await promptOf(name, dm)).toContain('Lisbon');
    expect(await memory(name, dm, 'undo')).not.toContain('Undone: the `forget`');
  });

  it('asks which one where several say the words, and takes none until somebody has picked [K4]', async () => {
    const [{ name }, other] = [await newcomer(), await newcomer()];
    for (const text of ['I like green tea', 'I brew tea', 'I drink steam'])
      await memory(name, '#dev', `remember ${text}`);
    const answer = await memory(name, '#dev', 'forget tea');
    expect(answer).toContain('2 items have "tea". Nothing is forgotten yet');
    expect(answer).not.toContain('steam');
    expect(await labelsUnder('#dev', '2 items have "tea"')).toEqual([
      'All 2',
      'I brew tea',
      'I like green tea',
      'None',
    ]);
    expect(
      (
        await stage.sandbox.click({
          as: other.name,
          message: (await newest('#dev', '2 items have')).id,
          label: 'All 2',
        })
      ).answer?.text,
    ).toContain('Only the person');
    expect(await press(name, '#dev', '2 items have "tea"', 'I brew tea')).toContain('Deprecated 1 item');
    expect(await labelsUnder('#dev', '2 items have "tea"')).toEqual(['All 2', 'I like green tea', 'None']);
    expect(await memory(name, 'dm', 'show')).toMatch(/\(2 items\)[\s\S]*green tea/u);
    expect(await memory(name, '#dev', 'forget tea')).toContain('Deprecated 1 item matching "tea"');
    expect(await memory(name, '#dev', 'forget tea')).toContain('only inside of longer words');
    expect(await memory(name, 'dm', 'show')).toContain('I drink steam');
  });

  it('counts what else says it, in messages and in notes, and takes that on demand [K4]', async () => {
    const { name, id, dm } = await newcomer();
    await notes(name, dm, 'I keep bees');
    await stage.ask(name, dm, 'My bees are asleep');
    expect(await memory(name, dm, 'forget "keep bees"')).toMatch(/Deprecated 1 item/u);
    expect(await memory(name, dm, 'forget bees')).toContain('1 more message says it');
    expect(await promptOf(name, dm)).toContain('My bees are asleep');
    expect(await press(name, dm, '1 more message says it', 'Forget these messages too')).toMatch(
      /Forgot 2 messages/u,
    );
    expect(await promptOf(name, dm)).not.toContain('bees');
    expect(await memory(name, dm, 'undo')).toContain('Undone: the `forget`');
    expect(await promptOf(name, dm)).toContain('My bees are asleep');

    await stage.writeFile(`data/users/${id}/notebook/topics/pets.md`, '# Pets\n\n- Three bees.\n- A cat.\n');
    expect(await memory(name, '#dev', 'forget bees')).not.toContain('note says it');
    expect(await memory(name, dm, 'forget bees')).toContain('1 note says it');
    expect(await press(name, dm, '1 note says it', 'Erase all that says it')).toContain(
      '1 note (including summaries and reminders)',
    );
  });
});
