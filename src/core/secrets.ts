import { electronicFormatIBAN, isValidIBAN } from 'ibantools';

import { escapePattern } from './text.ts';

/** Replaces a secret. It has no letters, so it reads the same in every language and no search finds it. */
export const secretMark = '▒▒▒';

/** A part of a text, in UTF-16 units; `end` is exclusive. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** Masks what looks like a secret [K14], and the last hundred `known` ones even where nothing marks them. Idempotent. */
export function maskSecrets(text: string, known: ReadonlySet<string> = noValues): string {
  const plain = spaced(text);
  const repeated = [...known].slice(-mostLookedFor).filter((value) => plain.includes(spaced(value).trim()));
  const spans = [...secretsIn(text), ...repeated.flatMap((value) => occurrences(text, value))];
  const masked = masking(text, merged(spans));
  // Masking one may reveal another beside it.
  return masked === text ? text : maskSecrets(masked, known);
}

export function hasSecret(text: string): boolean {
  return secretsIn(text).length > 0;
}

/** The secrets that can be recognised anywhere. */
export function secretValues(text: string): readonly string[] {
  return secretsIn(text)
    .map(({ start, end }) => text.slice(start, end))
    .filter((value) => value.length >= shortestValue);
}

/** Masks secrets except those in `kept`: what people wrote into their own files stays. */
export function maskNewSecrets(text: string, kept: string): string {
  const isNew = ({ start, end }: Span): boolean => !kept.includes(text.slice(start, end));
  return masking(text, secretsIn(text).filter(isNew));
}

const noValues: ReadonlySet<string> = new Set();
/** A channel full of secrets holds nobody else for long [L4]. */
const mostLookedFor = 100;
/** Shorter ones occur in all kinds of words and numbers. */
const shortestValue = 4;

/**
 * In order, none touching another: tokens by gitleaks' rules, card numbers and IBANs by check digits, and passwords
 * behind a word for one. More is not promised [K14].
 */
function secretsIn(text: string): readonly Span[] {
  const isLong = /[\w.:/@+=-]{16}/u.test(text);
  const hasNumber = /\d{2}[ .\u00a0-]?\d{2}/u.test(text);
  return merged([
    ...(isLong ? [...matches(text, pemKey), ...tokens(text)] : []),
    ...(text.includes('://') || isLong ? inAddress.flatMap((form) => matches(text, form)) : []),
    ...(hasNumber ? [...matches(text, cardNumber, isCard), ...ibans(text)] : []),
    ...passwords(text),
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

function spaced(text: string): string {
  return text.toLowerCase().replace(/\s+/gu, ' ');
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
const pemKey =
  /-----BEGIN [A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[\s\S]*?-----END [^-]*-----|[\s\S]*)/gu;

/** Lengths and groups of today's card numbers; never 18 digits, as Discord's ids have. */
const cardNumber =
  /(?<![\w.,/#+-])(?:\d{4}[ .\u00a0-]\d{4}[ .\u00a0-]\d{4}[ .\u00a0-]\d{4}|\d{4}[ .\u00a0-]\d{6}[ .\u00a0-]\d{4,5}|\d{14,16}|\d{19})(?!\w|[.,]\d)/gu;

/** Whether an issuer has numbers that begin so, and the check digit is right by Luhn's rule. */
function isCard({ 0: number, index, input }: RegExpExecArray): boolean {
  const digits = Array.from(number.replace(/\D/gu, ''), Number);
  const sum = digits.toReversed().reduce((total, digit, place) => {
    const counted = place % 2 === 0 ? digit : digit * 2;
    return total + (counted > 9 ? counted - 9 : counted);
  }, 0);
  return /^[2-6]/u.test(number) && sum % 10 === 0 && !isInAddress(input, index);
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

/** The words for a password [K14], as docs/privacy.md names them, up to what is said to be one. */
const passwordIs = new RegExp(
  String.raw`(?:pass[ -]?(?:word|code|phrase)|(?<!\p{L})(?:pwd?|pin(?:[ -]?(?:code|number))?)|passwort|kennwort|mot de passe|contraseña|(?<!\p{L})senha|пароль|密[码碼]|パスワード)["'\x60*_~|)\]]{0,4}(?:[^\S\n]{0,3}[:=：＝]{1,2}|[^\S\n]{1,3}(?:is|ist|lautet|est|es|é|это)(?:[^\S\n]{0,3}[:：]|(?=\s))|[是は])(?:[^\S\n]|[*_~|(]){0,6}`,
  'giu',
);

/** What closes a word or a sentence. */
const closing = String.raw`[.,:!?…"'”’»\x60)\]}>*_~|]`;
const allClosing = new RegExp(`^${closing}*`, 'u');
const closingMarks = new RegExp(`(?<!${closing})${closing}+$`, 'u');
const wordMaxChars = 100;
const oneWord = new RegExp(
  String.raw`^[^\s;▒，；、。！？\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{1,${wordMaxChars}}`,
  'u',
);
const quotedMaxChars = 64;
const closingQuotes = new Map(
  Object.entries({ '"': '"', "'": "'", '`': '`', '“': '”', '„': '“', '‘': '’', '«': '»', '「': '」' }),
);

/** What is in quotes there, or one odd word about which nothing more is said. */
function passwords(text: string): readonly Span[] {
  return [...text.matchAll(passwordIs)].flatMap(({ 0: link, index }) => {
    const start = index + link.length;
    const rest = text.slice(start, start + 2 * wordMaxChars);
    const quote = closingQuotes.get(rest.charAt(0));
    const inQuotes = quote === undefined ? '' : rest.slice(1, Math.max(1, rest.indexOf(quote, 1)));
    if (inQuotes !== '' && inQuotes.length <= quotedMaxChars && !/[\n▒]/u.test(inQuotes))
      return [{ start: start + 1, end: start + 1 + inQuotes.length }];
    const word = (oneWord.exec(rest)?.[0] ?? '').replace(closingMarks, '');
    return isPassword(word) && endsAt(rest, word.length) ? [{ start, end: start + word.length }] : [];
  });
}

/** Whether an end, a comma, a semicolon or "and" follows. */
function endsAt(text: string, index: number): boolean {
  const marks = text.slice(index).match(allClosing)?.[0] ?? '';
  const after = text.slice(index + marks.length);
  const isEnd = /^(?:$|[\n;，；、。！？]|です|\s{1,3}(?:and|und|et|y|e|и)(?!\p{L}))/u;
  return isEnd.test(after) || (/[.,!?…]/u.test(marks) && /^\s/u.test(after));
}

/** Not an ordinary word, an address or a mark of Discord's. */
function isPassword(word: string): boolean {
  const signs = new Set(word.match(/[!-&(-,/:-@[-`{-~]/gu));
  return (/\d/u.test(word) || signs.size >= 2) && !word.includes('://') && !word.startsWith('<');
}
