import { describe, expect, it } from 'vitest';

import type { OpenedFile, AttachedFile, ChatMessage, RepliedMessage } from '../../src/core/message.ts';
import type { Section } from '../../src/core/section.ts';
import type { TurnMessage } from '../../src/core/turn-context.ts';
import { enclosedSections, readEnclosures, type Enclosures } from '../../src/turn/prompt-input.ts';
import { enclosedBefore } from '../../src/turn/earlier-messages.ts';
import { aliceContext } from '../model/alice-context.ts';
import { aliceId, bobId, generalId } from '../support/incoming.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';

const writtenAt = '2026-01-15T10:00:00.000Z';

function file(name: string): AttachedFile {
  return { name, size: 1, url: `https://cdn.discordapp.com/${name}` };
}

function message(id: string, changes: Partial<TurnMessage> = {}): TurnMessage {
  return { id, text: 'hello', at: writtenAt, attachments: [], ...changes };
}

function replied(
  id: string,
  author: ChatMessage['author'],
  files: readonly AttachedFile[] = [],
): RepliedMessage {
  return { id, channelId: generalId, author, text: `text ${id}`, at: '', attachments: [], files };
}

/** The marks of these answers; Alice's turns are at ten. */
const marksInLog = new Map([
  ['marked', snowflakeAt(new Date('2026-01-15T09:50:00.000Z'))],
  ['old', snowflakeAt(new Date('2026-01-15T09:30:00.000Z'))],
]);
const unloggedId = snowflakeAt(new Date('2026-01-15T09:59:00.000Z'));

const bob = { id: bobId, name: 'Bob', kind: 'human' } as const;

/** What a turn of Alice's messages brings along; every file is opened but movies. */
async function read(
  messages: readonly TurnMessage[],
  others: readonly RepliedMessage[] = [],
  before: readonly ChatMessage[] = [],
  isErased = false,
): Promise<Enclosures & { readonly asked: readonly string[]; readonly sections: readonly Section[] }> {
  const asked: string[] = [];
  const ports: Parameters<typeof readEnclosures>[0] = {
    attachments: {
      open: (files) =>
        Promise.resolve(
          files.map(({ name }): OpenedFile => {
            return name.endsWith('.mp4')
              ? { kind: 'unopened', name, reason: 'a movie' }
              : { kind: 'text', name, text: 'x' };
          }),
        ),
    },
    people: { erasedBy: (id) => Promise.resolve(() => isErased && id === aliceId) },
    readReplied({ id }) {
      asked.push(id);
      if (id === 'command') return Promise.resolve('hidden');
      return Promise.resolve(others.find((each) => each.id === id) ?? 'gone');
    },
    log: {
      asked: async () => [],
      marksOf: (_, ids) =>
        Promise.resolve(new Map(ids.flatMap((id) => (id === unloggedId ? [] : [[id, marksInLog.get(id)]])))),
    },
    logger: new RecordingLogger(),
  };
  const turn = { ...aliceContext, messages };
  const enclosed = await readEnclosures(ports, turn, before, new AbortController().signal);
  return { ...enclosed, asked, sections: enclosedSections(enclosed, ({ name }) => name, 'UTC') };
}

function replyTo(id: string): Pick<TurnMessage, 'repliesTo'> {
  return { repliesTo: { id, channelId: generalId } };
}

describe('what a turn brings along', () => {
  it('shows no secret, in cards of a message that is passed on or replied to neither [K14]', async () => {
    const shown = [{ kind: 'card', text: 'my password is hunter2-Xy' }] as const;
    const { sections } = await read(
      [message('1', { forwards: [{ text: 'x', files: [], at: writtenAt, shown }], ...replyTo('9') })],
      [{ ...replied('9', bob), shown }],
    );
    expect(sections).toHaveLength(2);
    for (const { lines } of sections) expect(lines.join('\n')).toContain('[card: my password is ▒▒▒]');
  });

  it('holds others’ words where the bot said the quoted message for somebody, not where it answered', async () => {
    const answer = replied('9', { id: '900000000000000001', name: 'Discoclaw', kind: 'self' });
    expect((await read([message('1', replyTo('9'))], [answer])).hasThirdPartyText).toBe(false);
    const own = replied('8', { id: aliceId, name: 'Alice', kind: 'human' });
    for (const [question, hasThirdPartyText] of [
      [own, false],
      // The log says of the answer that it was made without, as where a file could not be opened.
      [{ ...own, hasThirdPartyText: true } as const, false],
      [replied('8', bob), true],
    ] as const) {
      const answering = [{ ...answer, answers: '8' }, question];
      expect((await read([message('1', replyTo('9'))], answering)).hasThirdPartyText).toBe(hasThirdPartyText);
    }
    const toNobody = { ...answer, answers: '8' };
    expect((await read([message('1', replyTo('9'))], [toNobody])).hasThirdPartyText).toBe(true);
    const unlogged = { ...answer, id: unloggedId, answers: '8' };
    for (const brought of [{ ...own, hasThirdPartyText: true } as const, own])
      expect((await read([message('1', replyTo(unloggedId))], [unlogged, brought])).marks).toEqual(
        brought === own ? [] : [unloggedId],
      );
    const sent = { ...answer, hasThirdPartyText: true } as const;
    expect((await read([message('1', replyTo('9'))], [sent])).hasThirdPartyText).toBe(true);
  });

  it('shows no reminder that came before its person had everything erased, also to others who reply [RM5] [K11]', async () => {
    const self = { id: '900000000000000001', name: 'Discoclaw', kind: 'self' } as const;
    for (const saidFor of [undefined, aliceId, bobId])
      for (const isErased of [false, true]) {
        const reminder = { ...replied('9', self), text: '⏰ feed the cat', saidFor };
        const { sections } = await read([message('1', replyTo('9'))], [reminder], [], isErased);
        const shown = sections.flatMap(({ lines }) => lines).join('\n');
        expect(shown.includes('feed the cat')).toBe(!isErased || saidFor === bobId);
      }
  });

  it.each([
    ['a file that was opened', message('1', { files: [file('a.txt')] }), true],
    ['a file that was not', message('1', { files: [file('a.mp4')] }), false],
    ['a message passed on', message('1', { forwards: [{ text: 'x', at: writtenAt, files: [] }] }), true],
    ['a reply to somebody else', message('1', replyTo('9')), true],
    ['a reply to the bot', message('1', replyTo('8')), false],
    ['a reply to somebody else’s reminder', message('1', replyTo('reminder')), true],
    ['a reply to oneself', message('1', replyTo('7')), false],
    ['a reply to what is gone', message('1', replyTo('6')), false],
    ['a reply to an answer that may repeat others’ words', message('1', replyTo('marked')), true],
    ['a reply to such an answer of half an hour ago', message('1', replyTo('old')), false],
    ['a name of many words', message('1', { text: 'hi @\u2068Loves peanuts\u2069' }), true],
    ['a name of one word', message('1', { text: 'hi @Bob' }), false],
  ])('holds what the speaker did not write, or not, with %s [M5a]', async (_, said, hasThirdPartyText) => {
    const others = [
      replied('9', bob),
      replied('8', { id: '900000000000000001', name: 'Discoclaw', kind: 'self' }),
      replied('marked', { id: '900000000000000001', name: 'Discoclaw', kind: 'self' }),
      replied('old', { id: '900000000000000001', name: 'Discoclaw', kind: 'self' }),
      replied('7', { id: aliceId, name: 'Alice', kind: 'human' }),
      {
        ...replied('reminder', { id: '900000000000000001', name: 'Discoclaw', kind: 'self' }),
        saidFor: bobId,
      },
    ];
    const enclosed = await read([said], others);
    expect(enclosed.hasThirdPartyText || enclosed.marks.length > 0).toBe(hasThirdPartyText);
  });
});

const alice = { id: aliceId, name: 'Alice', kind: 'human' } as const;
const self = { id: '100000000000000009', name: 'Discoclaw', kind: 'self' } as const;

/** A message at so many minutes before the turn. */
function earlier(id: string, minutes: number, changes: Partial<ChatMessage> = {}): ChatMessage {
  const at = new Date(aliceContext.now.getTime() - minutes * 60_000).toISOString();
  return { id, channelId: generalId, author: alice, text: 'hm', at, attachments: ['a.png'], ...changes };
}

function meant(...messages: readonly ChatMessage[]): readonly string[] {
  return enclosedBefore(messages, aliceContext).map(({ id }) => id);
}

describe('what came with the messages right before [G6]', () => {
  it('is opened of the speaker’s three messages before, and quoted where it was passed on', async () => {
    const before = [
      { ...replied('5', alice, [file('cat.png')]), at: '' },
      { ...replied('6', alice), forwards: [{ text: 'the plan', at: writtenAt, files: [file('plan.txt')] }] },
    ];
    const own = message('9', { files: [file('own')] });
    const { files, forwards, hasThirdPartyText } = await read([own], before, before);
    expect(files.map(({ name }) => name)).toEqual(['own', 'plan.txt', 'cat.png']);
    expect(forwards).toMatchObject([{ text: 'the plan' }]);
    expect(hasThirdPartyText).toBe(true);
  });

  it('is that of the speaker alone, with files or passed on, younger than ten minutes', () => {
    expect(
      meant(
        earlier('1', 11),
        earlier('2', 9, { author: bob }),
        earlier('3', 8, { attachments: [] }),
        earlier('4', 7, { attachments: [], shown: [{ kind: 'forwarded message', text: 'x' }] }),
        earlier('5', 1),
      ),
    ).toEqual(['4', '5']);
    expect(meant(earlier('1', 11), earlier('2', 9))).toEqual(['2']);
    expect(
      meant(earlier('1', 4), ...['2', '3', '4'].map((id) => earlier(id, 1, { attachments: [] }))),
    ).toEqual([]);
  });

  it('is opened for the turn after it: for a second question about what came with the first, and no third', () => {
    const answer = (answers: string) =>
      earlier(`to ${answers}`, 3, { author: self, answers, attachments: [] });
    const second = earlier('3', 2, { attachments: [] });
    const toBob = [earlier('5', 2, { author: bob }), answer('5')];
    expect(meant(earlier('1', 5), earlier('2', 4), answer('2'))).toEqual(['2']);
    expect(meant(earlier('2', 4), answer('2'), earlier('4', 2), ...toBob)).toEqual(['2', '4']);
    expect(meant(earlier('2', 4), answer('2'), second, answer('3'))).toEqual([]);
    // What somebody replied to counts where they asked the bot about it.
    const reply = earlier('2', 4, { attachments: [], ...replyTo('1') });
    expect(meant(reply, answer('2'))).toEqual(['1']);
    expect(meant(reply)).toEqual([]);
    expect(meant(reply, answer('2'), second, answer('3'))).toEqual([]);
    // A forward and its comment were one turn.
    const inDm = { ...aliceContext, place: { ...aliceContext.place, audience: 'dm' } } as const;
    const comment = earlier('2', 4, { attachments: [] });
    const asked = [earlier('0', 6), answer('0'), earlier('1', 5), comment, answer('2')];
    expect(enclosedBefore(asked, inDm).map(({ id }) => id)).toEqual(['1']);
    expect(enclosedBefore([...asked, second, answer('3')], inDm)).toEqual([]);
  });
});
