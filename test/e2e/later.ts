/** The environment of a bot whose clock is so many milliseconds ahead. */
export function laterBy(ms: number): Readonly<Record<string, string>> {
  const modules = [import.meta.resolve('tsx'), new URL('later-clock.ts', import.meta.url).href];
  return { NODE_OPTIONS: modules.map((url) => `--import ${url}`).join(' '), LATER_MS: String(ms) };
}
