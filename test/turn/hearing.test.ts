import { describe, expect, it } from 'vitest';

import { RecentChanges } from '../../src/core/changes.ts';
import type { ChatMessage, IncomingMessage, Transcribe } from '../../src/core/message.ts';
import { ModelError } from '../../src/core/errors.ts';
import type { CallBudget } from '../../src/core/model.ts';
import { createTranscriber } from '../../src/model/transcriber.ts';
import type { LoggedMessage } from '../../src/memory/log/records.ts';
import { createHearing, type HearingPorts } from '../../src/turn/hearing.ts';
import { deferred } from '../support/deferred.ts';
import { aliceId, bobId, incoming } from '../support/incoming.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { startTranscriptionServer, type TranscriptionAnswer } from '../support/transcription-server.ts';

const running = () => new AbortController().signal;

function spoken(id = '1', seconds = 9, changes: Partial<IncomingMessage> = {}): IncomingMessage {
  return incoming({
    id: `40000000000000000${id}`,
    text: '',
    shown: [{ kind: 'voice message', text: 'voice-message.ogg · 0 min 9 s' }],
    voice: { name: 'voice-message.ogg', size: 10, url: 'https://cdn.example/voice', seconds },
    ...changes,
  });
}

/** Hears what the recordings say, by their length in seconds. */
const saying =
  (texts: Readonly<Record<number, string>>): Transcribe =>
  async ({ seconds }) =>
    texts[seconds] ?? 'Hello.';

function hearingWith(changes: Partial<HearingPorts> = {}) {
  const recent = new RecentChanges();
  const hearing = createHearing({
    transcribe: saying({}),
    readAttachment: async () => Buffer.from('OggS'),
    replies: { find: async () => ({ questionExists: false, ids: [] }), amend: async () => true },
    outbox: { hide: async () => {} },
    log: { logged: async () => undefined },
    recent,
    logger: recordingLogger(),
    ...changes,
  });
  return { recent, hearing };
}

const faults: readonly (readonly [
  name: string,
  told: RegExp,
  fault: {
    readonly answer?: TranscriptionAnswer;
    readonly read?: 'too-large' | 'unavailable';
    readonly seconds?: number;
    readonly isDown?: true;
    readonly isOver?: true;
  },
])[] = [
  ['a recording of eleven minutes', /at most 10 minutes.*in parts/u, { seconds: 660 }],
  ['a file that cannot be fetched', /could not fetch its file.*again/u, { read: 'unavailable' }],
  ['a server that is down', /does not answer in time.*write it/u, { isDown: true }],
  ['a server that takes too long', /does not answer in time.*write it/u, { answer: 'silent' }],
  ['a refused key', /no usable answer.*in my log/u, { answer: { status: 401 } }],
  ['a broken server', /no usable answer.*write it/u, { answer: { status: 500 } }],
  ['silence', /no words in it.*microphone/u, { answer: { text: ' ' } }],
  ['the limit on cost', /cost more than is left for today.*tomorrow/u, { isOver: true }],
];

describe('a voice message that cannot be heard', () => {
  it.each(faults)('says so in one clear line: %s', async (_, told, fault) => {
    await using server = await startTranscriptionServer(() => fault.answer ?? { text: 'Hello.' });
    const budget: CallBudget = {
      reserve: () => Promise.reject(new ModelError('too much', 'over-limit')),
    };
    const transcribe = createTranscriber({
      url: fault.isDown === true ? 'http://127.0.0.1:9' : server.url,
      model: 'whisper-1',
      concurrency: 1,
      timeoutMs: fault.answer === 'silent' ? 50 : 60_000,
      budget: fault.isOver === true ? budget : undefined,
      onUsage: () => {},
    });
    const readAttachment = async () => fault.read ?? Buffer.from('OggS');
    const { hearing } = hearingWith({ transcribe, readAttachment });
    const message = spoken('1', fault.seconds);

    const alone = await hearing.hear([message], running());
    expect(alone.problem).toMatch(/^⚠️ I could not hear your voice message: [^\n]+[.]$/u);
    expect(alone.problem).toMatch(told);
    expect(alone.lines).toEqual([]);
    // What came with it is still answered.
    const typed = incoming({ id: '400000000000000002', text: 'Look at this' });
    const withText = await hearing.hear([message, typed], running());
    expect(withText).toEqual({ messages: [message, typed], lines: [alone.problem] });
  });

  it('is only named where no server is configured, or another bot sent it', async () => {
    const unheard = { messages: [spoken()], lines: [] };
    expect(await hearingWith({ transcribe: undefined }).hearing.hear([spoken()], running())).toEqual(unheard);
    const byBot = spoken('1', 9, { author: { id: bobId, name: 'Bot', kind: 'bot' } });
    expect(await hearingWith().hearing.hear([byBot], running())).toEqual({ messages: [byBot], lines: [] });
  });
});

describe('voice messages of a turn', () => {
  it('get their words in order, marked as heard, beside what was typed', async () => {
    const { hearing } = hearingWith({ transcribe: saying({ 3: 'First.', 4: 'Third.' }) });
    const typed = incoming({ id: '400000000000000002', text: 'Second.' });
    const { messages, lines } = await hearing.hear([spoken('1', 3), typed, spoken('3', 4)], running());
    expect(messages.map(({ text, heard }) => [text, heard])).toEqual([
      ['First.', true],
      ['Second.', undefined],
      ['Third.', true],
    ]);
    expect(messages[0]?.shown?.[0]?.text).toBe('voice-message.ogg · 0 min 9 s · heard');
    expect(lines).toEqual(['🎤 heard: "First." · "Third."']);
  });

  it('are ten minutes and 8,000 characters together at most, and what is over it is told', async () => {
    const long = hearingWith();
    const minutes = await long.hearing.hear([spoken('1', 400), spoken('2', 300)], running());
    expect(minutes.messages.map(({ text }) => text)).toEqual(['Hello.', '']);
    expect(minutes.lines[1]).toMatch(/at most 10 minutes/u);

    const wordy = hearingWith({ transcribe: saying({ 1: 'word '.repeat(2000), 2: 'more' }) });
    const words = await wordy.hearing.hear([spoken('1', 1), spoken('2', 2)], running());
    const chars = words.messages.reduce((sum, { text }) => sum + text.length, 0);
    expect(chars).toBeLessThanOrEqual(8000);
    expect(words.lines.at(-1)).toMatch(/only the beginning/u);
    expect(words.lines[0]?.length).toBeLessThan(350);
  });

  it('keep nothing of one that is deleted while it is heard [G5]', async () => {
    const answer = deferred<string>();
    const { hearing, recent } = hearingWith({ transcribe: () => answer.promise });
    const message = spoken();
    const heard = hearing.hear([message], running());
    recent.note({ kind: 'deleted', channelId: message.channelId, messageIds: [message.id] });
    answer.resolve('A secret plan.');
    expect(await heard).toEqual({ messages: [message], lines: [] });
    expect(await inHistory(hearing, message)).toBe('');
  });
});

type Hearing = ReturnType<typeof createHearing>;

async function inHistory(hearing: Hearing, message: ChatMessage): Promise<string | undefined> {
  const history = hearing.history({ recent: () => Promise.resolve([message]) });
  return (await history.recent(message.channelId, 1))[0]?.text;
}

describe('the small lines under an answer', () => {
  it.each([
    ['heard', true],
    ['typed', undefined],
  ] as const)('go with the message that they quote, and so do their buttons: %s [G5]', async (_, heard) => {
    const amended: unknown[] = [];
    const standing = [
      ...(heard === undefined ? [] : ['🎤 heard: "I like oolong."']),
      '💭 May I remember: "I like oolong."?',
      'I am an AI',
    ];
    const amend: HearingPorts['replies']['amend'] = async (_channelId, id, change) => {
      amended.push(id, await change(standing));
      return true;
    };
    const { hearing } = hearingWith({
      replies: { find: async () => ({ questionExists: false, ids: [] }), amend },
    });
    const { id, channelId, at } = spoken();
    const own = { type: 'message', author: 'Alice', at, visibility: 'server', homeId: channelId } as const;
    const words = { text: 'I  like oolong.', attachments: [] };
    const said: LoggedMessage = { ...own, ...words, role: 'user', id, authorId: aliceId, heard };
    const ids = ['7', '8'];
    const answer: LoggedMessage = { ...own, ...words, role: 'assistant', id: '7', ids, replyTo: [id] };
    const messages = [said, answer].map((message, sequence) => ({
      sequence,
      before: message,
      now: undefined,
    }));
    const cause = { kind: 'deleted', channelId, messageIds: [id] } as const;
    const session = { channelId, userId: aliceId };
    await hearing.layer.delete({ kind: 'messages', session, messages, cause });
    expect(amended).toEqual(['8', { lines: ['I am an AI'], buttons: { personId: aliceId, buttons: [] } }]);
  });
});

describe('what was heard', () => {
  it('stands in history, in what is read of a channel and in replies, until its message or its person goes', async () => {
    const { hearing } = hearingWith();
    const message = spoken();
    expect(await inHistory(hearing, message)).toBe('');
    await hearing.hear([message, spoken('2')], running());
    expect(await inHistory(hearing, message)).toBe('Hello.');
    const replied = hearing.replied(async () => ({ ...message, files: [] }));
    expect(await replied({ id: message.id, channelId: message.channelId })).toMatchObject({ heard: true });
    const cause = { kind: 'deleted', channelId: message.channelId, messageIds: [message.id] } as const;
    const [session] = (await hearing.layer.holdersOf?.(cause)) ?? [];
    if (session === undefined) throw new Error('Nobody holds it');
    await hearing.layer.delete({ kind: 'messages', session, messages: [], cause });
    expect(await inHistory(hearing, message)).toBe('');
    expect(await inHistory(hearing, spoken('2'))).toBe('Hello.');
    hearing.layer.evict?.(aliceId);
    expect(await inHistory(hearing, spoken('2'))).toBe('');
  });
});
