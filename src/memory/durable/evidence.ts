import { ownWords } from '../../core/own-words.ts';
import { fillerTerms, stopTerms } from '../../core/stop-words.ts';
import { escapePattern, normalizeText, terms } from '../../core/text.ts';
import type { DurableItem } from './document.ts';

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

/** Where one statement ends and another begins; words need an edge that is no letter. */
const clauseEnd =
  /[.,;:!?()\n…—–。、，！？；]+|\s-\s|(?<!\p{L})(?:and|but|however|though|although|because|но|а|и|und|aber|et|mais|pero)(?!\p{L})/giu;

/** The parts of a text that can be true or denied by themselves. */
function clauses(text: string): readonly string[] {
  return text.split(clauseEnd).filter((clause) => clause.trim() !== '');
}

/** The part of a text from `start` to `end`, made longer to both sides up to the end of its clauses. */
function clausesAround(text: string, start: number, end: number): string {
  let from = 0;
  for (const boundary of text.matchAll(clauseEnd)) {
    const boundaryEnd = boundary.index + boundary[0].length;
    if (boundaryEnd <= start) from = boundaryEnd;
    if (boundary.index >= end) return text.slice(from, boundary.index);
  }
  return text.slice(from);
}

const denialTerms: ReadonlySet<string> = new Set(
  terms(`
    not no never none neither nor without
    hate hates hated dislike dislikes disliked detest avoid avoids avoided
    не нет ни никогда без ненавижу ненавидит избегаю избегает
    nicht kein keine keinen nie niemals ohne hasse
    ne pas jamais sans déteste
    nunca tampoco sin odio
  `),
);

/** Scripts without spaces deny inside a word. */
const denialInside = /[不没沒無]|ない|ません|嫌い|않|없/u;

/** `don't`, `dont` and `cannot` as two words each, so that what they deny can be seen. */
function withoutContractions(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/\b(?:ca|wo)n['’]t\b|n['’]t\b|(?<=\bcan)not\b/giu, ' not')
    .replace(/(?<=\b(?:do|does|did|is|are|was|has|have|would|could|should))nt\b/giu, ' not');
}

/** Whether something is denied or disliked. */
function isDenial(text: string): boolean {
  return denialInside.test(text) || terms(withoutContractions(text)).some((term) => denialTerms.has(term));
}

/** Ways to ask for forgetting, as terms where words are spaced. */
const forgetTerms: ReadonlySet<string> = new Set(
  terms(`
    forget delete remove erase unremember wipe discard
    vergiss vergessen lösche löschen entferne oublie oublier supprime efface olvida olvidar borra elimina
    dimentica cancella esquece apaga vergeet verwijder zapomnij usuń glöm
    забудь забыть забудьте удали удалить сотри убери
    잊어 잊어줘 삭제해 지워 지워줘 انس احذف
  `),
);
const forgetInside = /忘れ|消して|削除|忘记|忘掉|忘記|删除|刪除/u;
const doNotRemember = /\bnot (?:remember|keep|store)\b/iu;
/** The opposite: asks to keep something in mind. */
const doNotForget =
  /\b(?:not|never) (?:ever )?forget|(?<!\p{L})не забы?[вуд]\p{L}*|\bvergiss (?:\p{L}+ ){0,2}nicht\b|\bn['’]oublie\p{L}* pas\b|\bno olvid\p{L}*|忘れない/giu;

/** Words of correction: what was remembered no longer holds. */
const correctionTerms: ReadonlySet<string> = new Set(
  terms(`
    instead longer anymore moved switched changed actually correction correct wrong update replace
    вместо больше переехал переехала исправь неверно stattdessen umgezogen korrektur plutôt déménagé cambié
  `),
);

/**
 * Whether the speaker, in their own words, asks to forget all of these items: a word for forgetting, and for each item either the
 * target as it stands or a word of the item or of its kind. So nobody else's text can make the model forget something [M5a].
 */
export function asksToForget(
  messages: readonly string[],
  target: string,
  items: readonly DurableItem[],
): boolean {
  const own = withoutContractions(messages.map(ownWords).join('\n'))
    .replace(/\s+/gu, ' ')
    .replace(doNotForget, ' ');
  const said = new Set(terms(own));
  const asks =
    [...said].some((term) => forgetTerms.has(term)) || forgetInside.test(own) || doNotRemember.test(own);
  if (!asks) return false;
  if (terms(target).some((term) => !stopTerms.has(term)) && standsIn(target, messages)) return true;
  return items.every((item) => speaksOf(item, said));
}

/**
 * Whether the speaker's own words have to do with replacing this item: they hold a word of it, or a word of correction.
 * Otherwise somebody else's text could make one item push out any other.
 */
export function mayReplace(messages: readonly string[], item: DurableItem): boolean {
  const said = new Set(terms(messages.map(ownWords).join('\n')));
  return speaksOf(item, said) || [...said].some((term) => correctionTerms.has(term));
}

function speaksOf(item: DurableItem, said: ReadonlySet<string>): boolean {
  return terms(`${item.kind} ${item.text}`).some((term) => !stopTerms.has(term) && said.has(term));
}
