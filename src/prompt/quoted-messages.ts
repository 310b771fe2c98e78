import type { ForwardedMessage, RepliedMessage } from '../core/chat.ts';
import { renderSection } from '../core/section.ts';
import type { Section } from '../core/section.ts';
import { attachmentNote, label, quotedLines } from './quoted-text.ts';

/** Characters of one quoted message as rendered. */
const quoteMaxChars = 2000;

type Quote = Pick<Section, 'name' | 'title'>;

/** The message that the turn's message replies to, as data with its author's name [P3]; `gone` where it cannot be read. */
export function repliedSection(replied: RepliedMessage | 'gone'): Section {
  if (replied === 'gone') {
    return quoteSection({ name: 'replied_to', title: 'The message that is replied to:' }, [
      '(it can no longer be read)',
    ]);
  }
  const title = `The message that is replied to, by ${authorOf(replied)}:`;
  return quote({ name: 'replied_to', title }, replied.text, replied.attachments);
}

/** A message that the speaker, or whoever is replied to, passed on; Discord does not tell whose it is. */
export function forwardedSection({ text, files }: ForwardedMessage): Section {
  const names = files.map(({ name }) => name);
  return quote({ name: 'forwarded', title: 'A message that was passed on:' }, text, names);
}

function quote(frame: Quote, text: string, attachments: readonly string[]): Section {
  const note = attachmentNote(attachments);
  const notes = note === '' ? [] : [note];
  const room = quoteMaxChars - renderSection({ ...frame, lines: ['', ...notes] }).length;
  const lines = quotedLines(text, room).filter((line, _, all) => all.length > 1 || line !== '');
  const said = [...lines, ...notes];
  return quoteSection(frame, said.length === 0 ? ['(no text)'] : said);
}

function quoteSection(frame: Quote, lines: readonly string[]): Section {
  return { ...frame, slot: 'last', lines, budget: quoteMaxChars };
}

function authorOf({ author }: RepliedMessage): string {
  switch (author.kind) {
    case 'self':
      return 'you';
    case 'bot':
      return `${label(author.name)} (bot)`;
    case 'human':
      return label(author.name);
  }
}
