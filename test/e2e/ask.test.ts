import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import type { MessagesBody } from '../support/model-server.ts';
import type { ModelAnswer } from '../support/model-answer.ts';
import { eventually } from '../support/eventually.ts';
import { footerIn, labelsOf } from './footers.ts';
import { openStage, type Stage } from './stage.ts';

const words = Array.from({ length: 60 }, (_, index) => `word${index} `);
const longAnswer = Array.from(
  { length: 180 },
  (_, index) => `Sentence number ${index} of a long answer, in about fifty characters.`,
).join('\n');

/** What the last message of a request says, without what stands around it. */
function askedIn({ messages = [] }: MessagesBody): string {
  const text = (messages.at(-1)?.content ?? []).map((block) => block.text ?? '').join('');
  return text.slice(text.lastIndexOf('<message '));
}

function answer(body: MessagesBody): ModelAnswer {
  const asked = askedIn(body);
  const hasResult = body.messages?.at(-1)?.content.some(({ type }) => type === 'tool_result') === true;
  if (hasResult) return { text: 'I keep that in mind.' };
  if (asked.includes('at length')) return { text: longAnswer };
  if (asked.includes('slowly')) return { text: words, pauseMs: 20 };
  if (asked.includes('for ever')) return { text: words, pauseMs: 1000 };
  if (asked.includes('I collect'))
    return {
      toolUse: [{ name: 'remember_item', input: { quote: /I collect \w+/u.exec(asked)?.[0], kind: 'fact' } }],
    };
  return { text: `Answer to ${/question \w+/u.exec(asked)?.[0] ?? 'that'}.` };
}

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ model: answer, environment: { DISCOCLAW_SUMMARY_ENABLED: 'false' } });
});
afterAll(() => stage[Symbol.asyncDispose]());

type Asked = { readonly as: string; readonly in: string; readonly text: string };

/** Gives `/ask`; resolves with what its person sees of the answer once it says something. */
async function ask({ as, in: place, text }: Asked, containing: string): Promise<readonly MessageView[]> {
  const { answer: first } = await stage.sandbox.slash({ as, in: place, name: 'ask', options: { text } });
  return seenFrom(as, first, containing);
}

async function seenFrom(as: string, first: MessageView | undefined, containing: string) {
  if (first === undefined) throw new Error('Nothing was answered');
  return eventually(async () => {
    const all = await stage.sandbox.messages({ in: first.channelId, as, from: 'bot' });
    const seen = all.filter(({ id }) => BigInt(id) >= BigInt(first.id));
    if (!seen.some(({ text }) => text.includes(containing)))
      throw new Error(`"${containing}" is not in ${seen.map(({ text }) => text).join(' | ')}`);
    return seen;
  });
}

const promptOf = (text: string): string =>
  JSON.stringify(stage.model.requests.findLast(({ body }) => askedIn(body).includes(text))?.body ?? '');

describe('/ask in a public channel [EW2]', () => {
  it('answers its person alone, as it grows, and touches nothing that others see', async () => {
    const { sandbox, info } = stage;
    const readers = ['bob', 'carol'];
    while (readers.length < 20) readers.push((await stage.newcomer()).name);
    const before = await sandbox.messages({ in: '#general' });
    const typed = (await sandbox.typingEvents()).length;
    const seen = await ask({ as: 'alice', in: '#general', text: 'Tell me slowly' }, 'word59');
    expect(seen).toMatchObject([{ isEphemeral: true, author: { isBot: true } }]);
    const versions = await sandbox.versions({ message: seen[0]?.id ?? '' });
    expect(versions.length).toBeGreaterThan(2);
    expect(versions.at(-1)?.text).toBe(words.join('').trim());
    expect(await sandbox.messages({ in: '#general' })).toEqual(before);
    for (const as of readers) expect(await sandbox.messages({ in: '#general', as })).toEqual(before);
    expect(await sandbox.typingEvents()).toHaveLength(typed);
    expect(await stage.pathsWith(`channels/${info.channels['general']}`)).toEqual([]);
  });

  it('is in the history of the person’s DM, from the log, also after a restart, and in no channel’s', async () => {
    await ask({ as: 'alice', in: '#general', text: 'This is question Aardvark' }, 'question Aardvark');
    await stage.ask('alice', 'dm', 'question Bee');
    expect(promptOf('question Bee')).toContain('This is question Aardvark');
    expect(promptOf('question Bee')).toContain('Answer to question Aardvark.');
    await stage.restart();
    await stage.ask('alice', 'dm', 'question Cat');
    expect(promptOf('question Cat')).toContain('Answer to question Aardvark.');
    expect(promptOf('question Cat')).toContain('Answer to question Bee.');
    await stage.ask('alice', '#general', 'question Dog');
    await stage.ask('bob', 'dm', 'question Elk');
    for (const text of ['question Dog', 'question Elk']) expect(promptOf(text)).not.toContain('Aardvark');
  });

  it('of 9,000 characters is five messages there and the rest by DM', async () => {
    const dm = await stage.sandbox.openDm({ person: 'bob' });
    const seen = await ask({ as: 'bob', in: '#general', text: 'Tell me at length' }, 'Sentence number 100');
    const rest = await eventually(async () => {
      const all = await stage.sandbox.messages({ in: dm.id, from: 'bot' });
      if (!all.some(({ text }) => text.includes('Sentence number 179'))) throw new Error('not yet');
      return all;
    });
    const here = await stage.sandbox.messages({ in: '#general', as: 'bob', from: 'bot' });
    const own = here.filter(({ id, isEphemeral }) => isEphemeral && BigInt(id) >= BigInt(seen[0]?.id ?? 0));
    expect(own).toHaveLength(5);
    const all = [...own, ...rest].map(({ text }) => text).join('\n');
    for (let index = 0; index < 180; index += 1)
      expect(all.split(`Sentence number ${index} of`)).toHaveLength(2);
  });

  it('keeps the rest behind a button for ten minutes where DMs are closed, unless everything is erased', async () => {
    const askAtLength = async () => {
      await ask({ as: 'carol', in: '#general', text: 'Tell me at length' }, 'Sentence number 100');
      return eventually(async () => {
        const all = await stage.sandbox.messages({ in: '#general', as: 'carol', from: 'bot' });
        const found = all.find((each) => labelsOf(each).includes('Show the rest'));
        if (found === undefined) throw new Error('no button yet');
        return found;
      });
    };
    const rest = async ({ id: message }: MessageView) => {
      const click = { as: 'carol', message, label: 'Show the rest', followUps: 1 };
      return (await stage.sandbox.click(click)).followUps;
    };
    await stage.sandbox.closeDms({ person: 'carol', closed: true });
    const followUps = await rest(await askAtLength());
    expect(followUps[0]).toMatchObject({ isEphemeral: true });
    expect(followUps.map(({ text }) => text).join('\n')).toContain('Sentence number 179');

    const fifth = await askAtLength();
    const { id } = await stage.ask('carol', '#general', '!memory erase');
    await stage.press('carol', id, 'Erase everything');
    expect((await rest(fifth)).map(({ text }) => text)).toEqual(['This is over. Please ask me again.']);
    await stage.sandbox.closeDms({ person: 'carol', closed: false });
  });

  it('that grows goes with everything else that is erased', async () => {
    const { name } = await stage.newcomer();
    await ask({ as: name, in: '#general', text: 'Talk for ever' }, 'word');
    const { id } = await stage.ask(name, '#general', '!memory erase');
    await stage.press(name, id, 'Erase everything');
    await expect
      .poll(async () => (await stage.sandbox.messages({ in: '#general', as: name })).map(({ text }) => text))
      .not.toContainEqual(expect.stringContaining('word'));
  });

  it('says what it stored, with a button that undoes it', async () => {
    const [reply] = await ask({ as: 'bob', in: '#general', text: 'I collect stamps.' }, '💾');
    expect(footerIn(reply ?? { text: '' })).toContain('💾 Remembered: "I collect stamps."');
    expect(labelsOf(reply)).toContain('Undo');
    const items = async () => stage.readFile(stage.pathFor('bob', 'durable.json'));
    expect(JSON.parse(await items()).items).toMatchObject([{ visibility: 'dm' }]);
    await stage.press('bob', reply?.id ?? '', 'Undo');
    expect(JSON.parse(await items()).items).toEqual([]);
  });

  it('is stopped by a button, as nobody can react to what one person sees', async () => {
    const [first] = await ask({ as: 'alice', in: '#general', text: 'Talk for ever' }, 'word');
    expect(labelsOf(first)).toEqual(['🛑']);
    await stage.sandbox.click({ as: 'alice', message: first?.id ?? '', label: '🛑', until: 'acknowledged' });
    const [end] = await seenFrom('alice', first, 'Stopped.');
    expect(labelsOf(end)).not.toContain('🛑');
  });

  it('is answered once where the connection repeats what it was given by [G3]', async () => {
    const asked = { as: 'alice', in: '#general', text: 'Tell me slowly of question Jay' };
    const [first] = await ask(asked, 'word');
    await stage.sandbox.dropConnection({ repeat: 3 });
    expect(await seenFrom('alice', first, 'word59')).toHaveLength(1);
    await stage.ask('alice', 'dm', 'question Kite');
    expect(promptOf('question Kite')).toContain('question Jay');
  });

  it('reads a file', async () => {
    const { answer: first } = await stage.sandbox.slash({
      as: 'alice',
      in: '#general',
      name: 'ask',
      options: { text: 'What is question File', file: 'notes.txt' },
      attachments: [{ name: 'notes.txt', base64: Buffer.from('The bridge is blue').toString('base64') }],
    });
    await seenFrom('alice', first, 'Answer to question File');
    expect(promptOf('question File')).toContain('The bridge is blue');
  });

  it('keeps nothing in a pause, off the record where it is asked, and where memory is off', async () => {
    await stage.sandbox.slash({ as: 'alice', in: '#dev', name: 'memory', subcommand: 'pause', options: {} });
    await ask({ as: 'alice', in: '#dev', text: 'This is question Fox' }, 'question Fox');
    await stage.sandbox.slash({ as: 'alice', in: '#dev', name: 'memory', subcommand: 'resume', options: {} });
    await stage.ask('alice', '#dev', '!memory pause here');
    await ask({ as: 'alice', in: '#dev', text: 'This is question Gnu' }, 'question Gnu');
    await stage.ask('alice', '#dev', '!memory resume');
    await stage.ask('alice', '#dev', '!settings memory off');
    await ask({ as: 'alice', in: '#dev', text: 'This is question Hen' }, 'question Hen');
    expect(promptOf('question Hen')).toContain('Memory is switched off in this channel');
    await stage.ask('alice', '#dev', '!settings memory on');
    expect(await stage.pathsWith('Fox', 'Gnu', 'Hen')).toEqual([]);
    await stage.ask('alice', 'dm', 'question Ibis');
    expect(promptOf('question Ibis')).not.toMatch(/Fox|Gnu|Hen/u);
  });
});
