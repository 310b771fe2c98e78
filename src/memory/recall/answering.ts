import { stopTerms } from '../../core/stop-words.ts';
import { terms } from '../../core/text.ts';
import { TermReader } from './words.ts';

/** Words of talk that say nothing of a question's subject. */
const talk = new Set(
  terms(`
    know remember tell told say said ask think please thank thanks again still ever thing something anything whats
    знаешь помнишь скажи пожалуйста привет
  `),
);
/** Too common in questions and items to tell much. */
const common = new Set(terms('prefer like love enjoy hate dislike use live work have want need'));

/**
 * Tells which share of a question's telling words a text has, 0 to 1; related words count half, common verbs
 * little. Keeps no word of either.
 */
export function shareOf(question: string): (text: string) => number {
  const reader = new TermReader();
  const contentTerms = reader.read(question).filter((term) => !stopTerms.has(term) && !talk.has(term));
  const asked = [...new Set(contentTerms)].map((term) => {
    return { term, related: [...reader.related(term)], weight: common.has(term) ? 0.3 : 1 };
  });
  const whole = asked.reduce((sum, { weight }) => sum + weight, 0);
  return (text) => {
    const held = new Set(reader.read(text));
    const found = asked.map(({ term, related, weight }) => {
      if (held.has(term)) return weight;
      return related.some((other) => held.has(other)) ? weight / 2 : 0;
    });
    return whole === 0 ? 0 : found.reduce((sum, each) => sum + each, 0) / whole;
  };
}
