import { TermReader } from '../../src/memory/recall/words.ts';
import { askAll } from '../bench/recall-asked.ts';
import { readConversations, type Conversation } from '../bench/recall-conversations.ts';
import { measuredOf } from '../bench/recall-evaluator.ts';
import { figuresOf } from '../bench/recall-fit.ts';
import type { Figure } from './page.ts';

/** The usual weights of BM25 (Robertson and Zaragoza, 2009). */
const k1 = 1.2;
const b = 0.75;

/** Of each file, how much of what answers need is among the first ten messages found, by recall and by plain BM25 over the same stems. */
export async function recallFigures(files: readonly string[]): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const file of files) {
    const conversations = await readConversations([file]);
    const ours = await askAll(conversations, ({ text }) => [text]);
    const plain = conversations.flatMap((conversation) =>
      conversation.questions.map((question) =>
        measuredOf(conversation, question, bm25(conversation, question.text, question.upTo)),
      ),
    );
    const [own, other] = [ours, plain].map((measured) => figuresOf(measured).at10.toFixed(1));
    const given = (100 * ours.reduce((sum, one) => sum + one.given, 0)) / ours.length;
    figures.push({
      promise: `what was said is found: ${conversations[0]?.file ?? file}`,
      tried: `${ours.length} questions about ${conversations.length} conversations`,
      outcome: `${own} % among the first ten messages, ${given.toFixed(1)} % in what the model is given; plain BM25 ${other} % among ten`,
    });
  }
  return figures;
}

/** Ids of messages, best first. */
function bm25({ messages }: Conversation, query: string, upTo: number): readonly string[] {
  const reader = new TermReader();
  const texts = messages.slice(0, upTo).map(({ id, text }) => ({ id, terms: reader.read(text) }));
  const mean = texts.reduce((sum, { terms }) => sum + terms.length, 0) / texts.length;
  const wanted = [...new Set(reader.read(query))].map((term) => {
    const holding = texts.filter(({ terms }) => terms.includes(term)).length;
    return { term, weight: Math.log(1 + (texts.length - holding + 0.5) / (holding + 0.5)) };
  });
  const scored = texts.map(({ id, terms }) => {
    const length = 1 - b + (b * terms.length) / mean;
    const score = wanted.reduce((sum, { term, weight }) => {
      const times = terms.filter((each) => each === term).length;
      return sum + (weight * times * (k1 + 1)) / (times + k1 * length);
    }, 0);
    return { id, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .map(({ id }) => id);
}
