import { clipAtWord, flatten } from '../../core/text.ts';

const titleMaxChars = 100;
/** Characters of a summary line at most; the index shows it with every message. */
const summaryMaxChars = 160;

/** A file whose first lines are `# Title` and `> Summary: …` [N4], taken apart. */
export interface HeadedText {
  readonly title?: string;
  readonly summary?: string;
  /** What stands below, without blank lines around it. */
  readonly body: string;
}

export function readHeader(text: string): HeadedText {
  let lines = withoutBlankStart(text.split('\n'));
  const title = /^# +(?<title>.*\S)\s*$/u.exec(lines[0] ?? '')?.groups?.['title'];
  if (title !== undefined) lines = withoutBlankStart(lines.slice(1));
  const summary = /^> *summary:(?<summary>.*)$/iu.exec(lines[0] ?? '')?.groups?.['summary']?.trim();
  if (summary !== undefined) lines = withoutBlankStart(lines.slice(1));
  return {
    body: lines.join('\n').trimEnd(),
    ...(title === undefined ? {} : { title }),
    ...(summary === undefined || summary === '' ? {} : { summary }),
  };
}

/** The file put together: two header lines, a blank line, the body. */
export function writeHeader({ title, summary, body }: Required<HeadedText>): string {
  const head = `# ${clipAtWord(flatten(title), titleMaxChars)}\n> Summary: ${clipAtWord(flatten(summary), summaryMaxChars)}`;
  return body === '' ? `${head}\n` : `${head}\n\n${body}\n`;
}

/** What lists show of a file: its summary line, else its title, else its first words. */
export function summaryOf(text: string): string {
  const { title, summary, body } = readHeader(text);
  const shown = summary ?? title ?? body.split('\n').find((line) => /[\p{L}\p{N}]/u.test(line)) ?? '';
  return clipAtWord(flatten(shown.replace(/^[#>*\s-]+/u, '')), summaryMaxChars);
}

/** What the lines of a body are about: of `- Name: Alice` the name, of others the first words. */
export function keywordsOf(body: string): readonly string[] {
  const topics = body.split('\n').flatMap((line) => {
    const plain = flatten(line.replace(/^\s*(?:[-*+>]|#+|\d+[.)])\s+/u, '').replace(/[*_`]/gu, ''));
    const label = /^(?<label>[^:：]{1,40})[:：](?:\s|$)/u.exec(plain)?.groups?.['label'] ?? firstWords(plain);
    return /[\p{L}\p{N}]/u.test(label) ? [label.trim().replace(/[.,;]+$/u, '')] : [];
  });
  return [...new Set(topics)];
}

/** Parts joined by commas; where they are too many, the first give way. */
export function joinSummary(parts: readonly string[]): string {
  let kept = [...new Set(parts)];
  while (kept.length > 1 && kept.join(', ').length > summaryMaxChars) kept = kept.slice(1);
  return clipAtWord(kept.join(', '), summaryMaxChars);
}

function firstWords(line: string): string {
  return clipAtWord(line.split(' ').slice(0, 5).join(' '), 40);
}

function withoutBlankStart(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line.trim() !== '');
  return first === -1 ? [] : lines.slice(first);
}
