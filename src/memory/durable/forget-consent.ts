import { terms } from '../../core/text.ts';
import { withoutContractions } from './denial.ts';
import type { DurableItem } from './durable-document.ts';
import { standsIn } from './evidence.ts';
import { ownWords } from '../../core/own-words.ts';
import { stopTerms } from './stop-words.ts';

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
