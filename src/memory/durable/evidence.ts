import { normalizeText, terms } from '../../core/text.ts';
import { clauses, clausesAround } from './clauses.ts';
import { isDenial, withoutContractions } from './denial.ts';
import { ownWords } from '../../core/own-words.ts';
import { fillerTerms } from './stop-words.ts';

/** Verbs that only join a person to what is said about them; the rest of the item carries the meaning [M5a]. */
const neutralTerms: ReadonlySet<string> = new Set(
  terms(`
    prefer prefers like likes love loves enjoy enjoys want wants
    work works working live lives living use uses using own owns know knows speak speaks study studies
    name named call called currently now
    предпочитает предпочитаю любит люблю нравится хочет работает работаю живёт живет живу использует знает говорит зовут сейчас
  `),
);

const inWord = String.raw`[\p{L}\p{M}\p{N}]`;
const unspacedScript =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Signs that carry meaning: `C++`, `#5`, emoji. */
const meaningfulSign = /[\p{S}#@%&]/gu;

/**
 * Whether an item's text says nothing that the quote does not [M5a]: every content word (its stem; pairs of characters in scripts
 * without spaces; signs as in `C++`) stands in the quote. What the quote denies proves no claim that does not deny. The quote may
 * be a whole message; what that quotes from others does not count.
 */
export function supports(text: string, quote: string): boolean {
  const claims = terms(withoutContractions(text)).filter((term) => !isEmptyOfMeaning(term));
  if (claims.length === 0) return false;
  const own = ownWords(quote);
  const telling = isDenial(text)
    ? [own]
    : clauses(withoutContractions(own)).filter((clause) => !isDenial(clause));
  const said = new Set(telling.flatMap((clause) => terms(withoutContractions(clause))));
  const signs = text.normalize('NFKC').match(meaningfulSign) ?? [];
  const quoted = own.normalize('NFKC');
  return claims.every((claim) => isSaid(claim, said)) && signs.every((sign) => quoted.includes(sign));
}

/** Whether a message tells what an item's text says, whoever says it and however: each content word of the text stands in it. */
export function tells(text: string, message: string): boolean {
  const claims = terms(withoutContractions(text)).filter((term) => !isEmptyOfMeaning(term));
  const said = new Set(terms(withoutContractions(message)));
  return claims.length > 0 && claims.every((claim) => isSaid(claim, said));
}

/**
 * Whether a quote stands literally in one of the messages, as whole words; case, white space and width of characters (NFKC) aside.
 * What a message itself quotes from others does not count, nor do mentions, on both sides.
 */
export function standsIn(quote: string, messages: readonly string[]): boolean {
  return messages.some((message) => findQuote(quote, message) !== undefined);
}

/**
 * Whether a message proves an item [M5a]: the quote stands in it and supports the text, and so do the whole clauses it was
 * taken from, for `I don't like Rust` holds the words `like Rust`.
 */
export function isProven(item: { readonly text: string; readonly quote: string }, message: string): boolean {
  const found = findQuote(item.quote, message);
  return found !== undefined && supports(item.text, item.quote) && supports(item.text, found.inContext);
}

function isEmptyOfMeaning(term: string): boolean {
  return fillerTerms.has(term) || neutralTerms.has(term);
}

function isSaid(claim: string, said: ReadonlySet<string>): boolean {
  if (said.has(claim)) return true;
  const isLoneCharacter = Array.from(claim).length === 1 && unspacedScript.test(claim);
  return isLoneCharacter && [...said].some((term) => term.includes(claim));
}

/** The quote where it stands among a message's own words, with the clauses around it. */
function findQuote(quote: string, message: string): { readonly inContext: string } | undefined {
  const wanted = normalizeText(ownWords(quote));
  const own = folded(ownWords(message));
  if (wanted.length > own.length || !new RegExp(inWord, 'u').test(wanted)) return undefined;
  const characters = Array.from(wanted);
  const before = needsEdge(characters[0]) ? `(?<!${inWord})` : '';
  const after = needsEdge(characters.at(-1)) ? `(?!${inWord})` : '';
  const literal = wanted
    .split(' ')
    .map(escapePattern)
    .join(String.raw`\s+`);
  const match = new RegExp(`${before}${literal}${after}`, 'u').exec(own);
  if (match === null) return undefined;
  return { inContext: clausesAround(own, match.index, match.index + match[0].length) };
}

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/** Whether a quote that begins or ends with this character must not do so inside a longer word. */
function needsEdge(character = ''): boolean {
  return new RegExp(inWord, 'u').test(character) && !unspacedScript.test(character);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`);
}
