import { buffer } from 'node:stream/consumers';

import { afterAll, describe, expect, it, vi } from 'vitest';
import { fromBufferPromise } from 'yauzl';
import { ZipFile } from 'yazl';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import { eventually } from '../support/eventually.ts';
import { command } from './memory-talk.ts';
import { callsOf, chatCall, kindOf, newestOf, toldIn } from './model-calls.ts';
import { openStage } from './stage.ts';

const summary = 'They talked about wasps and hornets.';

const stage = await openStage({
  environment: { DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1' },
  model: (body) => ({ text: kindOf(body) === 'summary' ? summary : 'Understood.' }),
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

async function addPerson(name: string): Promise<string> {
  const { id } = await stage.sandbox.addPerson({ name });
  return id;
}

/** The file of a message, as the person who got it downloads it. */
async function downloaded(as: string, message: MessageView | undefined): Promise<Buffer> {
  const name = message?.attachments[0]?.name ?? '';
  const { base64 } = await stage.sandbox.file({ as, message: message?.id ?? '', name });
  return Buffer.from(base64, 'base64');
}

async function unpacked(archive: Buffer): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  const zip = await fromBufferPromise(archive);
  for await (const entry of zip.eachEntry()) {
    const content = await buffer(await zip.openReadStreamPromise(entry));
    files.set(entry.fileName, content.toString('utf8'));
  }
  return files;
}

/** The newest message with a file that the bot has sent to a person by DM. */
async function newestFile(name: string): Promise<MessageView> {
  const find = async () => {
    const sent = await stage.sandbox.messages({ in: `@${name}`, from: 'bot' });
    return sent.findLast(({ attachments }) => attachments.length > 0);
  };
  return vi.waitUntil(find, { timeout: 60_000 });
}

describe('an export [K10]', () => {
  it('holds what each layer has of the person, and nothing of anybody else', async () => {
    const id = await addPerson('erin');
    await stage.ask('erin', '#general', 'Hornets are large, I think.');
    await stage.ask('erin', 'dm', 'I told nobody about my wasps.');
    await stage.ask('bob', '#general', 'I breed cockatoos.');
    await command(stage, '/memory', 'erin', 'dm', 'remember I keep bees');
    await command(stage, '/memory', 'erin', 'dm', 'remember I like gnats');
    await command(stage, '/memory', 'erin', 'dm', 'forget gnats');
    await eventually(async () =>
      expect(await command(stage, '/memory', 'erin', 'dm', 'show')).toContain(summary),
    );
    await stage.writeFile(`data/users/${id}/notebook/topics/hives.md`, '# Hives\n\n- Three by the lake.\n');
    await stage.restart();

    const answer = await stage.ask('erin', '#general', '!memory export');
    expect(answer.text).toBe('I have sent you everything that I hold about you as a direct message.');
    const files = await unpacked(await downloaded('erin', await newestFile('erin')));
    const whole = [...files.values()].join('\n');
    for (const words of ['Hornets are large', 'my wasps', 'I keep bees', 'Three by the lake', summary])
      expect(whole).toContain(words);
    expect(whole).not.toContain('cockatoos');
    // It was forgotten within ten minutes, and can come back [K5].
    const gnats = [...files].filter(([, text]) => text.includes('gnats')).map(([path]) => path);
    expect(gnats).toEqual([expect.stringMatching(/^forgotten\//u)]);
    const asked = callsOf(stage, 'chat').length;
    await stage.ask('erin', 'dm', 'hello again');
    expect(callsOf(stage, 'chat')).toHaveLength(asked + 1);
    expect(toldIn(newestOf(stage, 'chat'))).not.toMatch(/README|export|Here is everything/u);
  });
});

describe('an import [K10]', () => {
  it.each(['an archive of ChatGPT', 'a pasted list'])('of %s is in no prompt before ✅', async (from) => {
    const name = from.replaceAll(' ', '-');
    await addPerson(name);
    const given = { as: name, in: '#dev', name: 'memory', subcommand: 'import' };
    let shown: MessageView | undefined;
    if (from === 'a pasted list') {
      const { answer } = await stage.sandbox.slash(given);
      const label = 'Paste the list';
      const { id } = await stage.sandbox.click({ as: name, message: answer?.id ?? '', label });
      const values = { 'One item a line': '[2024-05-01] - User breeds axolotls' };
      [shown] = (await stage.sandbox.submit({ as: name, interaction: id, values, followUps: 1 })).followUps;
    } else {
      const zip = new ZipFile();
      const memories = { memories: [{ content: 'User breeds axolotls', created_at: '2024-05-01' }] };
      zip.addBuffer(Buffer.from(JSON.stringify(memories)), 'memories.json');
      zip.end();
      const base64 = (await buffer(zip.outputStream)).toString('base64');
      const attachments = [{ name: 'export.zip', base64 }];
      const file = { ...given, in: 'dm', options: { file: 'export.zip' }, attachments };
      shown = (await stage.sandbox.slash(file)).answer;
    }
    expect(shown?.text).toMatch(/^There is 1 new item:\n- \[fact\] User breeds axolotls/u);
    expect((await chatCall(stage, name, 'dm')).raw).not.toContain('axolotls');
    const stored = await stage.press(name, shown?.id ?? '', '✅ Store');
    expect(stored.text).toMatch(/^Imported 1 item\./u);
    expect((await chatCall(stage, name, 'dm')).raw).toContain('User breeds axolotls');
  });
});
