import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  hasSecret,
  maskNewSecrets,
  maskSecrets,
  secretMark,
  secretSpans,
  secretValues,
} from '../../src/core/secrets.ts';
import { runs } from '../support/runs.ts';

const chars = (length: number, from = 'aB3xY7kQ9mZ2'): string => from.repeat(length).slice(0, length);

/** By kind: what is said, and the secret in it. Tokens are put together, so that no scanner of sources takes them for real ones. */
const secrets: Readonly<Record<string, readonly (readonly [said: string, secret: string])[]>> = {
  'a password': [
    ['My password is rosebud and I live in Porto', 'rosebud'],
    ['password for the cabin wifi: casa123', 'casa123'],
    ['{"user": "bob", "password": "s3cr3t!"}', 's3cr3t!'],
    ['hunter2 is my Netflix password', 'hunter2'],
    ['I changed my password to Tr0ub4dor&3, finally', 'Tr0ub4dor&3'],
  ],
  'a password in another language': [
    ['Mein Passwort lautet Sonnenblume.', 'Sonnenblume'],
    ['mon mot de passe est tournesol', 'tournesol'],
    ['mi contraseña es girasol99', 'girasol99'],
    ['Мой пароль: ромашка', 'ромашка'],
    ['パスワードは犬', '犬'],
  ],
  'a password in Chinese, Korean and more': [
    ['密码是rosebud123', 'rosebud123'],
    ['密码：玫瑰', '玫瑰'],
    ['비밀번호는 rosebud1', 'rosebud1'],
    ['Kennwort: "Sesam öffne dich"', 'Sesam öffne dich'],
    ['ромашка42 — мой пароль', 'ромашка42'],
  ],
  'a PIN': [
    ['The PIN is 4711', '4711'],
    ['PIN: 0815', '0815'],
    ['meine Geheimzahl ist 2580', '2580'],
    ['пин-код 1234', '1234'],
    ['暗証番号は1234です', '1234'],
  ],
  'a one-time code': [
    ['Your code is 493822', '493822'],
    ['G-482913 is your Google verification code', 'G-482913'],
    ['2FA code 123 456', '123 456'],
    ['код подтверждения: 905613', '905613'],
    ['验证码123456', '123456'],
  ],
  'a recovery phrase or code': [
    [
      'seed phrase: ripple scissors kick mammal hire column oak again sun offer wealth tomorrow',
      'ripple scissors kick mammal hire column oak again sun offer wealth tomorrow',
    ],
    ['my passphrase is correct horse battery staple', 'correct horse battery staple'],
    ['my recovery code is ABCD-1234-EFGH', 'ABCD-1234-EFGH'],
    ['Bestätigungscode: 771204', '771204'],
    ['the door code is 4711', '4711'],
  ],
  'a card number': [
    ['Card 4111 1111 1111 1111, exp 12/27', '4111 1111 1111 1111'],
    ['5555555555554444', '5555555555554444'],
    ['amex 3782-822463-10005', '3782-822463-10005'],
    ['use 6011111111111117 for it', '6011111111111117'],
    ['CVV 123', '123'],
  ],
  'a bank number': [
    ['IBAN of mine: DE89 3704 0044 0532 0130 00', 'DE89 3704 0044 0532 0130 00'],
    ['GB29NWBK60161331926819 is where it goes', 'GB29NWBK60161331926819'],
    ['pay to FR14 2004 1010 0505 0001 3M02 606 PLEASE', 'FR14 2004 1010 0505 0001 3M02 606'],
    ['account number 12345678', '12345678'],
    ['Kontonummer: 1234567890', '1234567890'],
  ],
  'a key of a model or cloud': [
    [`key sk-ant-api03-${chars(40)}`, `sk-ant-api03-${chars(40)}`],
    [`sk-proj-${chars(48)}`, `sk-proj-${chars(48)}`],
    [`AKIA${chars(16, 'QZ7X2WB4')}`, `AKIA${chars(16, 'QZ7X2WB4')}`],
    [`AIza${chars(35)}`, `AIza${chars(35)}`],
    [`my api key is ${chars(24, 'abc12345')}`, chars(24, 'abc12345')],
  ],
  'a token of a service': [
    [`Uses ghp_${chars(36)}`, `ghp_${chars(36)}`],
    [`glpat-${chars(20)}`, `glpat-${chars(20)}`],
    [`xoxb-123456789012-${chars(24)}`, `xoxb-123456789012-${chars(24)}`],
    [`sk_live_${chars(24)}`, `sk_live_${chars(24)}`],
    [`npm_${chars(36)}`, `npm_${chars(36)}`],
  ],
  'a token of a session or bot': [
    [
      `Authorization: Bearer eyJ${chars(20)}.eyJ${chars(30)}.${chars(30)}`,
      `eyJ${chars(20)}.eyJ${chars(30)}.${chars(30)}`,
    ],
    [`bot: M${chars(23)}.${chars(6)}.${chars(30)}`, `M${chars(23)}.${chars(6)}.${chars(30)}`],
    [`123456789:AA${chars(33)}`, `AA${chars(33)}`],
    [`https://discord.com/api/webhooks/123456789012345678/${chars(60)}`, chars(60)],
    ['Signs in with AbCdEf123456GhIjKl', 'AbCdEf123456GhIjKl'],
  ],
  'a private key or credentials in an address': [
    [`-----BEGIN RSA PRIVATE KEY-----\n${chars(60)}\n-----END RSA PRIVATE KEY-----`, chars(60)],
    [`-----BEGIN OPENSSH PRIVATE KEY-----\n${chars(60)}`, chars(60)],
    ['postgres://bob:hunter2@db.example.com/x', 'hunter2'],
    ['client_secret=8f14e45fceea167a5a36dedd4bea2543', '8f14e45fceea167a5a36dedd4bea2543'],
    ['Authorization: Basic dXNlcjpwYXNzd29yZA==', 'dXNlcjpwYXNzd29yZA=='],
  ],
};

const lookAlikes = [
  'I forgot my password', 'I need a new API key', 'My password is too short', 'my password is wrong', 'Password: must contain 8 characters',
  'What is my password?', 'The password expires in 90 days', 'He said "password is required"', 'my password is 8 characters long', '1Password is my password manager',
  'ich habe mein Passwort vergessen', 'mein Passwort ist falsch', 'mon mot de passe est incorrect', 'mi contraseña es demasiado corta', 'я забыл пароль',
  'мой пароль слишком длинный', 'パスワードを忘れました', 'パスワードは何ですか', '密码是什么', '密码是多少',
  'error code 50013', 'status code: 5003', 'zip code 90210', 'promo code: 2024', 'the code is on GitHub',
  'the code is 42', 'please pin 2024 goals', 'the PIN is wrong', 'the token economy of a pin board', 'the token limit is 200000',
  'Order number 4111 1111 1111 1112', 'order 2024-118-7731', 'order no. 1234567890123456', 'tracking 1Z999AA10123456784', 'Room 4711',
  'commit d670460b4b4aece5915caf5c68d12f560a9fe3e4', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=', 'md5 d41d8cd98f00b204e9800998ecf8427e', '550e8400-e29b-41d4-a716-446655440000',
  '+49 170 1234567', 'call 0170 1234567', '(555) 010-9999', 'ISBN 978-3-16-148410-0', 'ISBN 9783161484100',
  'Born on 1990-05-17', '2026-11-23T08:15:30.123Z', 'costs 1,299.99 EUR', 'message 1234567890123456789', '192.168.178.1:8080',
  'Donaudampfschifffahrtsgesellschaftskapitän', 'createKeyedQueueForEverything2024Version3', 'https://example.com/AbCdEf123456GhIjKl', 'https://youtu.be/dQw4w9WgXcQ?t=42', 'v20.11.1-beta.3+build.456',
  'the key is patience', 'la clave es la paciencia', 'The secret ingredient is cinnamon', 'DE89 3704 0044 0532 0130 01', 'claude-3-5-sonnet-20241022',
]; // prettier-ignore

describe.each(Object.entries(secrets))('%s', (_kind, examples) => {
  it.each(examples)('masks %j, and nothing else around it [K14]', (said, secret) => {
    const masked = maskSecrets(said);
    expect(masked).not.toContain(secret);
    expect(masked).toContain(secretMark);
    const values = secretSpans(said).map(({ start, end }) => said.slice(start, end));
    expect(values.some((value) => value.includes(secret) || secret.includes(value))).toBe(true);
  });
});

it('the table has 60 secrets of 12 kinds and 60 that look alike [K14]', () => {
  expect(Object.keys(secrets)).toHaveLength(12);
  expect(Object.values(secrets).flat()).toHaveLength(60);
  expect(new Set(lookAlikes).size).toBe(60);
});

it.each(lookAlikes)('%j is kept as it is [K14]', (text) => {
  expect(maskSecrets(text)).toBe(text);
  expect(hasSecret(text)).toBe(false);
});

it('only the secret goes, whatever stands around it', () => {
  expect(maskSecrets('My password is rosebud and I live in Porto')).toBe(
    `My password is ${secretMark} and I live in Porto`,
  );
});

it('a secret that shows only once another one beside it is masked is masked too [K14]', () => {
  expect(maskSecrets('My PW is correct horse battery staple sk-abc123def456ghi789jkl, fine')).toBe(
    `My PW is ${secretMark} ${secretMark}, fine`,
  );
});

it('a value that was given as a secret is masked where nothing tells that it is one', () => {
  const values = new Set(secretValues('my password is rosebud'));
  expect(maskSecrets('"rosebud" is weak; rosebuds are flowers', values)).toBe(
    `"${secretMark}" is weak; rosebuds are flowers`,
  );
});

it('what a person wrote into a file by hand stays, what is added is masked', () => {
  const kept = '- password: rosebud\n';
  expect(maskNewSecrets(`${kept}- PIN: 4711\n`, kept)).toBe(`${kept}- PIN: ${secretMark}\n`);
});

const pieces = fc.array(
  fc.oneof(
    fc.constantFrom(
      ...Object.values(secrets)
        .flat()
        .map(([said]) => said),
      ...lookAlikes,
    ),
    fc.constantFrom(
      'password',
      'is',
      ':',
      ' ',
      '=',
      'code',
      '"',
      '\n',
      '密码',
      'は',
      'my',
      secretMark,
      '||',
      ', ',
      '1234',
      'rosebud',
    ),
    fc.string({ unit: 'grapheme', maxLength: 20 }),
  ),
  { maxLength: 8 },
);

it('masking is done once: again, it changes nothing, and it touches nothing outside of the spans [K14]', () => {
  fc.assert(
    fc.property(pieces, fc.constantFrom('', ' ', '\n'), (parts, between) => {
      const text = parts.join(between);
      const masked = maskSecrets(text);
      expect(maskSecrets(masked)).toBe(masked);
      const spans = secretSpans(text);
      let rebuilt = '';
      let from = 0;
      for (const { start, end } of spans) {
        expect(start).toBeGreaterThanOrEqual(from);
        expect(end).toBeGreaterThan(start);
        rebuilt += text.slice(from, start) + secretMark;
        from = end;
      }
      expect(rebuilt + text.slice(from)).toBe(masked);
    }),
    { numRuns: runs(500) },
  );
});
