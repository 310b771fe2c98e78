import { terms } from '../../core/text.ts';

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
export function withoutContractions(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/\b(?:ca|wo)n['’]t\b|n['’]t\b|(?<=\bcan)not\b/giu, ' not')
    .replace(/(?<=\b(?:do|does|did|is|are|was|has|have|would|could|should))nt\b/giu, ' not');
}

/** Whether something is denied or disliked. */
export function isDenial(text: string): boolean {
  return denialInside.test(text) || terms(withoutContractions(text)).some((term) => denialTerms.has(term));
}
