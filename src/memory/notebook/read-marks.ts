import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

import { sessionName } from '../../core/place.ts';
import type { SessionKey } from '../../core/place.ts';

/** Files remembered as read, over all sessions; one that falls out has to be read again. */
const keptMarks = 5000;

interface Mark {
  readonly hash: string;
  /** Characters from the beginning that were read. */
  readonly upTo: number;
  readonly isWhole: boolean;
}

/** What the model knows of a file: nothing; a part; all of it; or all of a former state [M4]. */
export type Knowledge = 'unread' | 'partly' | 'changed' | 'whole';

/** Which state of each file the model has seen in a session. */
export class ReadMarks {
  readonly #marks = new LRUCache<string, Mark>({ max: keptMarks });

  /** The model has all of the text before it, or wrote it. */
  markWhole(session: SessionKey, key: string, text: string): void {
    this.#marks.set(nameOf(session, key), { hash: hashOf(text), upTo: text.length, isWhole: true });
  }

  /** The model was given the characters from `from` up to `to`. What was skipped before them stays unread. */
  markPart(session: SessionKey, key: string, text: string, from: number, to: number): void {
    const hash = hashOf(text);
    const earlier = this.#marks.get(nameOf(session, key));
    const before = earlier?.hash === hash ? earlier.upTo : 0;
    const upTo = from <= before ? Math.max(before, to) : before;
    this.#marks.set(nameOf(session, key), { hash, upTo, isWhole: upTo >= text.length });
  }

  knowledgeOf(session: SessionKey, key: string, text: string): Knowledge {
    const mark = this.#marks.get(nameOf(session, key));
    if (mark === undefined) return 'unread';
    if (mark.hash !== hashOf(text)) return 'changed';
    return mark.isWhole ? 'whole' : 'partly';
  }
}

function nameOf(session: SessionKey, key: string): string {
  return `${sessionName(session)} ${key}`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
