import { buffer } from 'node:stream/consumers';

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { fromBufferPromise } from 'yauzl';
import { ZipFile } from 'yazl';
import { z } from 'zod';

import type { MessageView } from '../../src/sandbox/control/message-view.ts';
import { eventually } from '../support/eventually.ts';
import {
  asksForSummary,
  callsForAnswers,
  command,
  idIn,
  newestCall,
  promptFor,
  toldIn,
} from './memory-talk.ts';
import { openStage, type Stage } from './stage.ts';

const summary = 'They talked about bees and hornets.';
let stage: Stage;

beforeAll(async () => {
  stage = await openStage({
    environment: { DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1' },
    model: (body) => ({ text: asksForSummary(body) ? summary : 'Understood.' }),
  });
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

/** As ChatGPT and Claude name it in their archives. */
async function archiveOf(memories: string): Promise<Buffer> {
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from(memories), 'memories.json');
  zip.end();
  return buffer(zip.outputStream);
}

/** Pastes a list into the form that the answer offers; resolves with what is shown to them alone. */
async function pasted(as: string, answer: MessageView | undefined, list: string) {
  const label = 'Paste the list';
  const { id } = await stage.sandbox.click({ as, message: answer?.id ?? '', label });
  const values = { 'One item a line': list };
  const [shown] = (await stage.sandbox.submit({ as, interaction: id, values, followUps: 1 })).followUps;
  expect(shown?.isEphemeral).toBe(true);
  return shown;
}

/** The newest message with a file that the bot has sent to a person by DM. */
async function newestFile(name: string): Promise<MessageView> {
  const find = async () => {
    const sent = await stage.sandbox.messages({ in: `@${name}`, from: 'bot' });
    return sent.findLast(({ attachments }) => attachments.length > 0);
  };
  return vi.waitUntil(find, { timeout: 60_000 });
}

/** All texts of a JSON value, names of fields aside. */
function textsIn(data: unknown): readonly string[] {
  if (typeof data === 'string') return [data];
  return typeof data === 'object' && data !== null ? Object.values(data).flatMap(textsIn) : [];
}

const anyStep = fc.record({
  what: fc.constantFrom(
    'say',
    'say',
    'remember',
    'remember',
    'edit',
    'delete',
    'correct',
    'pin',
    'forget',
    'undo',
  ),
  in: fc.constantFrom('#general', '#dev', 'dm'),
  pick: fc.nat(99),
});

/** What an archive holds of what a person said themselves, and of their items. */
interface Held {
  readonly messages: readonly string[];
  /** Text, and 📌 where it is pinned. */
  readonly items: readonly string[];
}

function heldIn(files: ReadonlyMap<string, string>): Held {
  const listIn = (path: string) => z.array(z.looseObject({})).parse(JSON.parse(files.get(path) ?? '[]'));
  const messages = [...files.keys()]
    .filter((path) => /\/messages(?:-\d+)?\.json$/u.test(path))
    .flatMap(listIn);
  const items = listIn('items.json').filter(({ status }) => status === 'active');
  return {
    messages: messages
      .filter(({ role }) => role === 'user')
      .map(({ text }) => String(text))
      .toSorted(),
    items: items.map(({ text, pinned }) => `${String(text)}${pinned === true ? ' 📌' : ''}`).toSorted(),
  };
}

/** Takes random steps as a person; resolves with what must be held after them. */
async function take(
  name: string,
  steps: readonly (typeof anyStep extends fc.Arbitrary<infer Each> ? Each : never)[],
): Promise<Held> {
  const said = new Map<string, string>();
  let items: readonly { readonly id: string; readonly text: string; readonly isPinned: boolean }[] = [];
  const before: (typeof items)[] = [];
  const give = (words: string) => command(stage, '/memory', name, 'dm', words);
  const change = (next: typeof items) => {
    before.push(items);
    items = next;
  };
  for (const [number, { what, in: place, pick }] of steps.entries()) {
    const words = `The word of ${name} is w${number}x`;
    const [message] = [...said.keys()].slice(pick % Math.max(1, said.size));
    const item = items[pick % Math.max(1, items.length)];
    switch (what) {
      case 'say':
        said.set((await sayTo(name, place, words)).id, words);
        break;
      case 'edit':
      case 'delete':
        if (message === undefined) break;
        if (what === 'edit') {
          await stage.sandbox.edit({ message, text: words });
          said.set(message, words);
        } else {
          await stage.sandbox.delete({ message });
          said.delete(message);
        }
        break;
      case 'remember':
        change([...items, { id: idIn(await give(`remember ${words}`)), text: words, isPinned: false }]);
        break;
      case 'correct':
      case 'pin':
      case 'forget': {
        if (item === undefined) break;
        const others = items.filter((each) => each !== item);
        if (what === 'forget') {
          await give(`forget ${item.id}`);
          change(others);
        } else if (what === 'correct') {
          await give(`edit ${item.id} ${words}`);
          change([...others, { ...item, text: words }]);
        } else if (!item.isPinned) {
          await give(`pin ${item.id}`);
          change([...others, { ...item, isPinned: true }]);
        }
        break;
      }
      case 'undo':
        await give('undo');
        items = before.pop() ?? items;
    }
  }
  return {
    messages: [...said.values()].toSorted(),
    items: items.map(({ text, isPinned }) => `${text}${isPinned ? ' 📌' : ''}`).toSorted(),
  };
}

/** Says something to the bot, which has answered when this resolves. */
async function sayTo(as: string, place: string, text: string): Promise<MessageView> {
  const said = await stage.sandbox.say({ as, in: place, text, mentionBot: place !== 'dm' });
  await stage.answerTo(said);
  return said;
}

describe('an export [K10]', () => {
  it('holds all that stands of the person on disk, and nothing of anybody else', async () => {
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
    await stage.stopBot();
    await stage.startBot();

    const answer = await stage.ask('erin', '#general', '!memory export');
    expect(answer.text).toBe('I have sent you everything that I hold about you as a direct message.');
    expect(answer.attachments).toEqual([]);
    const files = await unpacked(await downloaded('erin', await newestFile('erin')));
    const whole = [...files.values()].join('\n');
    for (const words of ['Hornets are large', 'my wasps', 'I keep bees', 'Three by the lake', summary])
      expect(whole).toContain(words);
    for (const words of ['cockatoos', 'gnats']) expect(whole).not.toContain(words);
    const json = [...files].filter(([path]) => path.endsWith('.json'));
    expect(() => json.map(([, text]): unknown => JSON.parse(text))).not.toThrow();
    expect([...files.keys()]).toHaveLength(new Set(files.keys()).size);

    // What undo has of a change for ten minutes is nothing that is held besides; in files it stands with everybody's.
    const apart = /\/\.[^/]*$|\.bak$|\/(?:sessions\.json|undo\.jsonl)$/u;
    const ownPaths = (await stage.kept())
      .map(({ path }) => path)
      .filter((path) => path.includes(`/${id}/`) && !apart.test(path));
    expect(ownPaths.length).toBeGreaterThan(5);
    const told = [...files.values()].flatMap((text) =>
      /^[[{]/u.test(text) ? textsIn(JSON.parse(text)) : [text],
    );
    for (const path of ownPaths) {
      const text = await stage.readFile(`data/${path}`);
      const records = path.endsWith('.jsonl') ? text.trim().split('\n') : [text];
      const texts = records.flatMap((each) =>
        /^[[{]/u.test(each) ? textsIn(JSON.parse(each)) : [each.trim()],
      );
      for (const each of texts.filter((words) => words.length > 12))
        expect(
          told.some((other) => other.includes(each)),
          `${path}: ${each}`,
        ).toBe(true);
    }

    const asked = callsForAnswers(stage).length;
    await stage.ask('erin', 'dm', 'hello again');
    expect(callsForAnswers(stage)).toHaveLength(asked + 1);
    expect(toldIn(newestCall(stage))).not.toMatch(/README|export|Here is everything/u);
  });

  it('equals what was said, remembered, corrected and taken back, whatever the order', async () => {
    for (const [at, steps] of fc.sample(fc.array(anyStep, { minLength: 8, maxLength: 16 }), 8).entries()) {
      const name = `exporter${at}`;
      await addPerson(name);
      const expected = await take(name, steps);
      await eventually(async () => {
        const before = (await stage.sandbox.messages({ in: `@${name}`, from: 'bot' })).length;
        await stage.sandbox.slash({ as: name, in: '#general', name: 'memory', subcommand: 'export' });
        const sent = (await stage.sandbox.messages({ in: `@${name}`, from: 'bot' })).slice(before);
        const archive = await downloaded(
          name,
          sent.find(({ attachments }) => attachments.length > 0),
        );
        expect({ steps, ...heldIn(await unpacked(archive)) }).toEqual({ steps, ...expected });
      });
    }
  });

  it('comes with an answer that only the asker sees where DMs are closed, and not at all in a channel', async () => {
    await addPerson('frank');
    await command(stage, '/memory', 'frank', '#dev', 'remember I keep bees');
    await stage.sandbox.closeDms({ person: 'frank', closed: true });
    const answer = await stage.ask('frank', '#dev', '!memory export');
    expect(answer.text).toContain('Please use `/memory export`');
    const slash = await stage.sandbox.slash({
      as: 'frank',
      in: '#dev',
      name: 'memory',
      subcommand: 'export',
      followUps: 1,
    });
    const [archive] = slash.followUps;
    expect(archive?.isEphemeral).toBe(true);
    const files = await unpacked(await downloaded('frank', archive));
    expect(files.get('items.json')).toContain('I keep bees');
    await expect(downloaded('bob', archive)).rejects.toThrow('for somebody else alone');
  });
});

describe('an import [K10]', () => {
  it('of an export makes an empty bot show the same', async () => {
    await addPerson('heidi');
    for (const text of ['I keep bees', 'I like tea', 'I live in Oslo'])
      await command(stage, '/memory', 'heidi', '#dev', `remember ${text}`);
    await command(stage, '/memory', 'heidi', 'dm', 'remember I am shy');
    const show = async () => (await command(stage, '/memory', 'heidi', 'dm', 'show')).split('\n\n')[0];
    const before = await show();
    await command(stage, '/memory', 'heidi', 'dm', 'export');
    const base64 = (await downloaded('heidi', await newestFile('heidi'))).toString('base64');

    await using empty = await openStage({});
    await empty.sandbox.addPerson({ name: 'heidi', id: '160000000000000777' });
    const given = await empty.sandbox.slash({
      as: 'heidi',
      in: 'dm',
      name: 'memory',
      subcommand: 'import',
      options: { file: 'export.zip' },
      attachments: [{ name: 'export.zip', base64 }],
    });
    expect(given.answer?.text).toMatch(/^There are 4 new items:\n/u);
    const accept = /`!memory (import-accept \w+)`/u.exec(given.answer?.text ?? '')?.[1] ?? '';
    expect(await command(empty, '!memory', 'heidi', 'dm', accept)).toMatch(/^Imported 4 items\./u);
    const after = (await command(empty, '/memory', 'heidi', 'dm', 'show')).split('\n\n')[0];
    expect(after).toBe(before);
  });

  it('of what ChatGPT or Claude gave, or of a pasted list, is in no prompt before ✅', async () => {
    const formats = {
      chatgpt: JSON.stringify({ memories: [{ content: 'User breeds axolotls', created_at: '2024-05-01' }] }),
      claude: JSON.stringify([{ conversations_memory: '**Home**\n\nUser breeds axolotls.' }]),
      pasted: '[2024-05-01] - User breeds axolotls',
    };
    for (const [name, text] of Object.entries(formats)) {
      await addPerson(name);
      const as = { as: name, in: 'dm' };
      const given = { ...as, name: 'memory', subcommand: 'import' };
      const shown =
        name === 'pasted'
          ? await pasted(name, await stage.ask(name, '#dev', '!memory import'), text)
          : (
              await stage.sandbox.slash({
                ...given,
                options: { file: 'export.zip' },
                attachments: [{ name: 'export.zip', base64: (await archiveOf(text)).toString('base64') }],
              })
            ).answer;
      expect(shown?.text).toMatch(/^There is 1 new item:\n- \[fact\] User breeds axolotls/u);
      expect(await promptFor(stage, name, 'dm')).not.toContain('axolotls');
      const { followUps } = await stage.sandbox.click({
        as: name,
        message: shown?.id ?? '',
        label: '✅ Store',
        followUps: 1,
      });
      expect(followUps[0]?.text).toMatch(/^Imported 1 item\./u);
      expect(await promptFor(stage, name, 'dm')).toContain('User breeds axolotls');
    }
  });

  it('of a list attached to a message in a server is shown by DM, and stored when its owner says so', async () => {
    await addPerson('ivan');
    const said = await stage.sandbox.say({
      as: 'ivan',
      in: '#dev',
      text: '!memory import',
      attachments: [{ name: 'memories.md', text: '# Memories\n\n- [preference] Likes tea\n- Keeps bees\n' }],
    });
    const reply = await stage.answerTo(said);
    expect(reply.text).toMatch(/^I have sent you the list as a direct message\./u);
    const list = (await stage.sandbox.messages({ in: '@ivan', from: 'bot' })).at(-1)?.text ?? '';
    expect(list).toContain('- [preference] Likes tea');
    expect(await command(stage, '/memory', 'ivan', 'dm', 'show')).toContain('(0 items)');
    const accept = /`!memory (import-accept \w+)`/u.exec(list)?.[1] ?? '';
    expect(await command(stage, '!memory', 'ivan', 'dm', accept)).toMatch(/^Imported 2 items\./u);
    expect(await command(stage, '/memory', 'ivan', 'dm', 'show')).toMatch(
      /Likes tea .* · dm\n.*Keeps bees .* · dm/u,
    );
  });
});
