/** What counts how much in the ranking. `npm run bench:recall -- FILE --perturb` shows what a change of each one does. */
export interface RankingWeights {
  /** BM25: how soon a repeated word stops counting. */
  readonly saturation: number;
  /** BM25: how much a long text has to say more often what a short one says once, 0 to 1. */
  readonly lengthShare: number;
  /** What a neighbour's word counts at a distance of one, two, three. */
  readonly neighbours: readonly number[];
  /** Between the sum of a word's occurrences in text and neighbours (0) and its best one (1). */
  readonly bestOccurrence: number;
  /** A text whose author the query names, or means by "I" or "you". */
  readonly namedAuthor: number;
  /** An author's name as a word of the query. */
  readonly authorTerm: number;
  /** A day, month or year of the query that is the text's. */
  readonly date: number;
  /** A file's name. */
  readonly title: number;
  /** What a question's words lend to the answer that follows. */
  readonly answer: number;
  /** The three best texts of a stretch, for each in it. */
  readonly stretch: number;
  /** An expression of time, where the query asks when. */
  readonly time: number;
  /** Related words. */
  readonly related: number;
  /** Two words of the query side by side. */
  readonly pair: number;
  /** The query word for word. */
  readonly phrase: number;
  /** What is taken from a text that only asks: questions hold words of queries, not what was asked for. */
  readonly question: number;
  /** A text by the bot. */
  readonly bot: number;
}

export const rankingWeights: RankingWeights = {
  saturation: 1.2,
  lengthShare: 0.5,
  neighbours: [0.45, 0.25, 0.12],
  bestOccurrence: 0.5,
  namedAuthor: 1,
  authorTerm: 0.3,
  date: 1,
  title: 1,
  answer: 0.4,
  stretch: 0.15,
  time: 0.5,
  related: 0.2,
  pair: 0.2,
  phrase: 1,
  question: 0.3,
  bot: 0.3,
};
