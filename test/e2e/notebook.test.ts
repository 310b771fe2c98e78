import { afterAll, describe, expect, it } from 'vitest';

import { chatCall, newestOf, toldIn } from './model-calls.ts';
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
  it('is written in the DM and is in the next prompt there, also after a start', async () => {
    const { name, id } = await stage.newcomer();
    await calls(name, 'dm', 'memory_write', { path: 'USER.md', content: 'Keeps ferrets.' });
    await calls(name, 'dm', 'memory_append', { path: 'facts/user.md', entry: '- Name: Hugo' });
    expect(await stage.readFile(`data/users/${id}/notebook/USER.md`)).toBe('Keeps ferrets.\n');
    await stage.restart();
    const told = toldIn(await chatCall(stage, name, 'dm'));
    expect(told).toMatch(/<user_profile>\n.*\nKeeps ferrets\.\n<\/user_profile>/u);
    expect(told).toContain('- facts/user.md (37B): Name\n');
  });

  it('is opened neither for others nor in a guild, where the model has the same tools [V3][P2]', async () => {
    const [writer, other] = [await stage.newcomer(), await stage.newcomer()];
    await stage.writeFile(`data/users/${writer.id}/notebook/MEMORY.md`, 'The ferret is called Muninn.');
    expect((await chatCall(stage, writer.name, 'dm')).raw).toContain('Muninn');
    const { tools } = newestOf(stage, 'chat').body;
    expect(tools?.map((tool) => tool.name)).toContain('memory_patch');
    expect((await chatCall(stage, other.name, 'dm')).raw).not.toContain('Muninn');
    const { id: room } = await stage.sandbox.addChannel({ name: `room-${writer.name}` });
    expect(await calls(writer.name, room, 'memory_read', { path: 'MEMORY.md' })).toContain(
      'outside a direct message',
    );
    expect(newestOf(stage, 'chat').raw).not.toContain('Muninn');
    expect(newestOf(stage, 'chat').body.tools).toEqual(tools);
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
