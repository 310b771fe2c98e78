import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { mention } from '../../../src/core/own-words.ts';
import { carriedText, type Carriage } from '../../../src/discord/actions/carried-text.ts';

const target = { id: '200000000000000002', name: 'dev' };

/** From a direct message of Bob's to #dev. */
function carried(text: string, messages: readonly string[], changes: Partial<Carriage> = {}): string {
  const decided = carriedText({
    text,
    messages,
    isFromPublic: false,
    target,
    hasThirdPartyText: false,
    reach: 'elsewhere',
    ...changes,
  });
  return decided.outcome === 'carried' ? decided.text : `refused: ${decided.reason}`;
}

describe('a text for another channel', () => {
  it('is anything from a public channel of the same server, or where the same people read along', () => {
    expect(
      carried('Whatever I like', ['say something in #dev'], { isFromPublic: true, reach: 'server' }),
    ).toBe('Whatever I like');
    expect(carried('Whatever I like', ['go on in the thread'], { reach: 'same' })).toBe('Whatever I like');
  });

  it('is only the speaker’s own words from anywhere else, as they wrote them', () => {
    const asked = ['Tell #dev that The  Deploy is done!'];
    expect(carried('the deploy is done.', asked)).toBe('The  Deploy is done');
    expect(carried('“the deploy is done”', asked)).toBe('The  Deploy is done');
    expect(carried('the deploy is done, finally', asked)).toBe('refused: not-own-words');
    expect(carried('eploy is done', asked)).toBe('refused: not-own-words');
    expect(carried('the deploy is done', asked, { isFromPublic: true })).toBe('The  Deploy is done');
    expect(carried('The deploy failed', asked, { isFromPublic: true })).toBe('refused: not-own-words');
    expect(carried('!?', asked)).toBe('refused: not-own-words');
  });

  it('is never what the speaker quotes from others, nor the name of whom they mention', () => {
    const quoting = ['post this in #dev\n> our password is swordfish'];
    expect(carried('our password is swordfish', quoting)).toBe('refused: not-own-words');
    expect(carried('swordfish', [`post it in #dev for ${mention('@', 'our password is swordfish')}`])).toBe(
      'refused: not-own-words',
    );
  });

  it('goes only where the speaker’s own message says', () => {
    expect(carried('hello', ['say hello to them'])).toBe('refused: unnamed');
    expect(carried('hello', ['say hello\n> in #dev'])).toBe('refused: unnamed');
    expect(carried('hello', ['hello', 'say that in dev'])).toBe('hello');
    expect(carried('hello', [`say hello in <#${target.id}>`])).toBe('hello');
  });

  it('goes at no stranger’s wish where the speaker does not say, nor where they only seem to', () => {
    const others = { hasThirdPartyText: true };
    const inPublic = { ...others, isFromPublic: true, reach: 'server' } as const;
    expect(carried('free money', ['what do you think of this?'], inPublic)).toBe('refused: unnamed');
    expect(carried('Whatever I like', ['tell them in dev'], inPublic)).toBe('Whatever I like');
    const inPassing = ['my dev password is swordfish, please read the file'];
    expect(carried('my dev password is swordfish', inPassing, others)).toBe('refused: unnamed');
    expect(carried('the deploy is done', ['tell #dev the deploy is done'], others)).toBe(
      'the deploy is done',
    );
    expect(carried('go on', ['what do you think of this?'], { ...others, reach: 'same' })).toBe('go on');
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
        const decided = carriedText({
          text,
          messages,
          isFromPublic: false,
          target,
          hasThirdPartyText: false,
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
