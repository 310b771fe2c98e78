/** A statement, or a part of one, as `pg` takes it; `Row` is what it gives. */
export class Statement<Row> {
  /** Never there: only for the compiler. */
  declare readonly row: Row;
  /** Between each two of them stands a value. */
  readonly pieces: readonly string[];
  readonly values: readonly unknown[];

  constructor(pieces: readonly string[], values: readonly unknown[]) {
    this.pieces = pieces;
    this.values = values;
  }

  get text(): string {
    return this.pieces.reduce((text, piece, index) => `${text}$${index}${piece}`);
  }
}

/** Binds what is inserted as values; other statements become part of the text. */
export function sql<Row = unknown>(
  strings: TemplateStringsArray,
  ...inserted: readonly unknown[]
): Statement<Row> {
  const pieces = [strings[0] ?? ''];
  const values: unknown[] = [];
  for (const [index, value] of inserted.entries()) {
    const part = value instanceof Statement ? value : new Statement(['', ''], [value]);
    const last = pieces.pop() ?? '';
    const [first = '', ...others] = part.pieces;
    pieces.push(last + first, ...others);
    values.push(...part.values);
    pieces.push((pieces.pop() ?? '') + (strings[index + 1] ?? ''));
  }
  return new Statement<Row>(pieces, values);
}
