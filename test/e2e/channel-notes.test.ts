import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { answeringBy, callsOf, chatCall, sectionIn, toldIn, type Answers } from './model-calls.ts';
import { command, idIn } from './memory-talk.ts';
import { openStage, type Stage } from './stage.ts';
import { withFooter } from './footers.ts';

const answers: Answers = {};
let stage: Stage;

beforeEach(async () => {
  stage = await openStage({
    model: answeringBy(answers),
    environment: {
      DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
      DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
      DISCOCLAW_CHANNEL_NOTES_IDLE_MINUTES: '0',
    },
  });
  await settings('channel-memory on server');
  // The model repeats whatever it is shown of notes.
  answers.chat = (body) => ({
    text: `As I see it: ${/<channel_notes>[\s\S]*<\/channel_notes>/u.exec(JSON.stringify(body.messages))?.[0] ?? 'nothing'}`,
  });
});

afterEach(async () => {
  delete answers.chat;
  delete answers.notes;
  await stage[Symbol.asyncDispose]();
});

async function settings(words: string, place = '#general'): Promise<string> {
  return (await stage.ask(stage.info.owner.name, place, `!settings ${words}`)).text;
}

/** What a prompt shows of notes when somebody asks. */
async function notesFor(as: string, place: string, text = 'when does the walrus ship?'): Promise<string> {
  return sectionIn(await chatCall(stage, as, place, text), 'channel_notes');
}

/** The files of the bot that hold a word. */
async function filesSaying(word: string): Promise<readonly string[]> {
  const found = (await stage.kept()).filter(({ text }) => text.includes(word));
  return found.map(({ path, text }) => `${path}: ${text}`);
}

const saidByBob = 'the walrus ships on the ninth of May';
const saidByAlice = 'the walrus needs a changelog before it ships';

async function note(as: string, text: string, place = '#dev') {
  const said = await stage.sandbox.say({ as, in: place, text: `!memory note ${text}` });
  const answer = await stage.answerTo(said);
  expect(answer.text).toContain('📝 Noted for this channel');
  return { message: said.id, id: idIn(answer.text) };
}

/** Both are used where they may be; then one of them goes, and the other stays. */
async function expectGone(): Promise<void> {
  for (const place of ['#dev', '@carol', '#general']) {
    const notes = await notesFor('carol', place === '@carol' ? '@carol' : place);
    expect(notes).toContain(saidByAlice);
    expect(notes).not.toContain(saidByBob);
  }
  await eventually(async () => expect(await filesSaying('ninth of May')).toEqual([]));
  expect(await filesSaying('a changelog before')).not.toEqual([]);
}

async function decide() {
  const alice = await note('alice', saidByAlice);
  const bob = await note('bob', saidByBob);
  for (const place of ['#dev', '@carol', '#general']) {
    const notes = await notesFor('carol', place);
    for (const [name, text, { message }] of [
      ['alice', saidByAlice, alice],
      ['bob', saidByBob, bob],
    ] as const)
      expect(notes).toMatch(
        new RegExp(
          `- \\d{4}-\\d\\d-\\d\\d, ${name} in #dev: "${text}" \\(https://discord.com/channels/\\d+/\\d+/${message}\\)`,
          'u',
        ),
      );
  }
  return { alice, bob };
}

describe('what two people decided in #dev', () => {
  it('is noted by `/memory note` too, and said for all who read along to see [B1]', async () => {
    const text = 'the heron is the mascot';
    const given = { as: 'bob', in: '#dev', name: 'memory', subcommand: 'note', options: { text } };
    const { answer } = await stage.sandbox.slash(given);
    expect(answer?.text).toContain('📝 Noted for this channel');
    await eventually(async () => {
      const seen = (await stage.sandbox.messages({ in: '#dev' })).map((message) => message.text);
      expect(seen).toContain(`📝 bob noted for this channel: "${text}"`);
    });
    expect((await stage.ask('carol', '#dev', '!memory channel')).text).toContain(text);
    expect((await stage.ask('bob', '#dev', `!memory forget ${idIn(answer?.text ?? '')}`)).text).toContain(
      'Forgot 1 note',
    );
  });

  it('is gone when its author deletes the message', async () => {
    const { bob } = await decide();
    await stage.sandbox.delete({ as: 'bob', message: bob.message });
    await eventually(async () => expect(await notesFor('carol', '#dev')).not.toContain(saidByBob));
    await expectGone();
  });

  it('is gone when its author deletes the message while the bot is away', async () => {
    const { bob } = await decide();
    await stage.stopBot();
    await stage.sandbox.delete({ as: 'bob', message: bob.message });
    await stage.startBot();
    await eventually(async () => expect(await notesFor('carol', '#dev')).not.toContain(saidByBob));
    await expectGone();
  });

  it('is gone when its author forgets it, and comes back by undo', async () => {
    await decide();
    expect(await command(stage, '!memory', 'bob', '@bob', 'forget ninth of May')).toContain('Forgot 1 note');
    expect(await notesFor('carol', '#dev')).not.toContain(saidByBob);
    expect(await command(stage, '!memory', 'bob', '#dev', 'channel')).not.toContain(saidByBob);
    expect(await command(stage, '!memory', 'bob', '@bob', 'undo')).toContain('Undone');
    expect(await notesFor('carol', '#dev')).toContain(saidByBob);
  });

  it('is gone when its author pauses', async () => {
    await decide();
    await command(stage, '!memory', 'bob', '@bob', 'pause');
    await expectGone();
    expect((await stage.ask('bob', '#dev', `!memory note ${saidByBob}`)).text).toContain('paused');
  });

  it('is gone when its author erases everything', async () => {
    await decide();
    const { id } = await stage.ask('bob', '@bob', '!memory erase');
    const clicked = await stage.sandbox.click({ as: 'bob', message: id, label: 'Erase everything' });
    await eventually(async () =>
      expect((await stage.sandbox.interaction({ id: clicked.id })).followUps.at(-1)?.text ?? '').not.toBe(''),
    );
    await expectGone();
  });

  it('is in no memory of who asked, and in no file but the channel’s', async () => {
    await decide();
    await eventually(async () => {
      const files = await filesSaying('ninth of May');
      expect(files.filter((file) => !file.includes('/notes/'))).toEqual([]);
    });
  });
});

it('is removed by who may delete messages there, and by nobody else but its author', async () => {
  const { id } = await note('bob', saidByBob);
  expect(await command(stage, '!memory', 'carol', '#dev', `channel remove ${id}`)).toContain(
    'Only its author',
  );
  const answer = await command(stage, '!memory', 'alice', '#dev', `channel remove ${id}`);
  expect(answer).toContain('Removed for good');
  expect(await command(stage, '!memory', 'carol', '#dev', 'channel')).toContain('0 notes');
  await eventually(async () => expect(await filesSaying('ninth of May')).toEqual([]));
});

it('stays among those who can read its channel', async () => {
  await note('alice', saidByAlice, '#secret');
  expect(await notesFor('alice', '#secret')).toContain(saidByAlice);
  expect(await notesFor('alice', '@alice')).toContain(saidByAlice);
  expect(await notesFor('alice', '#general')).toBe('');
  expect(await notesFor('bob', '@bob')).toContain(saidByAlice);
  expect(await notesFor('carol', '@carol')).toBe('');
});

it('says once in each channel that it is on, and nothing where it is off', async () => {
  const said = await stage.sandbox.say({ as: 'carol', in: '#dev', text: 'hello there' });
  await withFooter(stage, await stage.answerTo(said), 'Channel memory is on here');
  await settings('channel-memory off', '#general');
  expect((await stage.ask('bob', '#general', `!memory note ${saidByBob}`)).text).toContain('off here');
});

/** The model takes each line of the talk as a note, and claims it for everybody in it. */
function noteEverything(): void {
  answers.notes = (body) => {
    const lines = [...JSON.stringify(body.messages).matchAll(/\[(\d+)\] \w+: (.*?)\\n/gu)];
    const notes = lines.flatMap(([, messageId]) => lines.map(([, , quote]) => ({ quote, messageId })));
    return { json: { notes } };
  };
}

async function say(as: string, text: string, place = '#dev'): Promise<void> {
  await stage.sandbox.say({ as, in: place, text });
}

describe('talk that is not for the bot', () => {
  beforeEach(async () => {
    await settings('answer mentions', '#dev');
  });

  it('becomes a note of who said it, and of nobody else; not what was said before it was switched on, nor in a pause', async () => {
    await settings('channel-memory off server');
    await say('bob', 'before that the walrus was a penguin');
    await command(stage, '!memory', 'alice', '@alice', 'pause');
    await command(stage, '!memory', 'carol', '@carol', 'mode off');
    await settings('channel-memory on server');
    noteEverything();
    await say('alice', 'alice wants the walrus in blue');
    await say('carol', 'carol wants the walrus in green');
    await say('bob', saidByBob);
    await eventually(async () =>
      expect(await command(stage, '!memory', 'bob', '#dev', 'channel')).toContain(saidByBob),
    );
    const listed = await command(stage, '!memory', 'carol', '#dev', 'channel');
    expect(listed).toContain('1 note:');
    const read = callsOf(stage, 'notes').map(toldIn).join('');
    expect(read).toContain(saidByBob);
    for (const other of ['penguin', 'blue', 'green']) expect(read).not.toContain(other);
    expect(await notesFor('carol', '@carol')).toContain(`bob in #dev: "${saidByBob}"`);
  });

  it('leaves out secrets, and what nobody said', async () => {
    answers.notes = (body) => {
      const [, messageId] = /\[(\d+)\] bob/u.exec(JSON.stringify(body.messages)) ?? [];
      const quotes = ['the walrus password is hunter2horse', 'the walrus was cancelled by bob', saidByBob];
      return { json: { notes: quotes.map((quote) => ({ quote, messageId })) } };
    };
    await say('bob', `the walrus password is hunter2horse. ${saidByBob}`);
    await eventually(async () =>
      expect(await command(stage, '!memory', 'bob', '#dev', 'channel')).toContain(saidByBob),
    );
    expect(await command(stage, '!memory', 'bob', '#dev', 'channel')).toContain('1 note:');
    expect(await filesSaying('hunter2horse')).toEqual([]);
  });

  it('is removed once an edit says something else', async () => {
    noteEverything();
    const said = await stage.sandbox.say({ as: 'bob', in: '#dev', text: saidByBob });
    await eventually(async () =>
      expect(await command(stage, '!memory', 'bob', '#dev', 'channel')).toContain(saidByBob),
    );
    await stage.sandbox.edit({ message: said.id, text: `${saidByBob}, I think` });
    expect(await notesFor('carol', '@carol')).toContain(saidByBob);
    await stage.sandbox.edit({ message: said.id, text: 'the walrus is cancelled' });
    await eventually(async () => expect(await notesFor('carol', '@carol')).toBe(''));
    await eventually(async () => expect(await filesSaying('ninth of May')).toEqual([]));
  });
});
