import { describe, expect, it } from 'vitest';

import type { Place } from '../../../src/core/place.ts';
import { createWorkspace } from '../../../src/memory/notebook/workspace.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { publicPlace } from '../../support/incoming.ts';
import { asOwner, dmContext } from './notebook-fixtures.ts';

async function workspaceWith(files: Readonly<Record<string, string>>, servers = 1) {
  const store = new MemoryStore();
  for (const [path, text] of Object.entries(files)) await store.writeText(`workspace/${path}`, text);
  const logger = new RecordingLogger();
  const workspace = createWorkspace({ store, server: { hasSeveral: () => servers > 1 }, logger });
  const linesIn = async (place: Place) =>
    (await workspace.channelContext.sections(dmContext({ place }))).flatMap(({ lines }) => lines);
  return { store, logger, workspace, linesIn };
}

describe('the context of a channel [N8]', () => {
  const byId = `channels/${publicPlace.channelId}.md`;
  const thread: Place = {
    ...publicPlace,
    channelId: '200000000000000005',
    parentId: publicPlace.channelId,
    channelName: 'a-thread',
    parentName: 'general',
  };

  it('is there by name for every speaker, in the system part', async () => {
    const { workspace } = await workspaceWith({ 'channels/general.md': 'We are polite here.' });
    for (const speaker of [{}, asOwner]) {
      const context = dmContext({ ...speaker, place: publicPlace });
      expect(await workspace.channelContext.sections(context)).toMatchObject([
        { name: 'channel_context', slot: 'channel', lines: ['We are polite here.'], budget: 2000 },
      ]);
    }
  });

  it.each([
    ['taken by id before it is taken by name', publicPlace, { [byId]: 'ours', 'channels/general.md': 'x' }],
    ['the parent’s in a thread, by id', thread, { [byId]: 'ours' }],
    [
      'the parent’s in a thread, by name',
      thread,
      { 'channels/general.md': 'ours', 'channels/a-thread.md': 'x' },
    ],
  ])('is %s', async (_, place, files) => {
    expect(await (await workspaceWith(files)).linesIn(place)).toEqual(['ours']);
  });

  it("cannot be reached by a channel's name that is a path or another channel's id", async () => {
    const { linesIn } = await workspaceWith({
      'MEMORY.md': 'a secret',
      'channels/200000000000000007.md': 'of another channel',
    });
    const names = ['../MEMORY', '..', '.hidden', '200000000000000007', 'a/b', 'a\\b', 'a\u0000b', ''];
    for (const channelName of names) expect(await linesIn({ ...publicPlace, channelName })).toEqual([]);
  });

  it('is there by a bare name only while the bot is in one server, and the log says how to rename it', async () => {
    const files = { 'channels/general.md': 'x', [byId.replace('1.md', '7.md')]: 'y' };
    const { linesIn, logger, workspace } = await workspaceWith(files, 2);
    await workspace.checkAtStart();
    expect(await linesIn(publicPlace)).toEqual([]);
    const folder = 'workspace/channels';
    expect(logger.lines.map(({ data }) => data)).toEqual([
      {
        file: `${folder}/general.md`,
        renameTo: `${folder}/<server id>/general.md, or ${folder}/<channel id>.md`,
      },
    ]);
  });

  it('is the server’s own by the server’s id and the channel’s name, before a bare name', async () => {
    const { guildId = '' } = publicPlace;
    const files = { [`channels/${guildId}/general.md`]: 'ours', 'channels/general.md': 'anybody’s' };
    for (const [servers, elsewhere] of [
      [1, ['anybody’s']],
      [2, []],
    ] as const) {
      const { linesIn } = await workspaceWith(files, servers);
      for (const place of [publicPlace, thread]) expect(await linesIn(place)).toEqual(['ours']);
      expect(await linesIn({ ...publicPlace, guildId: '300000000000000009' })).toEqual(elsewhere);
    }
  });
});

describe('the identity text [N1]', () => {
  it('is what the owner wrote, an edit counts at once, and it stays when the disk fails', async () => {
    const { workspace, store, logger } = await workspaceWith({ 'SOUL.md': 'You are Claw.\n' });
    expect(await workspace.soul()).toBe('You are Claw.');
    await store.writeText('workspace/SOUL.md', 'You are Paw.');
    expect(await workspace.soul()).toBe('You are Paw.');
    store.readText = () => Promise.reject(new Error('EIO'));
    expect(await workspace.soul()).toBe('You are Paw.');
    expect(logger.warnings).toEqual(['the identity text could not be read']);
  });

  it('is a built-in one where the file is absent or blank', async () => {
    for (const [path, text] of [
      ['MEMORY.md', 'x'],
      ['SOUL.md', ' \n'],
    ] as const)
      expect(await (await workspaceWith({ [path]: text })).workspace.soul()).toContain('You are Discoclaw');
  });

  it('is warned of at a start where it is longer than what a prompt takes [P4]', async () => {
    const { workspace, logger } = await workspaceWith({ 'SOUL.md': 'x'.repeat(8001) });
    await workspace.checkAtStart();
    expect(logger.warnings).toEqual(['the identity text is too long, only its beginning is used']);
  });
});
