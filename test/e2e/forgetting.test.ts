import { afterAll, describe, expect, it } from 'vitest';

import type { ModelScript } from '../support/model-server.ts';
import { command, idIn, newestCall, toldIn } from './memory-talk.ts';
import { openStage } from './stage.ts';

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

const stage = await openStage({ environment: { DISCOCLAW_SUMMARY_ENABLED: 'false' }, model: noting });

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe('forgetting an item', () => {
  it.each(['#secret', 'dm'])(
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

  it.each(['#dev', 'dm'])(
    'in %s takes nothing by words that name nothing, and *this* in a reply means its message [K2][K4]',
    async (place) => {
      const { name } = await newcomer();
      await memory(name, place, 'remember Call me Al');
      const said = await stage.sandbox.say({ as: name, in: place, text: 'My bike is green' });
      await stage.answerTo(said);
      const reply = await stage.sandbox.say({
        as: name,
        in: place,
        text: '!memory remember this',
        replyTo: said.id,
      });
      expect((await stage.answerTo(reply)).text).toContain('Remembered: "My bike is green"');
      for (const words of ['me', 'everything', 'it']) {
        const answer = await memory(name, place, `forget ${words}`);
        expect(answer).toContain(`"${words}" names no item by itself, so nothing is forgotten yet`);
        expect(await labelsUnder(place, `"${words}" names no item`)).toEqual([
          'My bike is green',
          'Call me Al',
          'Erase everything …',
          'None',
        ]);
      }
      expect(await press(name, place, '"it" names no item', 'Erase everything …')).toContain('2 items');
      expect(await press(name, place, '"it" names no item', 'My bike is green')).toContain(
        'Deprecated 1 item',
      );
      expect(await memory(name, place, 'show')).toContain('(1 item)');
    },
  );

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
});

describe('one’s own words, however they are typed [D2]', () => {
  it.each([
    ['İstanbul’da yaşıyorum', 'istanbul'],
    ['أحب القَهْوَة كثيرا', 'القهوة'],
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
});
