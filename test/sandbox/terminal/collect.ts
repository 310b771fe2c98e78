/** Everything that an iteration gives, in order. */
export async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
