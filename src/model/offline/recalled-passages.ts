import { normalizeText } from '../../core/text.ts';

const block =
  /^\[\d+\] Source: .*\n.*\nContent: (?<content>.*)\nCitation: (?<citation>.*)(?:\nLink: (?<link>.*))?$/u;

/** The stand-in's own words tell nobody anything, nor does the question itself. */
const ownWords = /offline stand-in|I have nothing about/u;

/**
 * What a search of memory found [C3], a line a passage with where it is from; the question that was asked, and what the stand-in said itself, left
 * out. Empty where nothing is left.
 */
export function recalledPassages(result: string, question: string): readonly string[] {
  const asked = normalizeText(question);
  return result.split('\n\n').flatMap((text) => {
    const { content, citation, link } = block.exec(text)?.groups ?? {};
    if (content === undefined || ownWords.test(content)) return [];
    if (asked !== '' && normalizeText(content).endsWith(asked)) return [];
    return [`- ${content} (${citation}${link === undefined ? '' : `, <${link}>`})`];
  });
}
