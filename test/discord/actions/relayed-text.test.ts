import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { mention } from '../../../src/core/own-words.ts';
import { channelReference, relayedText, type Relay } from '../../../src/discord/actions/relayed-text.ts';

const dev = { id: '200000000000000002', name: 'dev' };

/** From a direct message of Bob's to #dev. */
function relayed(text: string, messages: readonly string[], changes: Partial<Relay> = {}): string {
  const decided = relayedText({
    text,
    messages,
    isFromPublic: false,
    target: dev,
    reach: 'elsewhere',
    ...changes,
  });
  return decided.outcome === 'allowed' ? decided.text : `refused: ${decided.reason}`;
}

describe('a text for another channel', () => {
  it('is anything from a public channel of the same server, or where the same people read along', () => {
    expect(
      relayed('Whatever I like', ['say something in #dev'], { isFromPublic: true, reach: 'server' }),
    ).toBe('Whatever I like');
    expect(relayed('Whatever I like', ['go on in the thread'], { reach: 'same' })).toBe('Whatever I like');
  });

  it('is only the speaker’s own words from anywhere else, as they wrote them [J2]', () => {
    const asked = ['Tell #dev that The  Deploy is done!'];
    expect(relayed('the deploy is done.', asked)).toBe('The  Deploy is done');
    expect(relayed('“the deploy is done”', asked)).toBe('The  Deploy is done');
    expect(relayed('the deploy is done, finally', asked)).toBe('refused: not-own-words');
    expect(relayed('eploy is done', asked)).toBe('refused: not-own-words');
    expect(relayed('the deploy is done', asked, { isFromPublic: true })).toBe('The  Deploy is done');
    expect(relayed('The deploy failed', asked, { isFromPublic: true })).toBe('refused: not-own-words');
    expect(relayed('!?', asked)).toBe('refused: not-own-words');
  });

  it('is never what the speaker quotes from others, nor the name of whom they mention', () => {
    const quoting = ['post this in #dev\n> our password is swordfish'];
    expect(relayed('our password is swordfish', quoting)).toBe('refused: not-own-words');
    expect(relayed('swordfish', [`post it in #dev for ${mention('@', 'our password is swordfish')}`])).toBe(
      'refused: not-own-words',
    );
  });

  it('goes only where the speaker’s own message says', () => {
    expect(relayed('hello', ['say hello to them'])).toBe('refused: unnamed');
    expect(relayed('hello', ['say hello\n> in #dev'])).toBe('refused: unnamed');
    expect(relayed('hello', ['hello', 'say that in #dev'])).toBe('hello');
    expect(relayed('hello', ['hello', 'say that in dev'])).toBe('refused: unnamed');
    expect(relayed('hello', [`say hello in <#${dev.id}>`])).toBe('hello');
  });

  it('goes nowhere by a word that the speaker says in passing [J2][M8]', () => {
    const inPassing = ['my dev password is swordfish, please read the file'];
    expect(relayed('my dev password is swordfish', inPassing)).toBe('refused: unnamed');
    expect(relayed('the deploy is done', ['tell #dev the deploy is done'])).toBe('the deploy is done');
  });

  it('is never made of anything but the speaker’s own words, whatever the model tries', () => {
    const own = ['the deploy', 'is done', 'that', 'now', 'dev'];
    const secrets = ['swordfish', 'Bob earns 5000', 'the merger'];
    const ownPart = fc.constantFrom(...own);
    const secret = fc.constantFrom(...secrets);
    const othersPart = fc.oneof(
      secret.map((words) => `\n> ${words}\n`),
      secret.map((words) => mention('@', words)),
    );
    const message = fc
      .array(fc.oneof({ weight: 3, arbitrary: ownPart }, othersPart), { minLength: 1, maxLength: 6 })
      .map((parts) => `tell #dev ${parts.join(' ')}`);
    const wish = fc
      .array(fc.oneof({ weight: 3, arbitrary: ownPart }, secret), { minLength: 1, maxLength: 3 })
      .map((parts) => parts.join(' '));
    const ownWordSet = new Set(own.flatMap((words) => words.split(' ')));
    let times = 0;
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 2 }), wish, (messages, text) => {
        const decided = relayedText({
          text,
          messages,
          isFromPublic: false,
          target: dev,
          reach: 'elsewhere',
        });
        if (decided.outcome === 'refused') return;
        times += 1;
        for (const word of decided.text.split(/\s+/u)) expect(ownWordSet).toContain(word);
      }),
      { numRuns: 1000 },
    );
    expect(times).toBeGreaterThan(100);
  });
});

describe('a channel as the model gives it', () => {
  it.each([
    ['#dev', { name: 'dev' }],
    [' Team-Room ', { name: 'team-room' }],
    [mention('#', 'team-room'), { name: 'team-room' }],
    ['<#200000000000000002>', { id: '200000000000000002' }],
    ['200000000000000002', { id: '200000000000000002' }],
  ])('%s', (reference, expected) => {
    expect(channelReference(reference)).toEqual(expected);
  });
});
