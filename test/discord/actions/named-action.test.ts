import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { mention } from '../../../src/core/own-words.ts';
import { isNamed, pointsToChannel, type WantedAction } from '../../../src/discord/actions/named-action.ts';

const dev = { id: '200000000000000002', name: 'dev' };
const teamRoom = { id: '200000000000000003', name: 'team-room' };
const messageId = '500000000000000009';

function target(is: 'current' | 'replied-to' | 'own-last' | 'last' | 'other') {
  return { target: { id: messageId, is } } as const;
}

const pin = { kind: 'pin', ...target('current') } as const;
const pinReplied = { kind: 'pin', ...target('replied-to') } as const;
const pinAnswer = { kind: 'pin', ...target('own-last') } as const;
const pinLast = { kind: 'pin', ...target('last') } as const;
const pinOther = { kind: 'pin', ...target('other') } as const;
const unpin = { kind: 'unpin', ...target('replied-to') } as const;
const react = { kind: 'react', emoji: '🎉', ...target('current') } as const;
const reactReplied = { kind: 'react', emoji: '❤️', ...target('replied-to') } as const;
const reactClaw = { kind: 'react', emoji: '<a:claw:300000000000000001>', ...target('replied-to') } as const;
const thread = { kind: 'start-thread' } as const;
const threadHere = { kind: 'start-thread', ...target('replied-to') } as const;
const send = { kind: 'send', channel: dev } as const;
const sendTeam = { kind: 'send', channel: teamRoom } as const;

function poll(question: string, ...answers: readonly string[]): WantedAction {
  return { kind: 'poll', question, answers };
}

describe('a message that names what is to be done [M8]', () => {
  it.each<[string, WantedAction]>([
    ['pin this', pin],
    ['Can you pin it, please?', pin],
    ['please pin my message', pin],
    ['pinne meine Nachricht an', pin],
    ['pin please', pinReplied],
    ['pin your answer', pinAnswer],
    ['Nice. Pin that!', pinAnswer],
    ['pin the last message', pinLast],
    [`pin https://discord.com/channels/1/2/${messageId}`, pinOther],
    [`please pin ${messageId}`, pinOther],
    ['unpin', unpin],
    ['react to this', react],
    ['🎉 for this one', react],
    ['❤', reactReplied],
    [':claw:', reactClaw],
    ['start a thread', thread],
    ['turn this into a thread', threadHere],
    ['poll: pizza or soup?', poll('Pizza or soup?', 'Pizza', 'Soup')],
    ['Make a poll: lunch, pizza or soup', poll('Lunch?', 'pizza', 'soup')],
    ['please start a vote about lunch with 👍 and 👎', poll('Lunch?', '👍', '👎')],
    ['tell #dev that the build is green', send],
    ['please post it in #dev', send],
    [`say hello in <#${dev.id}>`, send],
    [`let ${mention('#', 'team-room')} know`, sendTeam],
    // German
    ['Pinne das bitte an', pin],
    ['Kannst du die letzte Nachricht anpinnen?', pinLast],
    ['Pinne das wieder ab', unpin],
    ['Reagiere darauf mit 🎉: das hier', react],
    ['Mach einen Thread auf', thread],
    ['Erstelle eine Umfrage: Pizza oder Suppe', poll('Pizza oder Suppe?', 'Pizza', 'Suppe')],
    ['Schreib in #dev, dass es grün ist', send],
    // French
    ['Épingle ce message', pin],
    ['peux-tu épingler ça ?', pin],
    ['désépingle', unpin],
    ['Réagis à ça', react],
    ['Ouvre un fil', thread],
    ['Fais un sondage : pizza ou soupe', poll('pizza ou soupe ?', 'pizza', 'soupe')],
    ['Écris dans #dev que c’est prêt', send],
    // Spanish
    ['Fija esto', pin],
    ['fíjalo por favor', pin],
    ['desfija', unpin],
    ['Reacciona a esto', react],
    ['Abre un hilo', thread],
    ['Haz una encuesta: pizza o sopa', poll('¿pizza o sopa?', 'pizza', 'sopa')],
    ['Avisa a #dev', send],
    // Russian
    ['Закрепи это', pin],
    ['закрепи последнее сообщение', pinLast],
    ['открепи', unpin],
    ['Отреагируй на это', react],
    ['Создай ветку', thread],
    ['Сделай опрос: пицца или суп', poll('Пицца или суп?', 'Пицца', 'Суп')],
    ['Напиши в #dev, что всё готово', send],
  ])('%s', (message, action) => {
    expect(isNamed(action, ['hello', message])).toBe(true);
  });
});

describe('a message that does not name what is to be done [M8]', () => {
  it.each<[string, WantedAction]>([
    ['what does carol want?', pin],
    ['this is what I found', pin],
    ['pin', pin],
    ['pin this', pinLast],
    ['pin this', pinOther],
    ['please pin my message', pinAnswer],
    ['please pin my message', pinReplied],
    ['épingle mon message', pinAnswer],
    [`pin this: https://discord.com/channels/1/2/${messageId}0`, pinOther],
    ['pin the last message', pin],
    ['do not pin this', pin],
    ["don't pin this!", pin],
    ['why did you pin this?', pin],
    ['Should I pin this?', pin],
    ['my pin for this is 1234', pin],
    ['the pin code is here, look at this', pin],
    ['it was pinned, look at this', pin],
    ['> pin this\nwhat do you say?', pin],
    ['what does “pin this” mean', pin],
    ['she wrote "pin this" there', pin],
    ['the log says `pin this`', pin],
    [`${mention('@', 'pin this')} hello`, pin],
    [`see ${mention('#', 'pin this last')}`, pin],
    ['pin this', { ...unpin, ...target('current') }],
    ['unpin this', pin],
    ['Pinne das wieder ab', pin],
    ['Great work 🎉', react],
    ['❤', { ...reactReplied, emoji: '👍' }],
    ['> ❤\nthanks', reactReplied],
    ['what is this thread about?', thread],
    ['start reading this thread', thread],
    ['make a poll', poll('Free money?', 'yes', 'no')],
    ['make a poll: pizza or soup?', poll('Pizza or soup?', 'pizza', 'soup', 'free money')],
    ['make a poll: pizza or soup?', poll('Pizza or soup?', 'pizza', 'soup', '💩')],
    ['pizza or soup?', poll('Pizza or soup?', 'pizza', 'soup')],
    ['make a poll\n> pizza or soup', poll('Pizza or soup?', 'pizza', 'soup')],
    ['tell dev that the build is green', send],
    ['tell me what #dev is about', send],
    ['say what you think of #dev', send],
    ['I was in #dev. Please write a summary', send],
    ['what did they say in #dev?', send],
    ['do not tell #dev', send],
    ['tell #dev-ops about it', send],
    [`tell ${mention('@', '#dev')} about it`, send],
    [`tell ${mention('#', 'x #dev')} about it`, send],
    [`tell https://discord.com/channels/1/${dev.id}/3 about it`, send],
    ['tell #dev', sendTeam],
    ['Pinne das nicht an', pin],
    ['n’épingle pas ça', pin],
    ['Не закрепи это', pin],
    ['nunca fijar esto', pin],
  ])('%s', (message, action) => {
    expect(isNamed(action, [message])).toBe(false);
  });

  it('is any that holds the words in quotes, code or names alone, whatever stands around them', () => {
    const asking = fc.constantFrom(
      'pin this',
      'react to this 🎉',
      'start a thread',
      'tell #dev',
      'poll: yes or no',
    );
    const others = asking.chain((words) =>
      fc.constantFrom(
        `\n> ${words}\n`,
        `\n>>> ${words}`,
        `“${words}”`,
        `\`${words}\``,
        mention('@', words),
        mention('#', words),
      ),
    );
    const own = fc.constantFrom('look', 'she wrote', 'and then', 'thanks', 'funny');
    const actions: readonly WantedAction[] = [
      pin,
      pinAnswer,
      react,
      thread,
      send,
      poll('yes or no', 'yes', 'no'),
    ];
    fc.assert(
      fc.property(fc.array(fc.tuple(own, others), { minLength: 1, maxLength: 4 }), (parts) => {
        const message = parts.flat().join(' ');
        for (const action of actions) expect(isNamed(action, [message])).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a message', () => {
  it.each([
    ['post it in #dev', dev],
    ['post it in <#200000000000000002>', dev],
    ['post it in 200000000000000002', dev],
    [`post it in ${mention('#', 'team-room')}`, teamRoom],
    ['post it in #team-room.', teamRoom],
  ])('points to a channel: %s', (message, channel) => {
    expect(pointsToChannel(message, channel)).toBe(true);
  });

  it.each([
    'post it in dev',
    'the developers know',
    'use #dev-ops for it',
    'post it\n> in #dev',
    `tell ${mention('@', 'dev')}`,
    `tell ${mention('@', 'the #dev team')}`,
    `tell ${mention('#', 'the #dev thread')}`,
    'see https://discord.com/channels/1/200000000000000002/3',
  ])('points to no channel: %s', (message) => {
    expect(pointsToChannel(message, dev)).toBe(false);
  });
});
