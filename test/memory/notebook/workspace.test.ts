import { describe, expect, it } from 'vitest';

import type { Section } from '../../../src/core/section.ts';
import type { Place } from '../../../src/core/place.ts';
import type { TurnContext } from '../../../src/core/turn-context.ts';
import { createWorkspace } from '../../../src/memory/notebook/workspace.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { aliceId, publicPlace } from '../../support/incoming.ts';

function contextIn(place: Place, isOwner: boolean): TurnContext {
  const now = new Date('2026-01-15T12:00:00Z');
  return {
    speaker: { id: aliceId, name: 'Alice', isOwner },
    place,
    messages: [{ id: '400000000000000001', text: 'hello', at: now.toISOString(), attachments: [] }],
    now,
    hasThirdPartyText: false,
    work: { userId: aliceId },
  };
}

async function workspaceWith(files: Readonly<Record<string, string>>, servers = 1) {
  const store = new MemoryStore();
  for (const [path, text] of Object.entries(files)) await store.writeText(`workspace/${path}`, text);
  const logger = new RecordingLogger();
  const workspace = createWorkspace({ store, server: { hasSeveral: () => servers > 1 }, logger });
  return {
    store,
    logger,
    workspace,
    read: (context: TurnContext): Promise<readonly Section[]> => workspace.channelContext.sections(context),
  };
}

describe('the context of a channel [N8]', () => {
  const thread: Place = {
    ...publicPlace,
    channelId: '200000000000000005',
    parentId: publicPlace.channelId,
    channelName: 'a-thread',
    parentName: 'general',
  };

  it('is there by name for every speaker, in the system part', async () => {
    const { read } = await workspaceWith({ 'channels/general.md': 'We are polite here.' });
    for (const isOwner of [true, false])
      expect(await read(contextIn(publicPlace, isOwner))).toMatchObject([
        { name: 'channel_context', slot: 'channel', lines: ['We are polite here.'], budget: 2000 },
      ]);
  });

  it('is taken by id before it is taken by name', async () => {
    const { read } = await workspaceWith({
      [`channels/${publicPlace.channelId}.md`]: 'by id',
      'channels/general.md': 'by name',
    });
    expect((await read(contextIn(publicPlace, false)))[0]?.lines).toEqual(['by id']);
  });

  it("is the parent's in a thread, never one named like the thread", async () => {
    const { read } = await workspaceWith({
      'channels/general.md': 'parent',
      'channels/a-thread.md': 'thread',
    });
    expect((await read(contextIn(thread, false)))[0]?.lines).toEqual(['parent']);
    const byId = await workspaceWith({ [`channels/${publicPlace.channelId}.md`]: 'parent, by id' });
    expect((await byId.read(contextIn(thread, false)))[0]?.lines).toEqual(['parent, by id']);
    const { parentName: _, ...unnamedParent } = thread;
    expect(await read(contextIn(unnamedParent, false))).toEqual([]);
  });

  it("cannot be reached by a channel's name that is a path or another channel's id", async () => {
    const { read } = await workspaceWith({
      'MEMORY.md': 'a secret',
      'channels/200000000000000007.md': 'of another channel',
    });
    const names = ['../MEMORY', '..', '.hidden', '200000000000000007', 'a/b', 'a\\b', 'a\u0000b', ''];
    for (const channelName of names)
      expect(await read(contextIn({ ...publicPlace, channelName }, false))).toEqual([]);
  });

  it('is there by a bare name only while the bot is in one server, and the log says how to rename it', async () => {
    const folder = 'workspace/channels';
    const { read, logger, workspace } = await workspaceWith(
      {
        'channels/general.md': 'of another server',
        'channels/dev.md': 'x',
        'channels/200000000000000007.md': 'y',
      },
      2,
    );
    await workspace.checkAtStart();
    expect(await read(contextIn(publicPlace, false))).toEqual([]);
    expect(logger.lines.map(({ data }) => data)).toEqual(
      ['dev', 'general'].map((name) => ({
        file: `${folder}/${name}.md`,
        renameTo: `${folder}/<server id>/${name}.md, or ${folder}/<channel id>.md`,
      })),
    );
  });

  it('is the server’s own by the server’s id and the channel’s name, before a bare name', async () => {
    const { guildId = '' } = publicPlace;
    const files = { [`channels/${guildId}/general.md`]: 'ours', 'channels/general.md': 'anybody’s' };
    for (const servers of [1, 2]) {
      const { read } = await workspaceWith(files, servers);
      expect((await read(contextIn(publicPlace, false)))[0]?.lines).toEqual(['ours']);
      expect((await read(contextIn(thread, false)))[0]?.lines).toEqual(['ours']);
      expect(await read(contextIn({ ...publicPlace, guildId: '300000000000000009' }, false))).toHaveLength(
        servers === 1 ? 1 : 0,
      );
    }
  });
});

describe('the identity text [N1]', () => {
  it('is what the owner wrote, and an edit counts at once', async () => {
    const { workspace, store } = await workspaceWith({ 'SOUL.md': 'You are Claw.\n' });
    expect(await workspace.soul()).toBe('You are Claw.');
    await store.writeText('workspace/SOUL.md', 'You are Paw.');
    expect(await workspace.soul()).toBe('You are Paw.');
  });

  it('is a built-in one where the file is absent or blank', async () => {
    expect(await (await workspaceWith({})).workspace.soul()).toContain('You are Discoclaw');
    expect(await (await workspaceWith({ 'SOUL.md': ' \n' })).workspace.soul()).toContain('You are Discoclaw');
  });

  it('is warned of at a start where it is longer than what a prompt takes [P4]', async () => {
    const { workspace, logger } = await workspaceWith({ 'SOUL.md': 'x'.repeat(8001) });
    await workspace.checkAtStart();
    expect(logger.warnings).toEqual(['the identity text is too long, only its beginning is used']);
  });

  it('stays the last one read when the disk fails, with a warning', async () => {
    const { workspace, logger, store } = await workspaceWith({ 'SOUL.md': 'You are Claw.' });
    await workspace.soul();
    store.readText = () => Promise.reject(new Error('EIO'));
    expect(await workspace.soul()).toBe('You are Claw.');
    expect(logger.warnings).toEqual(['the identity text could not be read']);
  });
});
