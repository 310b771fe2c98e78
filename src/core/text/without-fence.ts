/** The JSON of a structured answer: servers without structured output answer inside a code fence. */
export function withoutFence(text: string): string {
  return /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/u.exec(text)?.[1] ?? text;
}
