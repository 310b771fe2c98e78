import { electronicFormatIBAN, isValidIBAN } from 'ibantools';
import creditCard from 'validator/lib/isCreditCard.js';

import { escapePattern } from './text.ts';
import { namedSecrets, type Span } from './named-secrets.ts';

/** Replaces a secret. It has no letters, so it reads the same in every language and no search finds it. */
export const secretMark = '▒▒▒';

/**
 * What looks like a secret [K14], in order, none touching another: tokens by gitleaks' rules, card numbers and
 * IBANs by check digits, long random words, and what people name a password, code, key or account number.
 */
export function secretSpans(text: string): readonly Span[] {
  let spans: readonly Span[] = [];
  for (let round = 0; round < maxRounds; round += 1) {
    const masked = masking(text, spans);
    const found = scan(masked).map(({ start, end }) => ({
      start: unmasked(start, spans),
      end: unmasked(end, spans),
    }));
    if (found.length === 0) return spans;
    // Masking one may reveal another beside it.
    spans = merged([...spans, ...found]);
  }
  return [{ start: 0, end: text.length }];
}

/** A text that reveals ever more is masked as a whole. */
const maxRounds = 3;

/** Masks secrets only. Idempotent. */
export function maskSecrets(text: string, known: ReadonlySet<string> = noValues): string {
  const masked = masking(text, secretSpans(text));
  if (known.size === 0) return masked;
  // A known secret counts even where nothing marks it.
  const spans = [...known].flatMap((value) => occurrences(masked, value));
  return spans.length === 0 ? masked : maskSecrets(masking(masked, merged(spans)));
}

export function hasSecret(text: string): boolean {
  return scan(text).length > 0;
}

/** The secrets that can be recognised anywhere. */
export function secretValues(text: string): readonly string[] {
  return secretSpans(text)
    .map(({ start, end }) => text.slice(start, end))
    .filter((value) => value.length >= shortestValue);
}

/** Masks secrets except those in `kept`: what people wrote into their own files stays. */
export function maskNewSecrets(text: string, kept: string): string {
  const isNew = ({ start, end }: Span): boolean => !kept.includes(text.slice(start, end));
  return masking(text, secretSpans(text).filter(isNew));
}

const noValues: ReadonlySet<string> = new Set();
/** Shorter ones occur in all kinds of words and numbers. */
const shortestValue = 4;

function scan(text: string): readonly Span[] {
  const isLong = /[\w.:/@+=-]{16}/u.test(text);
  const hasNumber = /\d{2}[ .\u00a0-]?\d{2}/u.test(text);
  return merged([
    ...(isLong ? [...pemKeys(text), ...tokens(text), ...randomWords(text)] : []),
    ...(text.includes('://') || isLong ? inAddress.flatMap((form) => matches(text, form)) : []),
    ...(hasNumber ? [...matches(text, cardNumber, isCard), ...ibans(text)] : []),
    ...namedSecrets(text),
  ]);
}

/** Names in style sheets may begin like keys, but keys have digits. */
function tokens(text: string): readonly Span[] {
  return matches(text, knownToken, ({ 0: word }) => !word.startsWith('sk-') || /\d/u.test(word));
}

function masking(text: string, spans: readonly Span[]): string {
  let masked = '';
  let from = 0;
  for (const { start, end } of spans) {
    masked += text.slice(from, start) + secretMark;
    from = end;
  }
  return masked + text.slice(from);
}

/** Maps an index of a masked text to the text itself. */
function unmasked(index: number, spans: readonly Span[]): number {
  let added = 0;
  for (const { start, end } of spans) {
    if (index + added <= start) break;
    added += end - start - secretMark.length;
  }
  return index + added;
}

function merged(spans: readonly Span[]): readonly Span[] {
  const apart: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    const last = apart.at(-1);
    if (last === undefined || last.end < span.start) apart.push(span);
    else apart[apart.length - 1] = { start: last.start, end: Math.max(last.end, span.end) };
  }
  return apart;
}

/** Matches, or their group `secret` where there is one. */
function matches(
  text: string,
  expression: RegExp,
  accept: (match: RegExpExecArray) => boolean = () => true,
): readonly Span[] {
  return [...text.matchAll(expression)].filter(accept).map(({ 0: whole, index, groups }) => {
    const secret = groups?.['secret'];
    const start = secret === undefined ? index : index + whole.lastIndexOf(secret);
    return { start, end: start + (secret ?? whole).length };
  });
}

/** A value as whole words, in any case and spacing. */
function occurrences(text: string, value: string): readonly Span[] {
  const literal = value
    .split(/\s+/u)
    .filter(Boolean)
    .map(escapePattern)
    .join(String.raw`\s+`);
  if (literal === '') return [];
  const before = isLetter(value[0]) ? String.raw`(?<![\p{L}\p{N}])` : '';
  const after = isLetter(value.at(-1)) ? String.raw`(?![\p{L}\p{N}])` : '';
  return [...text.matchAll(new RegExp(`${before}${literal}${after}`, 'giu'))].map(
    ({ 0: { length }, index }) => ({
      start: index,
      end: index + length,
    }),
  );
}

function isLetter(character = ''): boolean {
  return /[\p{L}\p{N}]/u.test(character);
}

/** By gitleaks' rules; and Discord's own. */
const knownToken = new RegExp(
  String.raw`(?<![\w-])(?:${[
    String.raw`sk-[\w-]{16,}`, // OpenAI, Anthropic, OpenRouter
    String.raw`gh[oprsu]_\w{20,}|github_pat_\w{20,}|gl(?:pat|rt|dt|ptt|cbt|ft|soat|imt|agent|oas)-[\w-]{16,}`,
    String.raw`xox[a-z]-[\w-]{10,}|xapp-\d-[\w-]{20,}`, // Slack
    String.raw`(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z\d])[A-Z\d]{16}(?!\w)`, // AWS
    String.raw`AIza[\w-]{30,}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}`, // Google
    String.raw`npm_\w{30,}|pypi-[\w-]{50,}|rubygems_[\da-f]{48}|dckr_pat_[\w-]{20,}`,
    String.raw`[rs]k_(?:live|test|prod)_\w{10,}|whsec_[\w+/=]{20,}|sq0(?:atp|csp)-[\w-]{22,}|shp(?:at|ca|pa|ss)_[\da-f]{32}`, // payment and shops
    String.raw`SG\.[\w-]{16,}\.[\w-]{16,}|SK[\da-f]{32}(?!\w)|key-[\da-f]{32}(?!\w)|[\da-f]{32}-us\d{1,2}(?!\w)|xkeysib-[\w-]{40,}`, // mail and SMS
    String.raw`hf_[A-Za-z]{30,}|gsk_\w{30,}|xai-\w{30,}|r8_\w{30,}|pplx-\w{30,}`, // models
    String.raw`do[oprt]_v1_[\da-f]{64}|dapi[\da-f]{32}|hv[bs]\.[\w-]{20,}|pscale_\w{2,6}_[\w.-]{30,}|tskey-\w{1,20}-[\w-]{16,}|ATATT3[\w=-]{50,}`, // clouds
    String.raw`lin_api_\w{30,}|ntn_\w{40,}|figd_[\w-]{40,}|gl(?:sa|c)_[\w+/=]{30,}|sntry[su]_[\w+/=-]{40,}|NRAK-[A-Z\d]{27}|PMAK-[\da-f-]{50,}|pul-[\da-f]{40}|AGE-SECRET-KEY-1\w{58}|EAA[A-Z]\w{80,}`,
    String.raw`\d{8,10}:AA[\w-]{30,}`, // Telegram
    String.raw`eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?`, // JWT
    String.raw`[MNO][\w-]{22,27}\.[\w-]{6,7}\.[\w-]{27,}|mfa\.[\w-]{20,}`, // Discord
  ].join('|')})`,
  'gu',
);

/** Passwords in addresses; addresses that allow anyone to write; a header's name and password. */
const inAddress = [
  /:\/\/[^\s:@/]{0,100}:(?<secret>[^\s:@/▒]{1,100})@/gu,
  /(?:\/api\/webhooks\/\d{1,30}|hooks\.slack\.com\/services)\/(?<secret>[\w/-]{16,})/gu,
  /Authorization:\s{0,3}Basic\s{1,3}(?<secret>[\w+/]{8,}={0,2})/gu,
] as const;

/** Without an end, all that follows belongs to it. Public keys and certificates do not count. */
function pemKeys(text: string): readonly Span[] {
  const spans: Span[] = [];
  const begin = /-----BEGIN [A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)?-----/gu;
  for (let match = begin.exec(text); match !== null; match = begin.exec(text)) {
    const close = text.indexOf('-----END ', begin.lastIndex);
    const dashes = close === -1 ? -1 : text.indexOf('-----', close + 9);
    const end = dashes === -1 ? text.length : dashes + 5;
    spans.push({ start: match.index, end });
    begin.lastIndex = end;
  }
  return spans;
}

/** Lengths and groups of today's card numbers; never 18 digits, as Discord's ids have. */
const cardNumber =
  /(?<![\w.,/#+-])(?:\d{4}[ .\u00a0-]\d{4}[ .\u00a0-]\d{4}[ .\u00a0-]\d{4}|\d{4}[ .\u00a0-]\d{6}[ .\u00a0-]\d{4,5}|\d{14,16}|\d{19})(?!\w|[.,]\d)/gu;

/** Whether an issuer has such numbers and the check digit is right. */
function isCard({ 0: number, index, input }: RegExpExecArray): boolean {
  return creditCard.default(number.replace(/\D/gu, '')) && !isInAddress(input, index);
}

/** Characters of an address before the match. */
const addressReach = 200;

function isInAddress(text: string, index: number): boolean {
  const before = text.slice(Math.max(0, index - addressReach), index);
  return before.slice(before.lastIndexOf('://')).search(/\s/u) === -1 && before.includes('://');
}

const ibanLike =
  /(?<![A-Za-z\d])[A-Za-z]{2}\d{2}(?:[ \u00a0-]?[A-Za-z\d]{4}){2,7}(?:[ \u00a0-]?[A-Za-z\d]{1,3})?(?![A-Za-z\d])/gu;

/** Capitals may follow the number. */
function ibans(text: string): readonly Span[] {
  return [...text.matchAll(ibanLike)].flatMap(({ 0: run, index }) => {
    const ends = [...run.matchAll(/[ \u00a0-]/gu)].map((separator) => separator.index);
    const end = [run.length, ...ends.toReversed()].find((each) =>
      isValidIBAN(electronicFormatIBAN(run.slice(0, each).replaceAll('\u00a0', ' ')) ?? ''),
    );
    return end === undefined ? [] : [{ start: index, end: index + end }];
  });
}

/** Long words with mixed cases and digits, other than addresses, files and hashes. */
function randomWords(text: string): readonly Span[] {
  return [...text.matchAll(/\S{16,}/gu)].flatMap(({ 0: word, index }) => {
    if (word.includes('://')) return [];
    return [...word.matchAll(/[\w+/-]{16,}={0,2}/gu)].flatMap(({ 0: part, index: at }) => {
      const isNamed =
        /[.@]/u.test(word.charAt(at - 1)) ||
        /[.@]\w/u.test(word.slice(at + part.length, at + part.length + 2));
      const start = index + at;
      return isNamed || !isRandom(part) ? [] : [{ start, end: start + part.length }];
    });
  });
}

function isRandom(part: string): boolean {
  if (/^(?:sha\d|0x|Qm)/u.test(part)) return false;
  const kinds = Array.from(part, (character) => {
    if (/\d/u.test(character)) return 'digit';
    if (/[a-z]/u.test(character)) return 'small';
    return /[A-Z]/u.test(character) ? 'capital' : 'sign';
  });
  const changes = kinds.filter((kind, index) => index > 0 && kind !== kinds[index - 1]).length;
  const digits = kinds.filter((kind) => kind === 'digit').length;
  return digits >= 3 && kinds.includes('small') && kinds.includes('capital') && changes >= part.length * 0.4;
}
