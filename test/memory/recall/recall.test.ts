import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Place } from '../../../src/core/place.ts';
import { createRecall, type Recall } from '../../../src/memory/recall/recall.ts';
import { segmentOf, type RecallUnit } from '../../../src/memory/recall/segments.ts';
import { createNotebookSource, type RecallSource } from '../../../src/memory/recall/sources.ts';
import { withMark } from '../../../src/memory/notebook/tree.ts';
import { aliceId, bobId, generalId, publicPlace } from '../../support/incoming.ts';
import { channel, dmPlace, openSessions, secretPlace, withdrawal } from '../../support/sessions.ts';
import { detailFolder, openRecall } from './open-recall.ts';
import { runs } from '../../support/runs.ts';

const devPlace = channel('dev', '200000000000000002');
const teamPlace = channel('team', '200000000000000003', {
  audience: 'private',
  readers: ['310000000000000001'],
});

describe('recall finds [C1]', () => {
  it('what was said by other forms of its words, in any case', async () => {
    const { turn, find } = openRecall();
    await turn('We went to the Lighthouse yesterday', 'Nice!');
    expect(await find('going to lighthouses')).toEqual(['We went to the Lighthouse yesterday']);
  });

  it('a query taken literally, never as a pattern', async () => {
    const { say, find } = openRecall();
    await say('try grep a.*b( here');
    await say('axxb is nothing');
    await say('wait ??? what');
    expect(await find('a.*b(')).toEqual(['try grep a.*b( here']);
    expect(await find('???')).toEqual(['wait ??? what']);
    expect(await find('.*')).toEqual(['try grep a.*b( here']);
  });

  it('what has no word of the query behind what stands beside it, where that has several', async () => {
    const { say, find, time } = openRecall();
    await say('My brother keeps an axolotl in the cellar');
    await say('Its name is Ferdinand');
    time.now += 3 * 60 * 60 * 1000;
    await say('Good night');
    expect(await find("where does my brother's axolotl live, in a cellar?")).toEqual([
      'My brother keeps an axolotl in the cellar',
      'Its name is Ferdinand',
    ]);
    expect(await find('axolotl')).toEqual(['My brother keeps an axolotl in the cellar']);
  });

  it("no answer by the words of the bot's own question", async () => {
    const { say, turn, find } = openRecall();
    await turn('I am hungry', 'Which restaurant in Rome do you like?');
    await say('Trattoria Bella has tables outside.');
    expect(await find('restaurant in Rome')).not.toContain('Trattoria Bella has tables outside.');
  });

  it('what was said on a day, by its date or as yesterday', async () => {
    const { say, find, time } = openRecall();
    await say('The fence is painted');
    time.now += 24 * 60 * 60 * 1000;
    await say('The gate is painted');
    expect(await find('yesterday')).toEqual(['The fence is painted']);
    expect((await find('what was painted on January 16'))[0]).toBe('The gate is painted');
    expect(await find('2026-01-16')).toEqual(['The gate is painted']);
  });

  it('the newer of two that are as good, and one text once', async () => {
    const { say, search, time } = openRecall();
    const messages: string[] = [];
    for (const text of ['Tea is fine', 'Tea is fine', 'Tea is good']) {
      messages.push((await say(text)).messages[0]?.id ?? '');
      time.now += 3 * 60 * 60 * 1000;
    }
    const found = (await search('tea')).map(({ unit: { reference } }) =>
      reference.kind === 'message' ? reference.messageId : '',
    );
    expect(found).toEqual([messages[2], messages[1]]);
  });

  it("the person's words before the bot's", async () => {
    const { turn, find } = openRecall();
    const own = 'I keep bees in the garden behind the old house';
    await turn(own, 'Bees!');
    expect(await find('bees')).toEqual([own, 'Bees!']);
  });

  it('a message by the name of its file', async () => {
    const { contextOf, log, find } = openRecall();
    const context = contextOf(['my invoice']);
    const messages = context.messages.map((message) => ({ ...message, attachments: ['march.pdf'] }));
    await log.recordUser({ ...context, messages });
    expect(await find('march.pdf')).toEqual(['my invoice [march.pdf]']);
  });

  it('no message of the turn that asks', async () => {
    const { say, find } = openRecall();
    await say('My parrot is called Kiwi');
    const { messages } = await say('What is my parrot called?');
    const excluded = messages.map(({ id }) => id);
    expect(await find('parrot', { excluded })).toEqual(['My parrot is called Kiwi']);
  });
});

describe('recall is never older than the last write', () => {
  it('forgets what was deleted and reads what was edited', async () => {
    const { turn, log, find } = openRecall();
    const [question = '', answer = ''] = await turn('My locker is red', 'Red locker noted');
    expect(await find('red locker')).toHaveLength(2);
    await log.edit(generalId, question, 'My locker is blue');
    await log.remove(generalId, [answer]);
    expect(await find('red')).toEqual([]);
    expect(await find('locker')).toEqual(['My locker is blue']);
  });

  it('keeps nothing of a person who is to be forgotten, and reads again what is still there', async () => {
    const opened: string[] = [];
    const counting: RecallSource = {
      name: 'notebook',
      open({ id }) {
        opened.push(id);
        return () => Promise.resolve([]);
      },
    };
    const { say, recall, find } = openRecall({ sources: [counting] });
    await say('I live in Oslo');
    for (const id of [aliceId, bobId, aliceId]) await find('Oslo', { speaker: { id, isOwner: false } });
    expect(opened).toEqual([aliceId, bobId]);

    const underWay = find('Oslo');
    await recall.delete({ kind: 'person', userId: aliceId, sessions: [] });
    expect(await underWay).toEqual(['I live in Oslo']);
    for (const id of [bobId, aliceId]) await find('Oslo', { speaker: { id, isOwner: false } });
    expect(opened).toEqual([aliceId, bobId, aliceId]);
    expect(await find('Oslo')).toEqual(['I live in Oslo']);
  });
});

describe('recall tells only what may be used [V2]', () => {
  it("the speaker's own words, nobody else's", async () => {
    const { say, find } = openRecall();
    await say('My secret is mango');
    expect(await find('mango', { speaker: { id: bobId, isOwner: true } })).toEqual([]);
  });

  it('notes where they were written, and in the DM alone what somebody put there by hand', async () => {
    const { store, find } = openRecall();
    const inPrivate = withMark('The merger is in May', secretPlace);
    for (const [text, places] of [
      [inPrivate, [secretPlace, dmPlace]],
      [withMark('The merger is in May', publicPlace), [publicPlace, devPlace, secretPlace, dmPlace]],
      [withMark('The merger is in May', dmPlace), [dmPlace]],
      ['The merger is in May', [dmPlace]],
      [inPrivate.replace('visibility: here', 'visibility: everywhere'), [dmPlace]],
    ] as const) {
      await store.writeText(`${detailFolder}/plan.md`, text);
      for (const place of [publicPlace, devPlace, secretPlace, dmPlace])
        expect(await find('merger', { place })).toHaveLength(places.some((each) => each === place) ? 1 : 0);
    }
  });

  it('never shows beside a hit what was said to other readers', async () => {
    const { say, search } = openRecall();
    await say('The budget is secret: 900', secretPlace);
    await say('The picnic is on Friday', publicPlace);
    const [found] = await search('picnic', { place: publicPlace });
    expect(found?.content).toContain('The picnic is on Friday');
    expect(found?.content).not.toContain('900');
  });

  it('whatever was said where, and finds all of that', async () => {
    const other = {
      channelId: '200000000000000031',
      homeId: '200000000000000031',
      guildId: '300000000000000009',
    };
    const elsewhere: Place = { ...devPlace, ...other };
    const places = {
      public: publicPlace,
      dev: devPlace,
      team: teamPlace,
      secret: secretPlace,
      dm: dmPlace,
      elsewhere,
    };
    const { say, remember, find } = openRecall();
    for (const [name, place] of Object.entries(places)) {
      await say(`canary ${name}`, place);
      await remember(`item of a canary ${name}`, place);
    }
    const items = ['item dev', 'item elsewhere', 'item public'];
    const ofServer = [...items, 'dev', 'public'];
    const expected: Readonly<Record<string, readonly string[]>> = {
      public: ofServer,
      dev: ofServer,
      team: [...ofServer, 'team', 'item team'],
      secret: [...ofServer, 'secret', 'item secret'],
      dm: Object.keys(places).flatMap((name) => [name, `item ${name}`]),
      elsewhere: [...items, 'elsewhere'],
    };
    for (const [name, place] of Object.entries(places)) {
      const found = await find('canary', { place, limit: 50 });
      const shown = found.map((text) => text.replace('of a canary ', '').replace('canary ', ''));
      expect(new Set(shown)).toEqual(new Set(expected[name]));
    }
  });
});

/** All four sources, with much to find in one and little in the others. */
async function openAllSources() {
  const sessions = openSessions();
  const opened = openRecall({ sources: [createNotebookSource(sessions.store)] }, sessions);
  await sessions.store.writeText(`${detailFolder}/zoo.md`, 'On zebras, see the long report of last year');
  await sessions.store.writeText(
    'users/100000000000000001/notebook/facts/user.md',
    '# User\nLikes many animals, among them the zebra and the horse',
  );
  await opened.remember('Saw a zebra');
  for (let number = 1; number <= 60; number += 1) await opened.say(`Zebra ${number}`);
  return opened;
}

describe('recall searches sources [C2]', () => {
  it('without one starving another', async () => {
    const { search } = await openAllSources();
    const sources = (await search('zebra', { limit: 5 })).map(({ source }) => source);
    expect(new Set(sources)).toEqual(new Set(['messages', 'detail', 'notebook', 'items']));
  });

  it('one alone where one is asked for, notes of a conversation included [W2]', async () => {
    const { search } = await openAllSources();
    for (const scope of ['messages', 'detail', 'notebook', 'items'] as const) {
      const sources = (await search('zebra', { scope })).map(({ source }) => source);
      expect(new Set(sources)).toEqual(new Set([scope]));
    }
    // The notebook is told in the DM only [V3].
    expect(await search('zebra', { scope: 'notebook', place: publicPlace })).toEqual([]);
  });

  it("a file by its name, but no note's META", async () => {
    const { say, store, find } = openRecall();
    await say('hello there');
    await store.writeText(
      `${detailFolder}/auth-design.md`,
      '<!--\nMETA:\nkeywords: ["cookie"]\n-->\nUse tokens',
    );
    expect(await find('auth')).toEqual(['Use tokens']);
    expect(await find('cookie')).toEqual([]);
  });
});

describe('a passage', () => {
  it('shows the lines around the hit, each line once in all results', async () => {
    const { say, search } = openRecall();
    for (const text of ['I bought a kayak', 'It is green', 'The kayak leaks', 'So sad']) await say(text);
    const passages = await search('kayak');
    const contents = passages.map(({ content }) => content);
    const all = contents.join('\n');
    expect(contents).toHaveLength(2);
    for (const line of ['I bought a kayak', 'It is green', 'The kayak leaks', 'So sad'])
      expect(all.split(line)).toHaveLength(2);
    expect(passages.map(({ date }) => date)).toEqual(['2026-01-15', '2026-01-15']);
  });

  it('is never longer than 300 characters, and shows the part of a long text that was looked for', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 800 });
    await fc.assert(
      fc.asyncProperty(text, text, async (before, after) => {
        const { say, search } = openRecall();
        await say(`${before} walrus ${after}`);
        const [found] = await search('walrus');
        expect(found?.content).toContain('walrus');
        expect(found?.content.length).toBeLessThanOrEqual(300);
        expect(found?.content.isWellFormed()).toBe(true);
      }),
      { numRuns: runs(50) },
    );
  });
});

it('a search begins again where something was deleted or forgotten while it ran [C1]', async () => {
  let texts = ['Axolotls eat worms', 'Axolotls are pink'];
  const recall: Recall = createRecall({
    timeZone: 'UTC',
    sources: [
      {
        name: 'messages',
        open: (_, readers) => async () => {
          const found = segmentOf({ visibility: 'dm', homeId: '1' }, texts.map(unitOf), readers);
          if (texts.length === 2) {
            texts = texts.slice(1);
            await recall.delete(withdrawal());
          }
          return [found];
        },
      },
    ],
  });
  const found = await recall.search({
    queries: ['axolotls'],
    scope: 'all',
    limit: 5,
    speaker: { id: aliceId, isOwner: false },
    place: dmPlace,
    now: new Date(),
    excluded: [],
  });
  expect(found.map(({ unit }) => unit.text)).toEqual(['Axolotls are pink']);
});

function unitOf(text: string, index: number): RecallUnit {
  const reference = { kind: 'item', id: String(index) } as const;
  return {
    text,
    author: '',
    isBot: false,
    reach: { visibility: 'dm', homeId: '1' },
    stretch: index,
    reference,
  };
}
