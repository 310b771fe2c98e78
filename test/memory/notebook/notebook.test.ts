import { expect, it } from 'vitest';

import { createNotebook } from '../../../src/memory/notebook/notebook.ts';
import { aliceId } from '../../support/incoming.ts';
import { notebookSettings } from '../../support/layer-settings.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { openSessions, session } from '../../support/sessions.ts';

it('goes on with its work after a turn where one part of it failed, and says so', async () => {
  const { store, writes, states, log } = openSessions();
  const done: string[] = [];
  const logger = recordingLogger();
  const notebook = createNotebook({
    settings: notebookSettings,
    store,
    writes,
    states,
    log,
    logger,
    timeZone: 'UTC',
    background: [
      () => Promise.reject(new Error('no reflection')),
      ({ channelId }) => Promise.resolve(done.push(channelId)),
    ],
  });

  await notebook.fold?.(aliceId, [session], new AbortController().signal);

  expect(logger.warnings).toEqual(['work on a notebook failed and is tried again after the next turn']);
  expect(done).toEqual([session.channelId]);
});
