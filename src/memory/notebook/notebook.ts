import type { Store } from '../../core/store.ts';
import type { KeyedQueue } from '../../core/keyed-queue.ts';
import type { OpenNotebook } from './background.ts';
import { createNotebookFiles } from './files.ts';
import { inlinedFileReader, notebookIndexReader } from './sections.ts';
import { createNotebookTools } from './tools.ts';

export interface NotebookOptions {
  readonly store: Store;
  /** The users' write queue [S3]. */
  readonly writes: KeyedQueue;
  /** IANA time zone of dates in the notebook [N5]. */
  readonly timeZone: string;
  /** Characters of USER.md as rendered. */
  readonly profileMaxChars: number;
  /** Characters of MEMORY.md as rendered. */
  readonly memoryMaxChars: number;
  /** Characters of overview.md as rendered. */
  readonly overviewMaxChars: number;
  /** Characters of the index as rendered. */
  readonly indexMaxChars: number;
}

/**
 * Each person's notebook and each session's working memory: sections for the prompt, and the model's tools. The tools are the same list in
 * every place [P2]; what exists where is the tree's matter.
 */
export function createNotebook(options: NotebookOptions) {
  const { store, writes, timeZone } = options;
  const files = createNotebookFiles(store, writes, timeZone);
  return {
    readers: [
      inlinedFileReader(files, 'USER.md', options.profileMaxChars),
      inlinedFileReader(files, 'MEMORY.md', options.memoryMaxChars),
      inlinedFileReader(files, 'overview.md', options.overviewMaxChars),
      notebookIndexReader(files, timeZone, options.indexMaxChars),
    ],
    tools: createNotebookTools(files, timeZone),
  };
}

/** Index lines that a reflection is given at most, in characters. */
const backgroundIndexMaxChars = 8000;

/** The tree for background work: the same tools and checks over other files, with what it read marked for itself alone. */
export function notebookOpener({
  writes,
  timeZone,
}: Pick<NotebookOptions, 'writes' | 'timeZone'>): OpenNotebook {
  return (store) => {
    const files = createNotebookFiles(store, writes, timeZone);
    const index = notebookIndexReader(files, timeZone, backgroundIndexMaxChars);
    return {
      tools: createNotebookTools(files, timeZone),
      async read(path, context) {
        const opened = await files.open(path, context);
        if (opened.outcome === 'refused' || opened.text === undefined) return undefined;
        files.markRead(context, opened.file, opened.text);
        return opened.text;
      },
      async factPaths(context) {
        const facts = await files.list(context, ['facts'], { summaries: false });
        return facts.map(({ file }) => file.path);
      },
      index: (context) => index.read(context),
    };
  };
}
