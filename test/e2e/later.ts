/** The environment of a bot whose clock is so many milliseconds ahead. */
export function laterBy(ms: number): Readonly<Record<string, string>> {
  const module = new URL('later-clock.mjs', import.meta.url).href;
  return { NODE_OPTIONS: `--import ${module}`, LATER_MS: String(ms) };
}

/** By how many milliseconds the clock is ahead in an environment. */
export function laterMsOf(environment: Readonly<Record<string, string>>): number {
  return Number(environment['LATER_MS'] ?? 0);
}
