import { terms } from '../../core/text.ts';

/** Words that say nothing about what a question is about. */
const emptyTerms: ReadonlySet<string> = new Set(
  terms(`
    a an the this that these those i me my mine you your yours he him his she her it its we us our they them their
    am is are was were be been do does did have has had will would shall should can could may might must
    and or but if then than as so too also just not no yes to of in on at by for from with about into over up out
    who what which when where why how there here s t m d re ve ll
    know remember tell told say said ask think please thank thanks hello hi hey again still ever
    я ты мы вы он она они мой твой ваш это что кто как где когда почему какой и или но а же ли в на с к у о по за из не да нет
    знаешь помнишь скажи пожалуйста привет
  `),
);

/** The different terms of a text that can tell it from others, in any script. */
export function tellingTerms(text: string): ReadonlySet<string> {
  return new Set(terms(text).filter((term) => !emptyTerms.has(term)));
}
