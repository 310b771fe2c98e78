import type { SectionReader } from '../../core/section.ts';
import type { Store } from '../../core/store.ts';
import type { Tool } from '../../core/tool.ts';
import { sessionOf } from '../../core/turn-context.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import type { KeyedQueue } from '../../core/keyed-queue.ts';
import type { OpenNotebook } from './background-work.ts';
import { inlinedFileReader } from './inlined-files.ts';
import { createMemoryAppendTool } from './memory-append-tool.ts';
import { createMemoryListTool } from './memory-list-tool.ts';
import { createMemoryPatchTool } from './memory-patch-tool.ts';
import { createMemoryReadTool } from './memory-read-tool.ts';
import { createMemoryWriteTool } from './memory-write-tool.ts';
import { createNotebookFiles } from './notebook-files.ts';
import type { NotebookFiles } from './notebook-files.ts';
import { notebookIndexReader } from './notebook-index.ts';
import { ReadMarks } from './read-marks.ts';

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

/** Each person's notebook and each session's working memory: sections for the prompt, and the model's tools. */
export interface Notebook {
  readonly readers: readonly SectionReader<TurnContext>[];
  /** The same list in every place [P2]; what exists where is the tree's matter. */
  readonly tools: readonly Tool[];
}

export function createNotebook(options: NotebookOptions): Notebook {
  const { store, writes, timeZone } = options;
  const marks = new ReadMarks();
  const files = createNotebookFiles({ store, writes, marks, timeZone });
  const ports = { files, marks };
  return {
    readers: [
      inlinedFileReader({ path: 'USER.md', maxChars: options.profileMaxChars }, ports),
      inlinedFileReader({ path: 'MEMORY.md', maxChars: options.memoryMaxChars }, ports),
      inlinedFileReader({ path: 'overview.md', maxChars: options.overviewMaxChars }, ports),
      notebookIndexReader({ files, timeZone, maxChars: options.indexMaxChars }),
    ],
    tools: notebookTools({ files, marks, timeZone }),
  };
}

/** Index lines that a look back is given at most, in characters. */
const backgroundIndexMaxChars = 8000;

/** The tree for background work: the same tools and checks over other files, with what it read marked for itself alone. */
export function notebookOpener({
  writes,
  timeZone,
}: Pick<NotebookOptions, 'writes' | 'timeZone'>): OpenNotebook {
  return (store) => {
    const marks = new ReadMarks();
    const files = createNotebookFiles({ store, writes, marks, timeZone });
    const index = notebookIndexReader({ files, timeZone, maxChars: backgroundIndexMaxChars });
    return {
      tools: notebookTools({ files, marks, timeZone }),
      async read(path, context) {
        const opened = await files.open(path, context);
        if (opened.outcome === 'refused' || opened.text === undefined) return undefined;
        marks.markWhole(sessionOf(context), opened.file.key, opened.text);
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

function notebookTools({
  files,
  marks,
  timeZone,
}: {
  readonly files: NotebookFiles;
  readonly marks: ReadMarks;
  readonly timeZone: string;
}): readonly Tool[] {
  return [
    createMemoryListTool({ files }),
    createMemoryReadTool({ files, marks }),
    createMemoryWriteTool({ files, timeZone }),
    createMemoryPatchTool({ files }),
    createMemoryAppendTool({ files, timeZone }),
  ];
}
