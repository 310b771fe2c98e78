import type { Store } from '../../core/store.ts';
import type { RecallPerson, RecallShelf, RecallSource } from './recall-source.ts';
import type { Reach, RecallUnit, SourceName } from './recall-unit.ts';
import { Segment } from './segment.ts';
import type { SegmentReaders } from './segment.ts';

/** A markdown file that a person's recall searches. */
export interface RecallFile {
  /** The store's key. */
  readonly key: string;
  /** As the memory tools name it, and as it is cited. */
  readonly path: string;
  /** The session that it belongs to, where it belongs to one. */
  readonly channelId?: string;
  /** Who may be told what it says. */
  reach(text: string): Promise<Reach>;
}

export interface FileSourceOptions {
  readonly name: SourceName;
  readonly store: Pick<Store, 'readText'>;
  /** The files there are now. Asked at every search. */
  readonly files: (person: RecallPerson) => Promise<readonly RecallFile[]>;
}

/** Files that people and model write: read at every search through the store, whose cache makes that cheap, and indexed again when changed [S5]. */
export function createFileSource({ name, store, files }: FileSourceOptions): RecallSource {
  return { name, open: (person, readers) => openShelf(person, readers, store, files) };
}

interface Shelved {
  readonly text: string;
  readonly reach: Reach;
  readonly segment: Segment;
}

function openShelf(
  person: RecallPerson,
  readers: SegmentReaders,
  store: FileSourceOptions['store'],
  files: FileSourceOptions['files'],
): RecallShelf {
  let shelved = new Map<string, Shelved>();

  async function shelve(file: RecallFile): Promise<readonly (readonly [string, Shelved])[]> {
    const text = await store.readText(file.key);
    if (text === undefined) return [];
    const reach = await file.reach(text);
    const known = shelved.get(file.key);
    const isSame =
      known?.text === text &&
      known.reach.visibility === reach.visibility &&
      known.reach.homeId === reach.homeId;
    return [[file.key, isSame ? known : { text, reach, segment: indexed(readers, file, text, reach) }]];
  }

  return {
    async segments() {
      const present = await Promise.all((await files(person)).map(shelve));
      shelved = new Map(present.flat());
      return [...shelved.values()].map(({ segment }) => segment);
    },
  };
}

function indexed(readers: SegmentReaders, file: RecallFile, text: string, reach: Reach): Segment {
  const { path, channelId } = file;
  const at = /^created: (?<at>\d{4}-\d{2}-\d{2}T\S+)$/mu.exec(text)?.groups?.['at'];
  const units = contentLines(text).map(({ content, line }): RecallUnit => ({
    text: content,
    author: '',
    ...(at === undefined ? {} : { at }),
    isBot: false,
    reach,
    stretch: 0,
    reference: { kind: 'line', path, line, ...(channelId === undefined ? {} : { channelId }) },
  }));
  return new Segment(readers, units, readers.terms.read(path.replace(/\.md$/u, '')));
}

/** The lines that say something, numbered from 1: comments, where META stands, and empty lines are left out. */
function contentLines(text: string): readonly { readonly content: string; readonly line: number }[] {
  const withoutComments = text.replace(/<!--[\s\S]*?-->/gu, (comment) => comment.replace(/[^\n]/gu, ''));
  return withoutComments.split('\n').flatMap((content, index) => {
    const said = content.trim();
    return said === '' ? [] : [{ content: said, line: index + 1 }];
  });
}
