import { afterAll, describe, expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import { labelsOf } from './footers.ts';
import { command, idIn } from './memory-talk.ts';
import { answeringBy } from './model-calls.ts';
import { obedientModel } from './obedient-model.ts';
import { openStage } from './stage.ts';

const long = Array.from({ length: 300 }, (_, index) => `word number ${index}`).join(' ');
const noAnswer = 'I cannot find that answer to you';
const used = 'From what I remember about you, I had this in view:';

const stage = await openStage({
  model: answeringBy({
    chat: (body, index) =>
      JSON.stringify(body.messages?.at(-1)).includes('at length')
        ? { text: long }
        : obedientModel(body, index),
  }),
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** Something is remembered in the place, and an answer made of it; resolves with the item's id and the answer, the last part of which has the button. */
async function answered(as: string, place: string, item: string, question = 'What do I grow?') {
  const id = idIn(await command(stage, '/memory', as, place, `remember ${item}`));
  const { id: first, channelId } = await stage.ask(as, place, question);
  const parts = async () =>
    (await stage.sandbox.messages({ in: channelId, from: 'bot' })).filter((message) => message.id >= first);
  await expect.poll(async () => (await parts()).some(hasWhy)).toBe(true);
  const last = (await parts()).find(hasWhy)?.id ?? '';
  // A slow database has the answer in the log a little later.
  await expect.poll(() => waysToAsk.slash(as, place, last)).not.toContain(noAnswer);
  return { id, channelId, first, last };
}

function labelWith(sign: string, message: MessageView | undefined): string {
  return labelsOf(message).find((each) => each.startsWith(sign)) ?? `no ${sign}`;
}

function hasWhy(message: MessageView): boolean {
  return labelsOf(message).includes('❔');
}

const waysToAsk = {
  reply: async (as: string, place: string, id: string) => {
    const said = await stage.sandbox.say({ as, in: place, text: '!memory why', replyTo: id });
    return (await stage.answerTo(said)).text;
  },
  link: (as: string, place: string, id: string) => command(stage, '!memory', as, place, `why ${id}`),
  slash: (as: string, place: string, id: string) => command(stage, '/memory', as, place, `why ${id}`),
  menu: async (as: string, _place: string, id: string) => {
    const { answer, isEphemeral } = await stage.sandbox.menu({ as, message: id, name: 'Why this answer?' });
    return isEphemeral ? (answer?.text ?? '') : 'It was shown to everybody.';
  },
} as const;

/** What each way but the button says about an answer. */
async function toldOf(as: string, place: string, id: string): Promise<readonly string[]> {
  const told: string[] = [];
  for (const ask of Object.values(waysToAsk)) told.push(await ask(as, place, id));
  return told;
}

const all = Object.keys(waysToAsk).map(() => expect.anything() as unknown);

describe('why in reply to an answer [K7]', () => {
  it('works in every way, before and after a start', async () => {
    const { name } = await stage.newcomer();
    await stage.sandbox.setChannelPrivacy({ channel: '#secret', private: true, members: [name] });
    const { id, last } = await answered(name, '#secret', 'I grow apples');
    for (const restarts of [false, true]) {
      if (restarts) await stage.restart();
      const expected = `${used}\nItems:\n- "I grow apples" · id ${id}`;
      expect(await toldOf(name, '#secret', last)).toEqual(all.map(() => expected));
      expect(await stage.press(name, last, '❔')).toMatchObject({ text: expected, isEphemeral: true });
    }
  });

  it('works on the first and last part of a long answer, and not on a deleted one', async () => {
    const { name } = await stage.newcomer();
    const { first, last } = await answered(name, '#dev', 'I grow apples', 'Tell me at length');
    expect(last).not.toBe(first);
    for (const part of [first, last])
      expect(await waysToAsk.link(name, '#dev', part)).toContain('I grow apples');
    await stage.sandbox.delete({ message: first });
    await expect.poll(() => waysToAsk.slash(name, '#dev', first)).toContain(noAnswer);
    for (const never of [last, '1400000000000000000'])
      expect(await waysToAsk.link(name, '#dev', never)).toContain(noAnswer);
  });
});

describe('what stands in that list is put right there [K7]', () => {
  it('by the button of an answer: edited, kept to the DM, forgotten, and undone, also after a start', async () => {
    const { name } = await stage.newcomer();
    const { last } = await answered(name, '#dev', 'I grow apples');
    const list = await stage.press(name, last, '❔');
    const message = list.id;
    expect(labelsOf(list)).toEqual(['✏️ I grow apples', '🔒 I grow apples', '🗑️ I grow apples']);
    await stage.restart();

    const opened = await stage.sandbox.click({ as: name, message, label: labelWith('✏️', list) });
    expect(opened.modal?.fields[0]?.value).toBe('I grow apples');
    const values = { 'What I remember': 'I grow pears' };
    const sent = await stage.sandbox.submit({ as: name, interaction: opened.id, values, followUps: 1 });
    expect(sent.followUps[0]?.text).toMatch(/^Edited: "I grow pears"/u);
    const press = async (sign: string, under: MessageView | undefined) => {
      const told = await stage.press(name, under?.id ?? '', labelWith(sign, under));
      expect(told.isEphemeral).toBe(true);
      return told.text;
    };
    expect(await press('🔒', list)).toMatch(/^Hidden: "I grow pears" · id \w+ · dm/u);
    // It is for the DM alone by now, and is forgotten from here all the same.
    const again = await stage.sandbox.slash({ as: name, in: '#dev', name: 'memory', subcommand: 'why' });
    expect(again.answer?.text).toContain('says something else by now');
    expect(await press('🗑️', again.answer)).toMatch(/^Deprecated 1 item matching/u);
    expect(await command(stage, '/memory', name, '#dev', 'undo')).toMatch(/^Undone: the `forget`/u);
  });
});

it('why of an item tells the sentence that it comes from only where that may be told [K7]', async () => {
  const { name } = await stage.newcomer();
  const { id: sentence, channelId } = await stage.sandbox.say({ as: name, in: 'dm', text: 'I hide a boat' });
  await stage.answerTo({ id: sentence, channelId });
  const request = { as: name, in: 'dm', text: '!memory remember this', replyTo: sentence };
  const id = idIn((await stage.answerTo(await stage.sandbox.say(request))).text);
  await command(stage, '!memory', name, 'dm', `edit ${id} I like sailing`);
  await command(stage, '!memory', name, 'dm', `share ${id}`);
  expect(await command(stage, '!memory', name, 'dm', `why ${id}`)).toContain('You said: "I hide a boat"');
  const inPublic = await command(stage, '!memory', name, '#general', `why ${id}`);
  expect(inPublic).toContain('I like sailing');
  expect(inPublic).not.toContain('You said');
});
