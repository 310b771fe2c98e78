import { ownWords } from '../../core/own-words.ts';
import { stopTerms } from '../../core/stop-words.ts';
import { normalizeText, terms } from '../../core/text.ts';
import { bonds } from './clause-words.ts';
import { holds, plain, turnsIn } from './clauses.ts';
import type { DurableItem } from './document.ts';
import { contentTerms, isSaid, saidTerms } from './evidence.ts';

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
  /\b(?:not|never) (?:ever )?forget|(?<!\p{L})не забы?[вуд]\p{L}*|\bvergiss (?:\p{L}+ ){0,2}nicht\b|\bne oublie\p{L}* pas\b|\bno olvid\p{L}*|忘れない/giu;

/** Words of correction: what was remembered no longer holds. */
const correctionTerms: ReadonlySet<string> = new Set(
  terms(`
    instead longer anymore moved switched changed actually correction correct wrong update replace
    вместо больше переехал переехала исправь неверно stattdessen umgezogen korrektur plutôt déménagé cambié
  `),
);

/** Whether the speaker, in their own words, asks to forget something: nobody else's text can make the model forget [M5a]. */
export function asksToForget(messages: readonly string[]): boolean {
  const own = messages
    .map((message) => plain(ownWords(message)))
    .join(' ')
    .replace(doNotForget, ' ');
  return (
    terms(own).some((term) => forgetTerms.has(term)) || forgetInside.test(own) || doNotRemember.test(own)
  );
}

/** Whether the speaker says that something is no longer so. */
export function corrects(messages: readonly string[]): boolean {
  return messages.flatMap((message) => terms(ownWords(message))).some((term) => correctionTerms.has(term));
}

/**
 * Which of a person's items the speaker's own words name without doubt [M5a]: by a telling word of its text that no other item has, never by its
 * kind; or, where they name none, the one item that the answer before showed. `items` are all that may be used in the place.
 */
export function namedItems(
  messages: readonly string[],
  items: readonly DurableItem[],
  answerBefore: string,
): readonly DurableItem[] {
  const own = plain(messages.map((message) => ownWords(message)).join('\n'));
  const said = saidTerms(own);
  const marksSaid = marks(own);
  const named = items.map((item) => ({
    item,
    words: words(item).filter((word) => isSaid(word, said)),
    marks: marks(plain(item.text)).filter((mark) => marksSaid.includes(mark)),
  }));
  if (named.every((each) => each.words.length + each.marks.length === 0)) {
    const shown = items.filter(({ text }) => normalizeText(answerBefore).includes(normalizeText(text)));
    return shown.length === 1 ? shown : [];
  }
  return named
    .filter((each) => {
      const others = named.filter((other) => other !== each);
      return (
        each.words.some((word) => !others.some((other) => isSaid(word, saidTerms(other.words.join(' '))))) ||
        each.marks.some((mark) => !others.some((other) => other.marks.includes(mark)))
      );
    })
    .map(({ item }) => item);
}

/** What of an item's text tells it from others. */
function words({ text }: DurableItem): readonly string[] {
  return contentTerms(plain(text)).filter((word) => !terms(word).every((term) => stopTerms.has(term)));
}

/** What tells of some words beside them: living somewhere, working somewhere, an allergy. */
function marks(spoken: string): readonly string[] {
  const turns = turnsIn(spoken);
  return [
    ...bonds.flatMap((bond, index) => (holds(bond, spoken) ? [`bond ${index}`] : [])),
    ...(['allergic', 'intolerant'] as const).filter((turn) => turns.has(turn)),
  ];
}
