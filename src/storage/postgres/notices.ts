import { randomUUID } from 'node:crypto';

import type { Notice, Notices } from '../../core/processes.ts';
import type { Session } from './session.ts';

/** What processes tell each other, by LISTEN and NOTIFY [X3]. */
export function createNotices({ notices }: Pick<Session, 'notices'>): Notices {
  const self = randomUUID();
  return {
    tell: (notice) => void notices.tell(`${self}${JSON.stringify(notice)}`),
    listen(listener) {
      notices.listen((text) => {
        if (text.startsWith(self)) return;
        const notice = parsed(text.slice(self.length));
        if (notice !== undefined) listener(notice);
      });
    },
  };
}

/** Of another version of the bot, it may be of a kind that this one does not know. */
function parsed(json: string): Notice | undefined {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `tell` sends, and kinds are looked at before they are used
    const notice = JSON.parse(json) as Notice;
    return ['erased', 'restored', 'stored'].includes(notice.kind) ? notice : undefined;
  } catch {
    return undefined;
  }
}
