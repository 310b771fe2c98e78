import type { Store } from '../../core/store.ts';
import { isSnowflake } from '../../core/snowflake.ts';
import { parseNote } from '../rolling/summary-note.ts';
import { sessionsFolder } from '../session-log/session-keys.ts';
import type { SessionLog } from '../session-log/session-log.ts';
import { createFileSource } from './file-source.ts';
import type { RecallFile } from './file-source.ts';
import type { RecallSource } from './recall-source.ts';
import { createSessionReaches, narrowed } from './session-reaches.ts';

/** The notes and replaced summaries in the `detail/` folders of a person's sessions [W2]. */
export function createDetailSource({
  store,
  log,
}: {
  readonly store: Pick<Store, 'list' | 'readText'>;
  readonly log: Pick<SessionLog, 'since'>;
}): RecallSource {
  const reachOf = createSessionReaches(log);

  function fileOf(path: string, wanted: string): RecallFile | undefined {
    const [channelId = '', userId = '', folder, ...rest] = path.split('/');
    if (userId !== wanted || !isSnowflake(channelId) || folder !== 'detail') return undefined;
    if (rest.length === 0 || !path.endsWith('.md')) return undefined;
    return {
      key: `${sessionsFolder}/${path}`,
      path: ['detail', ...rest].join('/'),
      channelId,
      async reach(text) {
        const ofSession = await reachOf({ channelId, userId });
        const note = parseNote(text);
        return note === undefined ? ofSession : narrowed(ofSession, note);
      },
    };
  }

  return createFileSource({
    name: 'detail',
    store,
    files: async ({ userId }) =>
      (await store.list(sessionsFolder)).flatMap(({ path }) => fileOf(path, userId) ?? []),
  });
}
