import type { OpenedFile } from '../core/chat.ts';
import type { DocumentBlock, ImageBlock } from '../core/model.ts';
import { renderSection } from '../core/section.ts';
import { label, quotedLines } from './quoted-text.ts';

/** What the last message shows of a file: a text, or a picture or document after the text that names it. */
export type FilePiece = { readonly text: string } | { readonly media: ImageBlock | DocumentBlock };

/** Attached files as data [P3]: each in tags of its own, named by its title. They have bounds of their own, outside of the prompt's [P4]. */
export function renderFile(file: OpenedFile): readonly FilePiece[] {
  const name = label(file.name);
  switch (file.kind) {
    case 'image':
      return [
        fileSection(name, ['(the picture follows)']),
        { media: { type: 'image', mediaType: file.mediaType, data: file.data } },
      ];
    case 'document':
      return [
        fileSection(name, ['(the document follows)']),
        { media: { type: 'document', title: name, data: file.data } },
      ];
    case 'text':
      return [fileSection(name, quotedLines(file.text))];
    case 'unopened':
      return [fileSection(name, [`(not opened: ${file.reason})`])];
  }
}

function fileSection(name: string, lines: readonly string[]): FilePiece {
  return { text: renderSection({ name: 'attached_file', title: `${name}:`, lines }) };
}
