/**
 * Whether some work has expressions, segmenters and Unicode forms read at most so many characters: counted instead of
 * timed, so that a busy machine changes nothing [L4]. An expression reads from where it begins to what it finds. What
 * reads more is ended there.
 */
export function readsAtMost(most: number, work: () => unknown): boolean {
  let read = 0;
  const undo: (() => void)[] = [];
  const count = <Name extends string>(
    of: Readonly<Record<Name, (...input: never[]) => unknown>>,
    name: Name,
    readBy: (self: unknown, input: readonly unknown[], result: unknown) => number,
  ): void => {
    const original = of[name];
    const counted = function (this: unknown, ...input: never[]): unknown {
      const { lastIndex = 0 } = this instanceof RegExp && (this.global || this.sticky) ? this : {};
      const result = Reflect.apply(original, this, input);
      read += Math.max(0, readBy(this, input, result) - lastIndex);
      if (read > most) throw tooMuch;
      return result;
    };
    Object.defineProperty(of, name, { value: counted, configurable: true, writable: true });
    undo.push(() => Object.defineProperty(of, name, { value: original, configurable: true, writable: true }));
  };
  count(RegExp.prototype, 'exec', (_, [text], match) => {
    if (!Array.isArray(match) || !('index' in match)) return length(text);
    return Number(match.index) + length(match[0]);
  });
  for (const name of ['normalize', 'toLowerCase', 'toUpperCase', 'trim'] as const)
    count(String.prototype, name, length);
  count(Intl.Segmenter.prototype, 'segment', (_, [text]) => length(text));
  try {
    work();
    return true;
  } catch (error) {
    if (error === tooMuch) return false;
    throw error;
  } finally {
    for (const each of undo) each();
  }
}

const tooMuch = new Error('too much is read');

function length(text: unknown): number {
  return String(text).length;
}
