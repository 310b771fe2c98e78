import type { SourceName } from './recall-unit.ts';
import type { Segment, SegmentReaders } from './segment.ts';

/** Whose memory is searched. */
export interface RecallPerson {
  readonly userId: string;
  /** The bot's owner, whose notebook is the workspace [N1]. */
  readonly isOwner: boolean;
}

/** What one source holds of one person. */
export interface RecallShelf {
  /**
   * All of it as it stands now, oldest first: never older than the last acknowledged write. Called by one search at a time. Rejects as the
   * store does.
   */
  segments(): Promise<readonly Segment[]>;
}

/** A place that passages come from. */
export interface RecallSource {
  readonly name: SourceName;
  /** An empty shelf of one person, filled at first use. It may be dropped at any time. */
  open(person: RecallPerson, readers: SegmentReaders): RecallShelf;
}
