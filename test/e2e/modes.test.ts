import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { answeringBy, callsOf, chatCall, historyIn, toldIn, type Answers } from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';
import { footerIn } from './footers.ts';
import { command, ways } from './memory-talk.ts';

const answers: Answers = {};
const everyLayer = {
  DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
  DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
  DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
};

/** All that is kept, whatever it is. */
async function keptText(stage: Stage): Promise<string> {
  const kept = [...(await stage.kept()), ...(await stage.kept('workspace'))];
  return kept.map(({ text }) => text).join('\n');
}

/** The bot's small lines in a place. */
async function smallLines(stage: Stage, place: string): Promise<readonly string[]> {
  const said = await stage.sandbox.messages({ in: place, from: 'bot' });
  return said.map(footerIn).filter((footer) => footer !== '');
}

/** Restarts the bot, which by either kind of command shows the same of what the person set as before. */
async function showsOverStart(stage: Stage, as: string, place: string, words: string): Promise<void> {
  const shown = async () => {
    for (const way of ways) expect(await command(stage, way, as, place, 'show')).toContain(words);
  };
  await shown();
  await stage.stopBot();
  await stage.startBot();
  await shown();
}

function shownIn(call: Parameters<typeof historyIn>[0]): string {
  return historyIn(call)
    .map(({ text }) => text)
    .join('');
}

describe('what a person lets the bot keep [K9]', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage({ model: answeringBy(answers), environment: everyLayer });
  });
  afterEach(async () => {
    delete answers.chat;
    await stage[Symbol.asyncDispose]();
  });

  it('is nothing in a pause, on whatever way, over a start too; and after it the model sees nothing of it', async () => {
    answers.chat = () => ({ text: 'Ocelots are cats.' });
    expect((await stage.ask('bob', '@bob', '!memory pause')).text).toMatch(/^Paused:/u);
    await stage.ask('bob', '@bob', 'My axolotl is called Pip.');
    await expect.poll(() => smallLines(stage, '@bob')).toHaveLength(1);
    const during = await chatCall(stage, 'bob', '@bob', 'And a second axolotl is called Zed.');
    expect(shownIn(during)).toContain('axolotl is called Pip');
    expect(toldIn(during)).toContain('has paused their memory');

    await stage.stopBot();
    const missed = await stage.sandbox.say({ as: 'bob', in: '@bob', text: 'A third axolotl, too.' });
    await stage.startBot();
    await stage.sandbox.waitForReply({ in: missed.channelId, after: missed.id, containing: 'Ocelots' });
    await expect.poll(() => smallLines(stage, '@bob')).toHaveLength(2);
    await showsOverStart(stage, 'bob', '@bob', 'Paused: from now on');
    expect((await stage.ask('bob', '@bob', '!memory resume')).text).toMatch(/^Resumed/u);
    delete answers.chat;
    await showsOverStart(stage, 'bob', '@bob', 'Characters used');
    const after = await chatCall(stage, 'bob', '@bob', 'I keep a bassoon.');
    expect(toldIn(after)).not.toMatch(/axolotl|Ocelot/u);

    await stage.stopBot();
    const disk = await keptText(stage);
    expect(disk).toContain('bassoon');
    expect(disk).not.toMatch(/axolotl|Ocelot/u);
  });

  it('is nothing of one conversation off the record, and changes nothing for others or elsewhere', async () => {
    await stage.ask('bob', '#general', '!memory pause here');
    await stage.ask('bob', '#general', 'My axolotl is called Pip.');
    await expect.poll(() => smallLines(stage, '#general')).toHaveLength(1);
    await stage.ask('carol', '#general', 'I keep a cockatoo.');
    await stage.ask('bob', '#dev', 'I keep a bassoon.');
    expect((await stage.ask('bob', '#general', '!memory remember I like rum')).text).toMatch(
      /is paused here/u,
    );
    await showsOverStart(stage, 'bob', '#general', 'Paused here:');
    expect(await command(stage, '/memory', 'bob', '#dev', 'show')).not.toContain('Paused');
    await stage.ask('bob', '#general', 'It is pink, my axolotl.');
    await stage.stopBot();
    expect(await smallLines(stage, '#dev')).toHaveLength(0);
    const disk = await keptText(stage);
    expect(disk).toContain('cockatoo');
    expect(disk).toContain('bassoon');
    expect(disk).not.toMatch(/axolotl|like rum/u);
  });

  it('is by mode `off` only what `remember` names; what was said meanwhile is not looked through later', async () => {
    expect((await stage.ask('bob', '@bob', '!memory mode off')).text).toMatch(/^Mode `off`/u);
    await showsOverStart(stage, 'bob', '@bob', 'Mode `off`');
    answers.chat = (body) =>
      JSON.stringify(body.messages).includes('tool_result')
        ? { text: 'Well.' }
        : { toolUse: [{ name: 'remember_item', input: { kind: 'fact', quote: 'I keep axolotls' } }] };
    await stage.ask('bob', '@bob', 'I keep axolotls.');
    const refused = callsOf(stage, 'chat').find(({ raw }) => raw.includes('tool_result'));
    expect(refused?.raw).toContain('the person wants nothing to be noticed');
    delete answers.chat;
    expect((await stage.ask('bob', '@bob', '!memory remember I keep bees')).text).toMatch(/^Remembered/u);
    await stage.ask('bob', '@bob', '!memory mode auto');
    await stage.ask('bob', '@bob', 'I keep a bassoon.');
    await expect.poll(() => callsOf(stage, 'extraction')).not.toHaveLength(0);
    const looked = callsOf(stage, 'extraction').map(toldIn).join('\n');
    expect(looked).toContain('bassoon');
    expect(looked).not.toContain('axolotls');
  });
});

describe('the first words [K12]', () => {
  it('stand under the first answer to each person, even to a command of either kind, once ever', async () => {
    await using stage = await openStage({ isBuilt: true, model: answeringBy({}), areNew: true });
    const firstWords = 'I am an AI, and I remember what you tell me';
    await stage.ask('bob', '@bob', 'Hello!');
    await expect.poll(() => smallLines(stage, '@bob')).toHaveLength(1);
    expect((await smallLines(stage, '@bob'))[0]).toContain(firstWords);
    expect((await stage.ask('carol', '#general', '!memory show')).text).toContain(firstWords);
    const { name } = await stage.sandbox.addPerson({ name: 'dave' });
    const slash = () => stage.sandbox.slash({ as: name, in: '#dev', name: 'memory', subcommand: 'show' });
    expect((await slash()).answer?.text).toContain(firstWords);
    expect((await slash()).answer?.text).not.toContain(firstWords);

    // That they were shown is noted after the answer.
    for (const person of ['bob', 'carol'])
      await expect
        .poll(() => stage.readFile(stage.pathFor(person, 'settings.json')).catch(() => ''))
        .toContain('greeted');
    await stage.killBot();
    await stage.startBot();
    expect((await stage.ask('carol', '@carol', '!memory show')).text).not.toContain(firstWords);
    const again = await chatCall(stage, 'bob', '@bob', 'Hello again!');
    expect(toldIn(again)).not.toContain(firstWords);
    await stage.stopBot();
    expect(await smallLines(stage, '@bob')).toHaveLength(1);
  });
});
