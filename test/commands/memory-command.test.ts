import { describe, expect, it } from 'vitest';

import { StoreError } from '../../src/core/errors.ts';
import type { Place } from '../../src/core/place.ts';
import { visibilitySchema } from '../../src/core/visibility.ts';
import { aliceId, bobId, publicPlace } from '../support/incoming.ts';
import { createHarness, dmPlace, privatePlace } from './harness.ts';
import { unconditional } from '../../src/core/writes.ts';

const written = {
  id: '410000000000000001',
  channelId: publicPlace.channelId,
  author: { id: aliceId, name: 'Alice', kind: 'human' as const },
  text: 'I keep bees',
  at: '2026-01-15T09:00:00.000Z',
  attachments: [],
};

const session = { channelId: publicPlace.channelId, userId: aliceId };

/** Discord's form of a moment, which each reader sees as a day in their own time zone. */
const day = '<day>';

function withDays(answer: string): string {
  return answer.replaceAll(/<t:1768471\d{3}:d>/gu, day);
}

function linesBefore(...numbers: readonly number[]): readonly string[] {
  return numbers.map((number) => `  before ${day}: Lives in ${number}`);
}

/** What was said before each command, and is noticed after it. */
const noticed = {
  text: 'Keeps bees',
  place: publicPlace,
  messageId: '400000000000000001',
  type: 'summary',
} as const;

describe('show', () => {
  it('lists items with source, date, id and visibility, then the summary', async () => {
    const { say, idOf, rolling } = createHarness();
    await say('remember Prefers Rust', { ...publicPlace, channelName: 'dev' });
    await say('remember Lives in Oslo', dmPlace);
    rolling.put(
      { ...session, channelId: dmPlace.channelId },
      { text: 'About tea.\nAnd cups.', visibility: 'dm', homeId: '' },
    );
    expect(
      withDays(await say('show', dmPlace))
        .split('\n')
        .slice(0, 7),
    ).toEqual([
      'Durable memory (2 items):',
      `- [fact] Lives in Oslo (src: manual, updated ${day}) · id ${await idOf('Lives in Oslo')} · dm`,
      `- [fact] Prefers Rust (src: manual, #dev, updated ${day}) · id ${await idOf('Prefers Rust')} · everywhere`,
      '',
      'Rolling summary:',
      'About tea.',
      'And cups.',
    ]);
  });

  it('lists apart what is over [D7]', async () => {
    const { say, idOf } = createHarness();
    await say('remember My exam is on 14 January 2026', dmPlace);
    await say('remember My flight is on 15 January 2026', dmPlace);
    const [exam, flight] = ['My exam is on 14 January 2026', 'My flight is on 15 January 2026'];
    expect(
      withDays(await say('show', dmPlace))
        .split('\n')
        .slice(0, 4),
    ).toEqual([
      'Durable memory (2 items):',
      `- [fact] ${flight} (src: manual, updated ${day}, on 2026-01-15) · id ${await idOf(flight)} · dm`,
      'Over:',
      `- [fact] ${exam} (src: manual, updated ${day}, on 2026-01-14) (over) · id ${await idOf(exam)} · dm`,
    ]);
  });

  it('says what of each budget a prompt in this place uses', async () => {
    const { say, rolling, shortTerm } = createHarness();
    rolling.put(session, { text: 'x'.repeat(120), visibility: 'everywhere', homeId: '' });
    expect((await say('show')).split('\n').at(-1)).toBe(
      'Characters used in a prompt here: durable items 0 of 2000 · rolling summary 120 of 2000 · recent exchanges 0 of 1000',
    );
    await say('remember Prefers Rust');
    shortTerm.lines.push('- a line');
    expect((await say('show')).split('\n').at(-1)).toMatch(
      /: durable items [1-9]\d* of 2000 · rolling summary 120 of 2000 · recent exchanges [1-9]\d* of 1000$/u,
    );
  });

  it('shows in a guild only what may be used there, and counts the rest [K3]', async () => {
    const { say } = createHarness();
    await say('remember Prefers Rust');
    await say('remember Has a secret', dmPlace);
    await say('remember Has a hideout', privatePlace);
    const inPublic = await say('show');
    expect(inPublic).toContain('Durable memory (1 item):\n- [fact] Prefers Rust');
    expect(inPublic).toContain('\n2 more in our DM: say `!memory show` there.');
    expect(inPublic).not.toMatch(/secret|hideout/u);
    const inPrivate = await say('show', privatePlace);
    expect(inPrivate).toContain('Durable memory (2 items):');
    expect(inPrivate).not.toContain('secret');
  });

  it('shows all, marked, where only the asker sees the answer [K3]', async () => {
    const { say, rolling } = createHarness();
    await say('remember Has a secret', dmPlace);
    await say('remember Has a hideout', privatePlace);
    rolling.put(session, { text: 'Said in private.', visibility: 'here', homeId: publicPlace.homeId });
    const answer = await say('show', publicPlace, { ephemeral: true });
    expect(answer).toMatch(/Has a secret .* · dm\n/u);
    expect(answer).toMatch(/Has a hideout .*#hideout.* · here\n/u);
    expect(answer).toContain('Said in private.');
    expect(answer).not.toContain('more in our DM');
    expect(await say('show')).not.toContain('Said in private.');
  });

  it('shows what an item says now: what it corrected is for `history`, newest first, as far as it may be shown there [D6][K8]', async () => {
    const { say, durable, idOf } = createHarness();
    const places = [publicPlace, dmPlace, publicPlace, privatePlace, publicPlace, publicPlace];
    for (const [index, place] of places.entries()) {
      const replaces = index === 0 ? {} : { replaces: await idOf(`Lives in ${index - 1}`) };
      const text = `Lives in ${index}`;
      await durable.remember(unconditional(aliceId), {
        text,
        place: dmPlace,
        messageId: '1',
        type: 'manual',
        ...replaces,
      });
      const id = await idOf(text);
      if (place === publicPlace) await say(`share ${id}`, dmPlace);
      if (place === privatePlace) await durable.setVisibility(unconditional(aliceId), id, 'here', dmPlace);
    }
    const former = async (place: Place, options = {}) =>
      withDays(await say(`history ${await idOf('Lives in 5')}`, place, options))
        .split('\n')
        .filter((line) => line.startsWith(' '));
    expect(await former(publicPlace)).toEqual(linesBefore(4, 2, 0));
    expect(await former(dmPlace)).toEqual(linesBefore(4, 3, 2, 1, 0));
    expect(await former(publicPlace, { ephemeral: true })).toEqual(linesBefore(4, 3, 2, 1, 0));
    for (const subcommand of ['show', 'search lives', 'panel'])
      for (const place of [publicPlace, dmPlace])
        expect(await say(subcommand, place)).not.toMatch(/Lives in [0-4]/u);
    expect(await say('show')).toContain('Durable memory (1 item):\n- [fact] Lives in 5');
  });

  it("never shows another person's memory, also not to the one who is mentioned", async () => {
    const { say } = createHarness();
    await say('remember Prefers Rust');
    expect(await say('show', publicPlace, { speakerId: bobId })).toContain('Durable memory (0 items):');
  });
});

describe('remember', () => {
  it('says what it remembered, with id and visibility [K2]', async () => {
    const { say, idOf } = createHarness();
    const answer = await say('remember Prefers Rust');
    const id = await idOf('Prefers Rust');
    expect(answer).toBe(
      `Remembered: "Prefers Rust" · id ${id} · everywhere\n-# I may use it in every server that we share; \`!memory hide ${id}\` keeps it to our DM.`,
    );
    expect(await say('remember Has a cat', dmPlace)).toMatch(/· dm$/u);
    expect(await say('remember Has a dog', privatePlace)).toMatch(/· here$/u);
  });

  it.each(['this', 'это', ''])(
    'means by %j in reply to a message that message, as its menu does [K2]',
    async (words) => {
      const { say, durable } = createHarness();
      expect(await say(`remember ${words}`)).toContain('nothing to remember');
      const repliesTo = written;
      expect(await say(`remember ${words}`, publicPlace, { repliesTo })).toContain(
        'Remembered: "I keep bees"',
      );
      expect(await durable.list(aliceId)).toMatchObject([
        { text: 'I keep bees', source: { type: 'manual', messageId: written.id } },
      ]);
      const others = { ...written, author: { id: bobId, name: 'Bob', kind: 'human' as const } };
      expect(await say(`remember ${words}`, publicPlace, { repliesTo: others })).toContain(
        'not what others wrote',
      );
      expect(await durable.list(aliceId)).toHaveLength(1);
    },
  );

  it('refuses an empty and an overlong text, and stores neither', async () => {
    const { say, durable } = createHarness();
    expect(await say('remember  ')).toContain('There is nothing to remember');
    expect(await say(`remember ${'x'.repeat(501)}`)).toContain('501 characters, 500 at most');
    expect(await durable.list(aliceId)).toEqual([]);
    expect(await say(`remember ${'x'.repeat(500)}`)).toMatch(/^Remembered: "x{500}"/u);
  });

  it('names what had to go for it, never the new one [D3]', async () => {
    const { say } = createHarness({ maxItems: 2 });
    for (const text of ['one', 'two']) await say(`remember item ${text}`);
    expect(await say('remember item three')).toMatch(
      /^Remembered: "item three" .*\nTo make room, I let go of "item one" · id \w+ · everywhere$/mu,
    );
  });

  it('only counts in a guild what had to go and may not be named there [D3]', async () => {
    const { say } = createHarness({ maxItems: 1 });
    await say('remember a secret', dmPlace);
    const answer = await say('remember a plain thing');
    expect(answer).toContain("\nTo make room, I let go of 1 item that I don't name here.");
    expect(answer).not.toContain('secret');
  });

  it('does not reveal that the same words were kept before, in a narrower place', async () => {
    const elsewhere = { ...privatePlace, channelId: '200000000000000004', homeId: '200000000000000004' };
    for (const before of [dmPlace, privatePlace, publicPlace]) {
      for (const [now, visibility] of [
        [publicPlace, 'everywhere'],
        [elsewhere, before === publicPlace ? 'everywhere' : 'here'],
      ] as const) {
        const { say, idOf } = createHarness();
        await say('remember has a cat', before);
        const answer = await say('remember Has a cat', now);
        const [first = ''] = answer.split('\n');
        expect(first).toBe(`Remembered: "Has a cat" · id ${await idOf('Has a cat')} · ${visibility}`);
      }
    }
  });

  it("says that it can't save when the disk refuses, and what to do", async () => {
    const { say, store, logger } = createHarness();
    store.update = () => Promise.reject(new StoreError('disk full', 'users'));
    const answer = await say('remember Prefers Rust');
    expect(answer).toMatch(
      /^I can't read or save your memory right now, so this may not have worked\. Please try again/u,
    );
    expect(logger.errors).toEqual(['a memory command failed']);
  });
});

describe('forget', () => {
  it('lists what it deprecated, one or several, whatever the case [K2]', async () => {
    const { say, durable } = createHarness();
    for (const text of ['Works at Acme', 'Likes ACME tea', 'Has a cat']) await say(`remember ${text}`);
    const two = await say('forget all acme');
    expect(two).toMatch(/^Deprecated 2 items matching "acme"\n- \[fact\] .*\n- \[fact\] .*$/u);
    expect(await say('forget has a CAT')).toMatch(
      /^Deprecated 1 item matching "has a CAT"\n- \[fact\] Has a cat \(/u,
    );
    expect(await durable.list(aliceId)).toEqual([]);
  });

  it.each(['me', 'everything', 'mentions of me', 'Что ты знаешь обо мне'])(
    'touches nothing by %j, shows the newest items and how to erase, and ends nothing [K4]',
    async (target) => {
      const { give, say, durable, idOf } = createHarness();
      for (const text of [
        'Call me Al',
        'Likes it',
        'Has a cat',
        'Has a dog',
        'Is that tall',
        'Likes everything',
      ])
        await say(`remember ${text}`);
      await say('remember Secret of me', dmPlace);
      const { text, buttons = [] } = await give(`forget ${target}`);
      expect(text).toContain('nothing is forgotten yet');
      expect(text).toContain('`!memory erase`');
      expect(buttons.map(({ label, line }) => [label, line])).toEqual([
        ['Likes everything', `memory forget ${await idOf('Likes everything')}`],
        ['Is that tall', `memory forget ${await idOf('Is that tall')}`],
        ['Has a dog', `memory forget ${await idOf('Has a dog')}`],
        ['Has a cat', `memory forget ${await idOf('Has a cat')}`],
        ['Likes it', `memory forget ${await idOf('Likes it')}`],
        ['Erase everything …', 'memory erase'],
        ['None', undefined],
      ]);
      expect(await durable.list(aliceId)).toHaveLength(7);
      expect(await durable.remember(unconditional(aliceId), noticed)).toMatchObject({ outcome: 'stored' });
    },
  );

  it('points to erase where all may be meant by purge [K4]', async () => {
    const target = 'everything';
    const { give, say } = createHarness();
    const nothing = await give(`purge ${target}`);
    await say(`remember I like ${target}`);
    const found = await give(`purge ${target}`);
    for (const { text, buttons = [] } of [nothing, found]) {
      expect(text).toContain('`!memory erase` erases everything');
      expect(buttons).toContainEqual(expect.objectContaining({ line: 'memory erase' }));
    }
    expect((await give('purge tea')).text).not.toContain('erase`');
  });

  it('takes such words in quotes literally, and where an item says them as a whole', async () => {
    const { say, durable } = createHarness();
    await say('remember Likes the sea');
    await durable.remember(unconditional(aliceId), { ...noticed, text: 'The Who', type: 'manual' });
    expect(await say('forget "likes the"')).toContain('Deprecated 1 item');
    expect(await say('forget the who')).toContain('Deprecated 1 item');
    expect(await say('forget "me"')).toContain('No item');
  });

  it('says so when nothing matches, and takes no pattern', async () => {
    const { say, durable } = createHarness();
    await say('remember Has a cat');
    for (const target of ['.*', 'c.t', 'Has|cat', '$&', '%'])
      expect(await say(`forget ${target}`)).toBe(
        `No item that I may use here matches "${target.replace(/[*|]/u, String.raw`\$&`)}"`,
      );
    expect(await say('forget dog', dmPlace)).toBe('No item matches "dog"');
    expect(await durable.list(aliceId)).toHaveLength(1);
  });

  it('touches in a guild only what may be used there, and says how many more match in the DM', async () => {
    const { say, durable } = createHarness();
    await say('remember Acme is fun');
    await say('remember Acme fired me', dmPlace);
    const answer = await say('forget Acme');
    expect(answer).toMatch(
      /^Deprecated 1 item matching "Acme"\n- .*Acme is fun.*\n1 more in our DM: say `!memory forget` there\.$/u,
    );
    expect((await durable.list(aliceId)).map(({ text }) => text)).toEqual(['Acme fired me']);
    expect(await say('forget Acme', publicPlace, { ephemeral: true })).toContain('1 more in our DM');
  });

  it("leaves other people's items alone", async () => {
    const { say, durable } = createHarness();
    await say('remember Has a cat', publicPlace, { speakerId: bobId });
    await say('forget cat');
    expect(await durable.list(bobId)).toHaveLength(1);
  });

  it('says that the summary still mentions it and how to clear it, where the summary may be shown', async () => {
    const { say, rolling } = createHarness();
    await say('remember Has a cat');
    rolling.put(session, { text: 'They said:\nhas a  Cat.', visibility: 'everywhere', homeId: '' });
    expect(await say('forget cat')).toContain(
      'The rolling summary of this conversation still mentions it; `!memory reset rolling` clears it.',
    );
    await say('remember Has a cat');
    rolling.put(session, { text: 'They said: has a cat.', visibility: 'dm', homeId: '' });
    expect(await say('forget cat')).not.toContain('summary');
  });
});

describe('where memory is switched off', () => {
  it('nothing new is remembered, with a clear line, and what there is can be seen and forgotten', async () => {
    const off = { ...publicPlace, channelId: '200000000000000055' };
    const { say, durable } = createHarness({ memoryIsOffIn: [off.channelId] });
    await say('remember Prefers Rust');
    expect(await say('remember Lives in Oslo', off)).toMatch(/^Memory is switched off in this channel/u);
    expect((await durable.list(aliceId)).map(({ text }) => text)).toEqual(['Prefers Rust']);
    const shown = await say('show', off);
    expect(shown).toContain('[fact] Prefers Rust');
    expect(shown).toContain('none of this is used here');
    expect(shown).not.toContain('Characters used');
    expect(await say('forget Rust', off)).toContain('Deprecated 1 item');
  });
});

describe('share and hide', () => {
  it('move an item between everywhere and the DM [V1]', async () => {
    const { say, idOf } = createHarness();
    await say('remember Has a cat', dmPlace);
    const id = await idOf('Has a cat');
    expect(await say(`share ${id}`, dmPlace)).toContain(
      `Shared: "Has a cat" · id ${id} · everywhere\n-# I may use it in every server`,
    );
    expect(await say('show')).toContain('Has a cat');
    expect(await say(`hide ${id}`, dmPlace)).toBe(`Hidden: "Has a cat" · id ${id} · dm`);
    expect(await say('show')).not.toContain('Has a cat');
  });

  it('do not repeat in a guild what was hidden there just now', async () => {
    const { say, idOf } = createHarness();
    await say('remember Has a cat');
    const id = await idOf('Has a cat');
    expect(await say(`hide ${id}`)).toBe(`Hidden · id ${id} · dm`);
  });

  it('know in a guild only ids of what may be used there, unless only the asker sees the answer', async () => {
    const { say, idOf } = createHarness();
    await say('remember Has a secret', dmPlace);
    const id = await idOf('Has a secret');
    const unknown = await say('share ffffffff');
    expect(await say(`share ${id}`)).toBe(unknown.replace('ffffffff', id));
    expect(await say(`share ${id}`, publicPlace, { ephemeral: true })).toContain('Shared: "Has a secret"');
  });
});

describe('page [Y1]', () => {
  const pageUrl = 'https://memory.example.org/sign-in/token';

  it('gives a link where its person alone reads it', async () => {
    const harness = createHarness({ pageUrl });
    for (const reply of [
      await harness.give('page', dmPlace),
      await harness.give('page', publicPlace, { ephemeral: true }),
    ])
      expect(reply).toMatchObject({
        text: expect.stringContaining('once, within ten minutes'),
        buttons: [{ label: 'Open my page', url: pageUrl }],
      });
    const inPublic = await harness.give('page', publicPlace);
    expect(inPublic.text).toContain('use `/memory page`');
    expect(JSON.stringify(inPublic)).not.toContain(pageUrl);
  });

  it('says in one line that there is none', async () => {
    expect(await createHarness().give('page', dmPlace)).toEqual({
      text: 'This bot has no page to open in a browser; `/memory panel` shows your memory here.',
    });
  });
});

describe('the other words', () => {
  it('reset rolling clears the summary of this conversation only', async () => {
    const { say, rolling } = createHarness();
    const other = { ...session, channelId: privatePlace.channelId };
    for (const each of [session, other])
      rolling.put(each, { text: 'Tea.', visibility: 'everywhere', homeId: '' });
    expect(await say('reset rolling')).toBe('Rolling summary of this conversation cleared.');
    expect([...rolling.summaries.keys()]).toEqual([`${privatePlace.channelId}:${aliceId}`]);
  });

  it('help says where items of each visibility may be used [V1]', async () => {
    const help = await createHarness().say('help');
    for (const visibility of visibilitySchema.options) expect(help).toContain(`\`${visibility}\``);
  });

  it.each(['remember x', 'hide 1a2b3c4d'])(
    '%j says so when durable memory is switched off',
    async (words) => {
      const { say, durable } = createHarness({ config: { durable: { enabled: false } } });
      expect(await say(words)).toBe('Durable memory is switched off on this bot, so nothing was changed.');
      expect(await durable.list(aliceId)).toEqual([]);
    },
  );
});
