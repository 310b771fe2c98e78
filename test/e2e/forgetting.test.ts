import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ModelScript } from '../support/model-server.ts';
import { command, idIn, newestCall, toldIn } from './memory-talk.ts';
import { openStage, type Stage } from './stage.ts';

/** Remembers a message that begins with "Note:" as its speaker's, by its tool. */
const noting: ModelScript = ({ messages = [] }) => {
  const last = messages.at(-1)?.content ?? [];
  const isStored = last.some(({ type }) => type === 'tool_result');
  if (isStored && JSON.stringify(messages).includes('Faro')) return 'stall';
  if (isStored) return { text: 'Noted.' };
  const text = last.map((block) => block.text ?? '').join('');
  const said = /NOTE: (?<words>[^<\n]+)/u.exec(text.slice(text.lastIndexOf('<message')))?.groups?.['words'];
  if (said === undefined) return { text: 'Understood.' };
  return { toolUse: [{ name: 'remember_item', input: { kind: 'fact', quote: said } }] };
};

let stage: Stage;
const people: string[] = [];

async function newcomer(): Promise<{ readonly name: string; readonly id: string }> {
  const person = await stage.sandbox.addPerson({ name: `person${people.length}` });
  people.push(person.name);
  return person;
}

const memory = (as: string, place: string, words: string) => command(stage, '!memory', as, place, words);

/** The bot's newest message in a place that holds a text. */
async function newest(place: string, text: string) {
  const channels = place === 'dm' ? people.map((name) => `@${name}`) : [place];
  const found = (
    await Promise.all(channels.map((channel) => stage.sandbox.messages({ in: channel, from: 'bot' })))
  )
    .flat()
    .findLast((message) => message.text.includes(text));
  if (found === undefined) throw new Error(`There is no answer with ${text}`);
  return found;
}

async function labelsUnder(place: string, text: string): Promise<readonly string[]> {
  const { components } = await newest(place, text);
  return components.rows.flatMap(({ buttons }) => buttons.map(({ label }) => label ?? ''));
}

/** Presses a button under the answer that holds a text; resolves with what the person is told. */
async function press(as: string, place: string, text: string, label: string): Promise<string> {
  const { id } = await newest(place, text);
  const clicked = await stage.sandbox.click({ as, message: id, label });
  const told = async () => (await stage.sandbox.interaction({ id: clicked.id })).followUps.at(-1)?.text ?? '';
  await expect.poll(told).not.toBe('');
  return told();
}

async function promptOf(as: string, place: string): Promise<string> {
  await stage.ask(as, place, 'what do you know?');
  return toldIn(newestCall(stage));
}

beforeAll(async () => {
  stage = await openStage({ environment: { DISCOCLAW_SUMMARY_ENABLED: 'false' }, model: noting });
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe('forgetting an item', () => {
  it.each(['#dev', '#secret', 'dm'])(
    'in %s takes the sentence it came from out of history, search and prompt, until it is undone, after a start too [K4][K5]',
    async (place) => {
      const { name } = place === '#secret' ? { name: 'bob' } : await newcomer();
      await stage.ask(name, place, 'NOTE: I live in Lisbon');
      expect(await promptOf(name, place)).toContain('Lisbon');
      const answer = await memory(name, place, 'forget Lisbon');
      expect(answer).toMatch(/^Deprecated 1 item matching "Lisbon"\n/u);
      expect(answer).toMatch(/With it went 2 messages/u);
      expect(await promptOf(name, place)).not.toContain('Lisbon');
      expect(await memory(name, place, 'search Lisbon')).toMatch(/nothing/u);

      await stage.stopBot();
      await stage.startBot();
      expect(await promptOf(name, place)).not.toContain('Lisbon');
      expect(await press(name, place, 'Deprecated 1 item matching "Lisbon"', 'Undo')).toContain('Undone');
      expect(await memory(name, place, 'show')).toContain('I live in Lisbon');
      expect(await promptOf(name, place)).toContain('Lisbon');
      expect(await memory(name, place, 'search Lisbon')).toContain('NOTE: I live in Lisbon');
      expect(await memory(name, place, 'undo')).not.toContain('Undone: the `forget`');
      await memory(name, place, 'forget all Lisbon');
    },
  );

  it('leaves the message that it came from unanswered after a kill, though Discord tells of it again [K4]', async () => {
    await stage.startBuilt();
    const { name } = await newcomer();
    const said = await stage.sandbox.say({ as: name, in: 'dm', text: 'NOTE: I live in Faro' });
    const show = () => command(stage, '/memory', name, 'dm', 'show');
    await expect.poll(show).toContain('Faro');
    const forgotten = await command(stage, '/memory', name, 'dm', 'forget Faro');
    expect(forgotten).toContain('With it went 1 message');
    const calls = stage.model.requests.length;
    await stage.killBot();
    await stage.startBot();
    await stage.sandbox.dispatchAgain({ message: said.id });
    await stage.ask(name, '#dev', 'still there?');
    await stage.ask(name, 'dm', 'still there?');
    const prompts = stage.model.requests.slice(calls).map(({ raw }) => raw);
    expect(prompts.some((prompt) => prompt.includes('Faro'))).toBe(false);
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

  it('counts what else says it, and takes that on demand [K4]', async () => {
    const { name } = await newcomer();
    await stage.ask(name, 'dm', 'NOTE: I keep bees');
    await stage.ask(name, 'dm', 'My bees are asleep');
    expect(await memory(name, 'dm', 'forget "keep bees"')).toMatch(/Deprecated 1 item/u);
    expect(await memory(name, 'dm', 'forget bees')).toContain('1 more message says it');
    expect(await promptOf(name, 'dm')).toContain('My bees are asleep');
    expect(await press(name, 'dm', '1 more message says it', 'Forget these messages too')).toMatch(
      /Forgot 2 messages/u,
    );
    expect(await promptOf(name, 'dm')).not.toContain('bees');
    expect(await memory(name, 'dm', 'undo')).toContain('Undone: the `forget`');
    expect(await promptOf(name, 'dm')).toContain('My bees are asleep');
  });
});

describe('a note that says what was forgotten', () => {
  it('is counted in the DM, with a button that purges it [K4]', async () => {
    const { name, id } = await newcomer();
    await stage.ask(name, '#dev', 'NOTE: I keep ferrets');
    await stage.writeFile(
      `data/users/${id}/notebook/topics/pets.md`,
      '# Pets\n\n- Three ferrets.\n- A cat.\n',
    );
    const told = '1 note says it too';
    expect(await memory(name, '#dev', 'forget "keep ferrets"')).not.toContain(told);
    expect(await memory(name, 'dm', 'forget ferrets')).toContain(told);
    expect(await press(name, 'dm', told, 'Erase all that says it')).toContain('1 note (including summaries)');
  });

  it('is counted and purged in an owner’s workspace too [N2]', async () => {
    const { name } = stage.info.owner;
    people.push(name);
    await stage.ask(name, 'dm', 'NOTE: I keep stoats');
    await stage.writeFile('workspace/facts/pets.md', '# Pets\n\n- Two stoats.\n- A cat.\n');
    const told = '1 note says it too';
    expect(await memory(name, 'dm', 'forget stoats')).toContain(told);
    expect(await memory(name, 'dm', 'purge stoats')).toContain('1 note (including summaries)');
    await press(name, 'dm', 'This erases', 'Erase it');
    expect(await stage.readFile('workspace/facts/pets.md')).toBe('# Pets\n\n- A cat.\n');
  });
});

describe('an item', () => {
  it('is corrected by its id, tells why it is there and what it said before, and is pinned [K7][K8]', async () => {
    const { name } = await newcomer();
    await stage.ask(name, '#dev', 'NOTE: I live in Lisbon');
    const id = idIn(await memory(name, '#dev', 'show'));
    const why = await memory(name, '#dev', `why ${id}`);
    expect(why).toMatch(/noticed it while we talked/u);
    expect(why).toMatch(/in #dev, <https:\/\/discord\.com\/channels\/\d+\/\d+\/\d+>/u);
    expect(why).toContain('You said: "NOTE: I live in Lisbon"');
    expect(await memory(name, '#dev', `edit ${id} I live in Porto`)).toContain(
      `Edited: "I live in Porto" · id ${id}`,
    );
    expect(await memory(name, '#dev', `history ${id}`)).toMatch(
      /Porto[\s\S]*before <t:\d+:d>: NOTE: I live in Lisbon/u,
    );
    expect(await memory(name, '#dev', `pin ${id}`)).toContain('Pinned');
    expect(await memory(name, '#dev', 'show')).toContain('· pinned');
    for (const done of ['pin', 'edit'])
      expect(await memory(name, '#dev', 'undo')).toContain(`Undone: the \`${done}\``);
    expect(await memory(name, '#dev', 'show')).toMatch(/Lisbon(?![\s\S]*pinned)/u);
  });

  it('of somebody else is known to nobody', async () => {
    const [owner, other] = [await newcomer(), await newcomer()];
    const id = idIn(await memory(owner.name, '#dev', 'remember I keep ferrets'));
    for (const words of [`why ${id}`, `history ${id}`, `pin ${id}`, `edit ${id} mine now`])
      expect(await memory(other.name, '#dev', words)).toContain('I know of no item with the id');
    expect(await memory(other.name, '#dev', 'undo')).toContain('nothing to undo');
    expect(await memory(owner.name, '#dev', 'show')).toContain('I keep ferrets');
  });

  it('that was corrected in the DM is for the DM from then on, until it is shared [V1]', async () => {
    const { name } = await newcomer();
    const id = idIn(await memory(name, '#dev', 'remember I earn enough'));
    expect(await memory(name, 'dm', `edit ${id} I earn 4200 a month`)).toContain('· dm');
    expect(await memory(name, '#dev', 'show')).not.toContain('4200');
    expect(await promptOf(name, '#dev')).not.toContain('4200');
  });
});

describe('one’s own words, however they are typed [D2]', () => {
  it.each([
    ['İstanbul’da yaşıyorum', 'istanbul'],
    ['Ο Νίκος είναι φίλος μου', 'ΝΙΚΟΣ'],
    ['أحب القَهْوَة كثيرا', 'القهوة'],
    ['می\u200cروم به تهران', 'میروم'],
  ])('%j is found, forgotten and purged by %j [K4][K11][C1]', async (said, typed) => {
    const { name } = await newcomer();
    await stage.ask(name, 'dm', `NOTE: ${said}`);
    expect(await memory(name, 'dm', 'show')).toContain(said);
    expect(await memory(name, 'dm', `search ${typed}`)).toContain(said);
    expect(await memory(name, 'dm', `purge ${typed}`)).toMatch(/This erases .* 1 item, 1 message/u);
    expect(await memory(name, 'dm', `forget ${typed}`)).toMatch(/Deprecated 1 item/u);
    expect(await promptOf(name, 'dm')).not.toContain(said);
    expect(await memory(name, 'dm', `search ${typed}`)).toContain('nothing');
  });

  it('one item is remembered of "I like tea!" and "I like tea", and two of cá and cà', async () => {
    const { name } = await newcomer();
    for (const text of ['I like tea', 'I LIKE TEA!', 'I like tea …'])
      await memory(name, 'dm', `remember ${text}`);
    expect(await memory(name, 'dm', 'show')).toContain('1 item)');
    for (const text of ['Tôi thích cá', 'Tôi thích cà']) await memory(name, 'dm', `remember ${text}`);
    expect(await memory(name, 'dm', 'show')).toContain('3 items)');
  });
});
