import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';

import { StoreError } from '../../../src/core/errors.ts';
import type { SessionKey } from '../../../src/core/place.ts';
import type { Store } from '../../../src/core/store.ts';
import { type TurnContext, ownMark } from '../../../src/core/turn-context.ts';
import { logKey } from '../../../src/memory/log/session-state.ts';
import { aliceId, bobId, generalId, publicPlace } from '../../support/incoming.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import {
  dmPlace,
  messageId,
  openSessions,
  secretPlace,
  session,
  startTime,
  type Sessions,
} from '../../support/sessions.ts';

async function texts({ log }: Pick<Sessions, 'log'>, of: SessionKey = session): Promise<string[]> {
  return (await log.turnsAfter(of, 0)).map(({ message }) => message.text);
}

function idOf({ messages }: TurnContext): string {
  return messages[0]?.id ?? '';
}

/** The log as it lies on disk. */
async function rawLog(store: Store): Promise<string> {
  const lines: string[] = [];
  for await (const { record } of store.scan(logKey(session), z.unknown())) lines.push(JSON.stringify(record));
  return lines.join('\n');
}

/** A store that fails, when told so, as a log is rewritten: a kill right before it would leave things like that. */
class RefusingStore extends MemoryStore {
  refusesRewrites = false;
  override rewrite: MemoryStore['rewrite'] = (...parameters) =>
    this.refusesRewrites ? Promise.reject(new StoreError('disk full', 'log')) : super.rewrite(...parameters);
}

describe('the message log [W3]', () => {
  it('logs a turn once when it is run again after a crash', async () => {
    const first = openSessions();
    const context = await first.say('I like tea');
    const again = openSessions(first.store);
    await again.log.recordUser(context);
    for (const { log } of [first, again])
      await log.recordReply(context, { ids: [messageId(50)], text: 'Noted', at: context.now.toISOString() });
    expect(await texts(again)).toEqual(['I like tea', 'Noted']);
  });

  it('knows what the bot said directly before a message, or what that replies to, if its readers know that and it is made without others’ text [D1a]', async () => {
    const { log, say, answer, turnWithOthers, turn } = openSessions();
    const [question = ''] = await answer(await say('hello'), 'Where do you live?');
    const porto = await say('Porto');
    expect(await log.answerBefore(session, idOf(porto))).toBe('Where do you live?');
    expect(await log.answerBefore(session, idOf(await say('since May')))).toBeUndefined();
    await turnWithOthers('what does Bob say?', 'That he lives in Rome. And you?');
    const rome = await say('in Rome too');
    expect(await log.answerBefore(session, idOf(rome))).toBeUndefined();
    expect(await log.answerBefore(session, idOf(rome), question)).toBe('Where do you live?');
    expect(await log.answerBefore(session, idOf(rome), messageId(999))).toBeUndefined();
    await turn('quietly', 'Who is your doctor?', secretPlace);
    expect(await log.answerBefore(session, idOf(await say('Dr Who', publicPlace)))).toBeUndefined();
  });

  it('knows which message has no reply in it, be that lost, and no other [G3]', async () => {
    const { say, log } = openSessions();
    const first = await say('I like tea');
    const second = await say('and you?');
    const ids = [...first.messages, ...second.messages].map(({ id }) => id);
    const unanswered = async () => {
      const found = [];
      for (const id of [...ids, messageId(77)]) if (await log.isUnanswered(session, id)) found.push(id);
      return found;
    };
    expect(await unanswered()).toEqual(ids);
    await log.recordReply(first, { ids: [messageId(50)], text: 'Noted', at: first.now.toISOString() });
    expect(await unanswered()).toEqual(ids.slice(1));
  });

  it('says who answered what, and where each may be used [V1]', async () => {
    const sessions = openSessions();
    const [asked, answered] = await sessions.turn('in public');
    await sessions.turn('in private', 'ok', secretPlace);
    await sessions.turn('in a DM', 'ok', dmPlace);
    const [question, reply, secret] = await sessions.log.turnsAfter(session, 0);
    const [direct] = await sessions.log.turnsAfter({ ...session, channelId: dmPlace.channelId }, 0);
    expect(question?.message).toMatchObject({ role: 'user', authorId: aliceId, author: 'Alice' });
    expect(reply?.message).toMatchObject({ id: answered, author: 'Discoclaw', replyTo: [asked] });
    expect([question, reply, secret, direct].map((entry) => entry?.message.visibility)).toEqual([
      'server',
      'server',
      'here',
      'dm',
    ]);
    expect(direct?.message).not.toHaveProperty('guildId');
    expect(direct?.message.channelName).toBeUndefined();
  });

  it('finds what a kill left of an earlier edit, where all that is held is meant [K11]', async () => {
    const store = new MemoryStore();
    const { log, turn } = openSessions(store);
    const [id = ''] = await turn('I like tea');
    for (const text of ['I like quokkas', 'I like coffee']) {
      const cause = { kind: 'edited', channelId: generalId, messageId: id, text } as const;
      const messages = await log.affected(session, cause);
      // A kill comes before the former text has left.
      const refusing = vi.spyOn(store, 'rewrite').mockRejectedValue(new StoreError('full', 'log'));
      await expect(log.delete({ kind: 'messages', session, messages, cause })).rejects.toThrow('full');
      refusing.mockRestore();
    }
    const found = (areHeld: boolean) => log.mentions(aliceId, 'quokkas', () => true, areHeld);
    expect(await found(false)).toEqual([]);
    expect(await found(true)).toEqual([{ channelId: generalId, messageIds: [id] }]);
  });
});

describe('an answer', () => {
  it('is not logged where its question is not: no deletion could reach it [G5]', async () => {
    const { log } = openSessions();
    const turn = {
      speaker: { id: aliceId, name: 'alice', isOwner: false },
      place: publicPlace,
      now: new Date(startTime),
      hasThirdPartyText: false,
    };
    const asked = { id: messageId(1), text: 'hi', at: new Date(startTime).toISOString(), attachments: [] };
    const reply = { ids: [messageId(2)], text: 'Hi.', at: asked.at };
    await log.recordReply({ ...turn, messages: [asked], work: { userId: aliceId } }, reply);
    expect((await log.since(session, 0)).messages).toEqual([]);
  });
});

describe('an answer in a channel that was closed while it was made', () => {
  it('is for those who can read it now, since it may repeat what was said there since [V1]', async () => {
    const { say, answer, places, log } = openSessions();
    const context = await say('what is new?');
    places.set(generalId, secretPlace);
    await answer(context, 'Carol is leaving.');
    const { messages } = await log.since(session, 0);
    expect(messages.map(({ message }) => message.visibility)).toEqual(['server', 'here']);
  });
});

describe('an edited message [G5]', () => {
  it('takes an answer along that repeats what was taken out, and no other', async () => {
    const sessions = openSessions();
    const [pin = ''] = await sessions.turn('my bus is 1111', 'So it is 1111, your bus.');
    const [bees = ''] = await sessions.turn('I kep bees', 'Bees are fine.');
    await sessions.log.edit(generalId, pin, 'my bus is a secret');
    await sessions.log.edit(generalId, bees, 'I keep bees');
    expect(await texts(sessions)).toEqual(['my bus is a secret', 'I keep bees', 'Bees are fine.']);
    expect(await rawLog(sessions.store)).not.toContain('1111');
  });

  it('has no answer logged that repeats what was taken out while it was given', async () => {
    const sessions = openSessions();
    const context = await sessions.say('my bus is 1111');
    await sessions.log.edit(generalId, context.messages[0]?.id ?? '', 'my bus is a secret');
    await sessions.log.recordReply(context, { ids: [messageId(50)], text: 'So it is 1111.', at: '' });
    expect(await texts(sessions)).toEqual(['my bus is a secret']);
  });

  it('is looked for in the session of its author alone, where Discord tells who that is', async () => {
    const sessions = openSessions();
    const [id = ''] = await sessions.turn('tea');
    expect(await sessions.log.edit(generalId, id, 'coffee', bobId)).toEqual([]);
    expect(await sessions.log.edit(generalId, id, 'coffee', aliceId)).toHaveLength(1);
  });

  it('affects nothing when its text is the same, as when Discord adds a preview', async () => {
    const sessions = openSessions();
    const [id = ''] = await sessions.turn('see https://example.org');
    const before = await sessions.log.lastSequence(session);
    expect(await sessions.log.edit(generalId, id, 'see https://example.org')).toEqual([]);
    expect(await sessions.log.lastSequence(session)).toBe(before);
  });

  it('is not affected by the bot streaming its own reply', async () => {
    const sessions = openSessions();
    const [, reply = ''] = await sessions.turn('hello', 'Hi there');
    expect(await sessions.log.edit(generalId, reply, 'Hi')).toEqual([]);
    expect(await texts(sessions)).toEqual(['hello', 'Hi there']);
  });
});

describe('a deleted message [G5]', () => {
  it('is not logged again by a turn that is run again', async () => {
    const first = openSessions();
    const context = await first.say('secret');
    await first.log.remove(generalId, [context.messages[0]?.id ?? '']);
    await openSessions(first.store).log.recordUser(context);
    expect(await texts(first)).toEqual([]);
  });

  it('takes a whole reply with it when one of its parts is deleted', async () => {
    const sessions = openSessions();
    const context = await sessions.say('tell me');
    const ids = await sessions.answer(context, 'a long story', 3);
    const affected = await sessions.log.remove(generalId, ids.slice(1, 2));
    expect(affected).toMatchObject([{ messages: [{ message: { role: 'assistant', ids } }] }]);
    expect(await rawLog(sessions.store)).not.toContain('story');
  });

  it('is never logged when its deletion overtakes the turn', async () => {
    const sessions = openSessions();
    const context = sessions.contextOf(['secret', 'tea please']);
    await sessions.log.remove(generalId, [context.messages[0]?.id ?? '']);
    await sessions.log.edit(generalId, context.messages[1]?.id ?? '', 'coffee please');
    await sessions.log.recordUser(context);
    expect(await texts(sessions)).toEqual(['coffee please']);
    expect(await rawLog(sessions.store)).not.toMatch(/secret|tea/);
  });

  it('keeps an edit for the other layers, which may have read the message, when its turn runs again', async () => {
    const sessions = openSessions();
    const context = await sessions.say('I keep bees');
    const [{ id } = { id: '' }] = context.messages;
    const edit = { kind: 'edited', channelId: generalId, messageId: id, text: 'I keep axolotls' } as const;
    sessions.recent.note(edit);
    await sessions.log.recordUser(context);
    expect(await sessions.log.affected(session, edit)).toHaveLength(1);
  });

  it('is for its person alone where it was edited, and the door has turned, before it is logged; so is the answer [V1]', async () => {
    const sessions = openSessions();
    const context = sessions.contextOf(['I keep bees']);
    sessions.places.set(generalId, secretPlace);
    const edit = { kind: 'edited', channelId: generalId, messageId: idOf(context), text: 'newts' } as const;
    sessions.recent.note(edit);
    await sessions.log.recordUser(context);
    await sessions.log.recordReply(context, { ids: [messageId(50)], text: 'Newts are fine.', at: '' });
    const { messages } = await sessions.log.since(session, 0);
    expect(messages.map(({ message }) => message.visibility)).toEqual(['dm', 'dm']);
  });

  it('never stays when it is deleted while it is being logged', async () => {
    const sessions = openSessions();
    const context = sessions.contextOf(['secret']);
    const [id = ''] = context.messages.map((message) => message.id);
    await Promise.all([sessions.log.recordUser(context), sessions.log.remove(generalId, [id])]);
    expect(await texts(sessions)).toEqual([]);
    expect(await rawLog(sessions.store)).not.toContain('secret');
  });

  it('is not on disk any more once a killed program runs again, with earlier edits', async () => {
    const store = new RefusingStore();
    const sessions = openSessions(store);
    const [id = ''] = await sessions.turn('my bus is 1111', 'ok');
    await sessions.log.edit(generalId, id, 'my bus is 2222');
    store.refusesRewrites = true;
    const change = { kind: 'edited', channelId: generalId, messageId: id, text: 'no' } as const;
    await sessions.ledgerOver([]).record(change);
    expect(await rawLog(store)).toContain('2222');
    store.refusesRewrites = false;
    const again = openSessions(store);
    await again.ledgerOver([]).finish();
    expect(await rawLog(store)).not.toMatch(/1111|2222/);
    expect(await texts(again)).toEqual(['no', 'ok']);
  });

  it('takes the answer to it along, in which its words may stand, and no other answer', async () => {
    const sessions = openSessions();
    await sessions.turn('I keep bees', 'Bees are fine.');
    const [id = ''] = await sessions.turn('I owe money', 'How much money?');
    const affected = await sessions.log.remove(generalId, [id]);
    expect(affected).toMatchObject([{ messages: [{ message: { id } }, { message: { role: 'assistant' } }] }]);
    expect(await texts(sessions)).toEqual(['I keep bees', 'Bees are fine.']);
    expect(await rawLog(sessions.store)).not.toContain('money');
  });

  it('has no answer logged that is given to it after its deletion, even after a restart', async () => {
    const sessions = openSessions();
    const context = sessions.contextOf(['I owe money', 'I keep bees']);
    await sessions.log.recordUser(context);
    await sessions.log.remove(generalId, [context.messages[0]?.id ?? '']);
    for (const { log } of [sessions, openSessions(sessions.store)])
      await log.recordReply(context, { ids: [messageId(50)], text: 'Money and bees.', at: '' });
    expect(await texts(sessions)).toEqual(['I keep bees']);
  });
});

describe('the session’s state', () => {
  it('gives a layer that is switched on its cursor right before the turn, and takes it when it is off', async () => {
    const { store, turn, states } = openSessions(undefined, { activeFolds: [] });
    await turn('before extraction was on');
    expect(await states.read(session)).not.toHaveProperty('extraction');
    const on = openSessions(store, { activeFolds: ['extraction'] });
    const messages = [{ id: messageId(90), text: 'while it is on', at: '', attachments: [] }];
    const context = { ...on.contextOf([]), messages };
    for (let time = 0; time < 2; time += 1) await on.log.recordUser(context);
    expect(await states.read(session)).toMatchObject({ extraction: { cursor: 2 } });
    // A kill came before the state was stored.
    await states.update(session, ({ version }) => ({ version }));
    await on.log.recordUser(context);
    expect(await states.read(session)).toMatchObject({ extraction: { cursor: 2 } });
    await turn('while it is off');
    expect(await states.read(session)).not.toHaveProperty('extraction');
  });

  it('holds nothing of another bot, not even that it was there', async () => {
    const { store, log, contextOf } = openSessions();
    const context = contextOf(['beep']);
    const ofBot = { ...context, speaker: { ...context.speaker, isBot: true as const } };
    await log.recordUser(ofBot);
    await log.recordReply(ofBot, { ids: [messageId(90)], text: 'boop', at: context.now.toISOString() });
    expect(await store.list('sessions')).toEqual([]);
  });

  it('finds a deleted reply however much was said since, though a message logged after it is older', async () => {
    for (const since of [61, 62, 63, 64, 65, 66]) {
      const { log, say, answer, contextOf } = openSessions();
      const asked = await say('first');
      const waiting = contextOf(['written while the bot answered']);
      const [replyId = ''] = await answer(asked, 'a secret');
      await log.recordUser(waiting);
      for (let count = 1; count < since; count += 1) await say(`filler ${count}`);
      expect(await log.remove(generalId, [replyId]), `${since} lines later`).toHaveLength(1);
    }
  });
});

describe('an answer that was made with others’ words in view [M5a]', () => {
  it('is known by any of its ids, also after a restart', async () => {
    const sessions = openSessions();
    const marked = await sessions.say('what did she say?');
    const ids = await sessions.answer(marked, 'Mallory said so', 2, ownMark);
    const [, clean = ''] = await sessions.turn('and now?');
    const said = marked.messages[0]?.id ?? '';
    const asked = [...ids, clean, said, messageId(999)];
    for (const { log } of [sessions, openSessions(sessions.store)])
      expect([...(await log.marksOf(session, asked))]).toEqual([
        [said, undefined],
        ...ids.map((id) => [id, ids[0]]),
        [clean, undefined],
      ]);
    expect((await sessions.log.marksOf(session, [])).size).toBe(0);
  });

  it('has the mark of the answer that it was made with, where only that was in view', async () => {
    const sessions = openSessions();
    const ids = await sessions.answer(await sessions.say('and what else?'), 'this', 1, messageId(998));
    expect([...(await sessions.log.marksOf(session, ids))]).toEqual([[ids[0], messageId(998)]]);
  });
});
