import { buffer } from 'node:stream/consumers';

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ZipFile } from 'yazl';

import { readImportFile } from '../../src/commands/memory-import.ts';
import { aliceId, bobId, publicPlace } from '../support/incoming.ts';
import { createHarness, dmPlace, privatePlace } from './harness.ts';
import { unconditional } from '../../src/core/writes.ts';

/** The archive with one path in the place of another that is as long. */
function climbing(zip: Buffer): Buffer {
  return Buffer.from(zip.toString('latin1').replaceAll('aa/bb/items.json', '../../items.json'), 'latin1');
}

type Harness = ReturnType<typeof createHarness>;

const origin = { place: dmPlace, messageId: '400000000000000001', now: new Date('2026-01-15T10:00:00Z') };

const listOf = (...lines: readonly string[]) => Buffer.from(lines.join('\n'));

async function zipOf(files: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [path, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), path);
  zip.end();
  return buffer(zip.outputStream);
}

async function exportOf(harness: Harness): Promise<Uint8Array> {
  await harness.give('export');
  return harness.direct.at(-1)?.messages[0]?.files?.[0]?.bytes ?? Buffer.alloc(0);
}

/** Shows the file in the DM; resolves with the answer and the token in it. */
async function preview(harness: Harness, file: Uint8Array) {
  const text = await harness.say('import', dmPlace, { file });
  return { text, token: /confirm (\w+)/u.exec(text)?.[1] ?? '' };
}

async function importAll(harness: Harness, file: Uint8Array): Promise<string> {
  const { token } = await preview(harness, file);
  return harness.say(`confirm ${token}`, dmPlace);
}

/** What `show` lists of items. */
async function shown(harness: Harness): Promise<string> {
  return (await harness.say('show', dmPlace)).split('\n\n')[0] ?? '';
}

describe('importing an export [K10]', () => {
  it('makes an empty memory show the same', async () => {
    const first = createHarness();
    await first.say('remember I keep bees');
    await first.say('remember The hideout has a code', privatePlace);
    await first.say('remember I am shy.', dmPlace);
    await first.say(`share ${await first.idOf('I am shy.')}`, dmPlace);
    await first.durable.remember(unconditional(aliceId), {
      text: 'I keep ants now',
      place: publicPlace,
      messageId: '400000000000000900',
      type: 'discord',
      kind: 'preference',
      replaces: await first.idOf('I keep bees'),
    });
    await first.say('remember I like tea');
    await first.say('forget tea');
    const second = createHarness();
    // No item is from the future.
    for (let command = 0; command < 10; command += 1) await second.say('help');
    expect(await importAll(second, await exportOf(first))).toBe(
      'Imported 3 items. `!memory show` lists what I remember.',
    );
    const text = await shown(second);
    expect(text).toBe(await shown(first));
  });

  it('shows what is new first, and stores nothing before its owner says so', async () => {
    const first = createHarness();
    await first.say('remember I keep bees');
    await first.say('remember I like tea');
    const second = createHarness();
    await second.say('remember i like TEA.');
    const { text, token } = await preview(second, await exportOf(first));
    expect(text).toMatch(
      /^There is 1 new item:\n- \[fact\] I keep bees .* · everywhere\n1 item I know already\.\nNothing is stored yet\./u,
    );
    expect(await second.durable.list(aliceId)).toHaveLength(1);
    expect(await second.say(`confirm ${token}`, dmPlace)).toMatch(/^Imported 1 item\./u);
    expect(await second.durable.list(aliceId)).toHaveLength(2);
    expect(await second.say(`confirm ${token}`, dmPlace)).toMatch(/^That has expired, or isn't yours/u);
  });

  it('never makes an item wider than its file says, and narrowest where that says nothing [V1]', async () => {
    const harness = createHarness();
    const file = listOf(JSON.stringify([{ text: 'I keep bees' }, { text: 'I am shy', visibility: 'here' }]));
    await importAll(harness, file);
    const items = await harness.durable.list(aliceId);
    expect(items.map(({ text, visibility }) => [text, visibility])).toEqual([
      ['I keep bees', 'dm'],
      ['I am shy', 'here'],
    ]);
    expect(await harness.say('show', publicPlace)).not.toContain('I am shy');
  });
});

describe('importing a list [K10]', () => {
  it('names what it leaves out, and why', async () => {
    const harness = createHarness({ maxItems: 2 });
    const { text } = await preview(
      harness,
      listOf('one', 'x'.repeat(501), 'my password is hunter2', 'One.', 'two', 'three'),
    );
    expect(text).toContain('There are 2 new items:\n- [fact] one');
    expect(text).toContain('1 item I know already.');
    expect(text).toContain(
      'Left out: 1 item over 500 characters; 1 item that looks like a password, key or card number; 1 item for which there is no room.',
    );
    expect(text).not.toContain('hunter2');
  });

  it('brings back what was forgotten, by its owner’s word [D2]', async () => {
    const harness = createHarness();
    await harness.say('remember I like tea', dmPlace);
    await harness.say('forget tea', dmPlace);
    await importAll(harness, listOf('- I like tea'));
    expect(await shown(harness)).toContain('I like tea');
  });
});

function day(text: string): string {
  return new Date(text).toISOString();
}

describe('importing from other assistants [K10]', () => {
  const bees = ['I keep bees', day('2024-05-01T10:00:00Z')];
  const tea = ['User prefers tea', day('2025-02-03')];

  it.each([
    ['texts', ['User prefers tea', 'I keep bees'], [['User prefers tea'], ['I keep bees']]],
    [
      'memories with times',
      [
        { id: 1, memory: 'I keep bees', created_at: '2024-05-01T10:00:00Z', status: 'enabled' },
        { content: 'User prefers tea', title: 'Drinks', created_at: 1738540800.5, updated_at: null },
      ],
      [tea, bees],
    ],
    [
      'what Claude keeps of conversations and projects',
      [
        {
          account_uuid: '0199',
          conversations_memory:
            '**Work context**\n\nAlice builds boats.\n\n*Recent months*\n\nShe moved to Oslo.',
          project_memories: { '01a': '**Purpose**\n\nA boat of 9 metres.', '01b': { content: 'A shed.' } },
        },
      ],
      [['Alice builds boats.'], ['She moved to Oslo.'], ['A boat of 9 metres.'], ['A shed.']],
    ],
  ])('reads %s, alone and in an archive', async (_name, data, expected) => {
    const json = JSON.stringify(data);
    for (const file of [Buffer.from(json), await zipOf({ 'chat.html': '<p>', 'a-b/memories.json': json })]) {
      const harness = createHarness();
      await importAll(harness, file);
      const items = await harness.durable.list(aliceId);
      const now = items.map(({ createdAt }) => createdAt).find((at) => at > day('2026-01-01'));
      expect(items.map(({ text, createdAt }) => [text, createdAt.replace('.500', '.000')])).toEqual(
        expected.map(([text, at = now]) => [text, at]),
      );
      expect(new Set(items.map(({ visibility }) => visibility))).toEqual(new Set(['dm']));
    }
  });

  it('reads a pasted list with its days, in their order, and the words as they are', async () => {
    const harness = createHarness();
    const list = [
      '```',
      '[2024-05-01] - User prefers tea',
      '- [2025-11-30] – The user keeps bees',
      '2. [unknown] - User lives in Oslo',
      '[2999-01-01] - Plays chess',
      '[Work] - builds boats',
      '**People**',
      '- [person] - Ana is my sister',
      '```',
    ].join('\n');
    const shownFirst = await harness.say(`import ${list}`, dmPlace);
    expect(shownFirst).toMatch(/^There are 6 new items:\n/u);
    expect(await harness.durable.list(aliceId)).toEqual([]);
    await harness.say(`confirm ${/confirm (\w+)/u.exec(shownFirst)?.[1]}`, dmPlace);
    const items = await harness.durable.list(aliceId);
    const today = day('2026-01-15').slice(0, 10);
    expect(items.map(({ kind, text, createdAt }) => [kind, text, createdAt.slice(0, 10)])).toEqual([
      ['fact', 'User lives in Oslo', today],
      ['fact', 'Plays chess', today],
      ['fact', '[Work] - builds boats', today],
      ['person', 'Ana is my sister', today],
      ['fact', 'The user keeps bees', '2025-11-30'],
      ['fact', 'User prefers tea', '2024-05-01'],
    ]);
  });

  const likes = ['I like tea', 'I live in Oslo'];

  it.each<readonly [string, string | Buffer, readonly string[]]>([
    [
      'mem0',
      JSON.stringify({
        results: [{ id: 'a', memory: 'I like tea' }, { memory: 'I live in Oslo' }],
        relations: [],
      }),
      likes,
    ],
    [
      'Letta',
      JSON.stringify({
        agents: [
          { name: 'sam', system: 'Be kind', messages: [{ role: 'user', content: 'hello you' }], tags: ['x'] },
        ],
        blocks: [
          { label: 'persona', value: 'I am Sam' },
          { label: 'human', value: '- I like tea\n- I live in Oslo', limit: 5000 },
        ],
        tools: [{ name: 'send', json_schema: { title: 'Send' }, value: 'print' }],
      }),
      likes,
    ],
    [
      'Open WebUI',
      JSON.stringify(likes.map((content) => ({ user_id: 'u', content, created_at: 1738540800 }))),
      likes,
    ],
    [
      'what people say, and nothing of others',
      [
        ['user', 'I like tea'],
        ['assistant', 'You like tea'],
        ['system', 'Be kind'],
        ['user', 'I live in Oslo'],
      ]
        .map(([role, content]) => JSON.stringify({ role, content }))
        .join('\r\n'),
      likes,
    ],
    ['CSV', 'id,Memory,created_at\r\n1,I like tea,2024-05-01\r\n2,"I live in Oslo"\r\n', likes],
    [
      'a table',
      '| # | What | Since |\n|---|:--:|---|\n| 1 | I like tea | 2024-05-01 |\n| 2 | I live in Oslo | 2024-05-01 |',
      likes,
    ],
    ['signs of lists', '## You\n☐ I like tea\n> 1) [ ] **I live** in Oslo', likes],
    ['UTF-16', Buffer.from('\ufeffI like tea\nI live in Oslo', 'utf16le'), likes],
  ])('reads %s', async (_name, file, expected) => {
    const harness = createHarness();
    await importAll(harness, typeof file === 'string' ? listOf(file) : file);
    const texts = (await harness.durable.list(aliceId)).map(({ text }) => text);
    expect(texts.toSorted()).toEqual(expected.toSorted());
  });

  it.each([
    ['commas', `text,id\n${','.repeat(250_000)}`],
    ['brackets', '['.repeat(3000) + ']'.repeat(3000)],
  ])('finds nothing in %s alone, and does not break on them', async (_name, file) => {
    expect(await readImportFile(Buffer.from(file), origin)).toMatchObject({ items: [] });
  });

  it.each([
    [
      'ChatGPT',
      [{ title: 'Tea', create_time: 1, mapping: { a: { message: { content: { parts: ['I like tea'] } } } } }],
    ],
    ['Claude', [{ uuid: 'a', name: 'Tea', chat_messages: [{ sender: 'human', text: 'I like tea' }] }]],
  ])('refuses conversations of %s, and says what to ask for', async (_name, data) => {
    const { text, token } = await preview(createHarness(), listOf(JSON.stringify(data)));
    expect(text).toMatch(/^Those are conversations.*\n```\nList everything you remember about me/u);
    expect(token).toBe('');
  });

  it.each(['- I like tea\n- I live in Oslo', '```json\n["I like tea", "I live in Oslo"]\n```'])(
    'reads what is pasted behind the command: %j',
    async (list) => {
      const harness = createHarness();
      const text = await harness.say(`import ${list}`, dmPlace);
      await harness.say(`confirm ${/confirm (\w+)/u.exec(text)?.[1]}`, dmPlace);
      expect((await harness.durable.list(aliceId)).map((item) => item.text).toSorted()).toEqual(likes);
    },
  );

  it('tells without a file what to ask them, and opens a form for what they answer', async () => {
    const { text, buttons } = await createHarness().give('import', dmPlace);
    expect(text).toMatch(/```\n[^`]*\[YYYY-MM-DD\] - what you remember\n[^`]*\n```/u);
    expect(buttons?.map(({ line, opensForm }) => [line, opensForm])).toEqual([['memory import', true]]);
    const { form } = await createHarness().give('import', dmPlace);
    expect(form).toMatchObject({ line: 'memory import', maxChars: 4000 });
  });
});

describe('an import', () => {
  it('is shown in no channel of a server', async () => {
    const text = await createHarness().say('import', publicPlace, { file: listOf('I keep bees') });
    expect(text).toBe('That is for you alone: use `/memory import`, or ask me in our DM.');
  });

  it('can be accepted by nobody else', async () => {
    const harness = createHarness();
    const { token } = await preview(harness, listOf('I keep bees'));
    expect(await harness.say(`confirm ${token}`, dmPlace, { speakerId: bobId })).toMatch(/isn't yours/u);
    expect(await harness.say(`confirm ${token}`, dmPlace)).toMatch(/^Imported 1 item\./u);
  });

  it.each([
    ['a picture', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]), 'neither an export nor a text file'],
    ['too much text', Buffer.alloc(256 * 1024 + 1, 'a\n'), '256 KB of text at most'],
    ['too large a file', Buffer.alloc(10 * 1024 * 1024 + 1, 'a'), 'larger than 10 MB'],
    ['a torn archive', Buffer.from('PK\u0003\u0004 and nothing else'), 'damaged'],
  ])('refuses %s', async (_name, file, line) => {
    expect(await createHarness().say('import', dmPlace, { file })).toContain(line);
  });

  it('refuses archives without items, with bombs, and with paths that lead elsewhere', async () => {
    const harness = createHarness();
    const say = async (files: Parameters<typeof zipOf>[0], mend = (zip: Buffer) => zip) =>
      harness.say('import', dmPlace, { file: mend(await zipOf(files)) });
    expect(await say({ 'other.json': '[]' })).toContain(
      'neither `items.json` nor `memories.json` in that archive',
    );
    expect(await say({ 'items.json': 'not JSON' })).toContain('damaged');
    expect(await say({ 'items.json': '{"not":"a list"}' })).toContain('1 entry that I cannot read');
    const bomb = Buffer.alloc(50 * 1024 * 1024, ' ');
    expect(await say({ 'items.json': bomb })).toContain('larger than I can read');
    // The same that says of itself to be short.
    const lying = (zip: Buffer): Buffer => {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(bomb.length);
      const short = Buffer.from([100, 0, 0, 0]);
      for (let at = zip.indexOf(length); at >= 0; at = zip.indexOf(length, at)) short.copy(zip, at);
      return zip;
    };
    expect(await say({ 'items.json': bomb }, lying)).toContain('damaged');
    expect(await say({ 'aa/bb/items.json': '[]' }, climbing)).toContain('damaged');
    expect(await harness.durable.list(aliceId)).toEqual([]);
  });

  it('takes any bytes without failing, and finds only items', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.string({ unit: 'binary' }), fc.json()),
        async (data) => {
          const read = await readImportFile(Buffer.from(data), origin);
          const items = read.unusable === undefined ? read.items : [];
          const isItem = items.map(({ text, status }) => text !== '' || status === 'active');
          expect(isItem).not.toContain(false);
        },
      ),
    );
    expect(await readImportFile(Buffer.from(''), origin)).toMatchObject({ items: [] });
  });
});
