import { afterAll, describe, expect, it } from 'vitest';

import { newestCall, promptFor, toldIn } from './memory-talk.ts';
import { obedientModel } from './obedient-model.ts';
import { openStage } from './stage.ts';

/** Has the model call a memory tool in somebody's turn; resolves with what the tool said. */
async function calls(name: string, place: string, tool: string, input: object): Promise<string> {
  const text = `please CALL ${tool} ${JSON.stringify(input)}`;
  const said = await stage.sandbox.say({ as: name, in: place, text, mentionBot: place !== 'dm' });
  return (await stage.answerTo(said)).text;
}

const stage = await openStage({ environment: { DISCOCLAW_SUMMARY_ENABLED: 'false' }, model: obedientModel });

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe("a person's notebook", () => {
  it('is written in the DM and is in the next prompt there, also after a kill', async () => {
    await stage.startBuilt();
    const { name, id } = await stage.newcomer();
    await calls(name, 'dm', 'memory_write', { path: 'USER.md', content: 'Keeps ferrets.' });
    await calls(name, 'dm', 'memory_append', { path: 'facts/user.md', entry: '- Name: Hugo' });
    expect(await stage.readFile(`data/users/${id}/notebook/USER.md`)).toBe('Keeps ferrets.\n');
    await stage.killBot();
    await stage.startBot();
    await promptFor(stage, name, 'dm');
    const told = toldIn(newestCall(stage));
    expect(told).toMatch(/<user_profile>\n.*\nKeeps ferrets\.\n<\/user_profile>/u);
    expect(told).toContain('- facts/user.md (37B): Name\n');
  });

  it('is edited by its person in a form, for the next prompt, and what comes too late is given back [N9]', async () => {
    const { name, id } = await stage.newcomer();
    const place = `@${name}`;
    const path = `data/users/${id}/notebook/USER.md`;
    const options = { file: 'USER.md' };
    const { answer } = await stage.sandbox.slash({
      as: name,
      in: place,
      name: 'memory',
      subcommand: 'notebook',
      options,
    });
    const message = answer?.id ?? '';
    const write = async (words: string, meanwhile?: string) => {
      const { id: interaction, modal } = await stage.sandbox.click({ as: name, message, label: 'Edit' });
      if (meanwhile !== undefined) await stage.writeFile(path, meanwhile);
      const sent = await stage.sandbox.submit({ as: name, interaction, values: { 'USER.md': words } });
      return { stood: modal?.fields[0]?.value, text: sent.followUps.at(-1)?.text };
    };
    expect((await write('Bakes bread.')).text).toContain('Saved `USER.md`: 13 bytes.');
    await promptFor(stage, name, place);
    expect(toldIn(newestCall(stage))).toContain('Bakes bread.');
    const late = await write('Bakes cakes.', 'Sells bread.\n');
    expect(late.stood).toBe('Bakes bread.\n');
    expect(late.text).toMatch(/was changed since you opened it[^]*Bakes cakes\./u);
    expect(await stage.readFile(path)).toBe('Sells bread.\n');
  });

  it('is opened neither for others nor in a guild, where the model has the same tools [V3][P2]', async () => {
    const [writer, other] = [await stage.newcomer(), await stage.newcomer()];
    await stage.writeFile(`data/users/${writer.id}/notebook/MEMORY.md`, 'The ferret is called Muninn.');
    expect(await promptFor(stage, writer.name, 'dm')).toContain('Muninn');
    const { tools } = newestCall(stage).body;
    expect(tools?.map((tool) => tool.name)).toContain('memory_patch');
    expect(await promptFor(stage, other.name, 'dm')).not.toContain('Muninn');
    const { id: room } = await stage.sandbox.addChannel({ name: `room-${writer.name}` });
    expect(await calls(writer.name, room, 'memory_read', { path: 'MEMORY.md' })).toContain(
      'outside a direct message',
    );
    expect(newestCall(stage).raw).not.toContain('Muninn');
    expect(newestCall(stage).body.tools).toEqual(tools);
  });
});

it('recall finds the line written a moment ago, in the exact form, with a link to the message, and a note as it was edited by hand [C1] [C3]', async () => {
  const { name, id } = await stage.newcomer();
  const said = await stage.sandbox.say({ as: name, in: 'dm', text: 'My dentist is Doctor Okafor' });
  await stage.answerTo(said);
  const found = await calls(name, 'dm', 'recall_memory', { query: 'dentist', scope: 'messages' });
  expect(found).toMatch(
    new RegExp(
      String.raw`^The tool said: Found 1 result\(s\) for: "dentist"\n\n\[1\] message ` +
        String.raw`https://discord.com/channels/@me/${said.channelId}/${said.id} [\d-]{10}\nContent: .*My dentist is Doctor Okafor.*$`,
      'u',
    ),
  );
  await calls(name, 'dm', 'memory_write', { path: 'facts/pets.md', content: '- One parrot named Pico' });
  const path = `data/users/${id}/notebook/facts/pets.md`;
  await stage.writeFile(path, '# Pets\n> Summary: parrot\n\n- One parrot named Quito\n');
  const pets = await calls(name, 'dm', 'recall_memory', { query: 'parrot', scope: 'notebook' });
  expect(pets).toContain('Quito');
  expect(pets).not.toContain('Pico');
  expect(await calls(name, 'dm', 'memory_list', {})).not.toContain('.bak');
});
