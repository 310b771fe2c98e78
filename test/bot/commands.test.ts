import { describe, expect, it } from 'vitest';

import { createCommands, registeredCommands } from '../../src/bot/commands.ts';
import { layersAlone } from '../support/layers-alone.ts';
import { readConfig } from '../../src/config/config.ts';
import { durableDocumentKind, emptyDurableDocument } from '../../src/memory/durable/document.ts';
import { rememberItem } from '../../src/memory/durable/remember-item.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import { createOutbox } from '../../src/turn/outbox.ts';
import { closedEdges, oneModel } from '../support/closed-edges.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { oneServer } from '../support/servers.ts';
import { ScriptedModel } from '../support/scripted-model.ts';

/** The commands as configured, for Alice, of whom one item is stored. */
async function commandsWith(environment: Readonly<Record<string, string>>) {
  const { config } = readConfig({ DISCOCLAW_TIMEZONE: 'UTC', ...environment });
  const store = new MemoryStore();
  const now = new Date('2026-01-15T10:00:00Z');
  const item = {
    text: 'I keep bees',
    place: publicPlace,
    messageId: '400000000000000001',
    type: 'manual',
  } as const;
  await store.update(
    `users/${aliceId}/durable.json`,
    durableDocumentKind,
    (current = emptyDurableDocument) => rememberItem(current, aliceId, item, 10, now).document,
  );
  const logger = recordingLogger();
  const recent = new RecentChanges();
  const model = new ScriptedModel(() => '');
  const memory = layersAlone(config, {
    store,
    model,
    recent,
    server: oneServer,
    clock: () => now,
    logger,
  });
  const commands = createCommands(config, memory, {
    discord: closedEdges,
    modelChoice: oneModel,
    ownerIds: [],
    tellOfChannel: () => Promise.resolve(''),
    outbox: createOutbox({ store, changes: recent }),
    logger,
    readStatus: () => Promise.reject(new Error('nobody asks')),
    pageLink: () => Promise.resolve(undefined),
  });
  return {
    commands,
    search: async (query: string): Promise<string> => {
      const { text } = await commands.command({
        id: '400000000000000009',
        command: { name: 'memory', subcommand: 'search', options: { query } },
        speaker: { id: aliceId, name: 'Alice', isOwner: false },
        place: publicPlace,
        ephemeral: true,
        at: now.toISOString(),
        work: { userId: aliceId },
      });
      return text;
    },
  };
}

describe('the commands as configured', () => {
  it('search what is remembered, unless searching or durable memory is switched off', async () => {
    const on = await commandsWith({});
    expect(await on.search('bees')).toContain('I keep bees');
    const noRecall = await commandsWith({ DISCOCLAW_RECALL_ENABLED: 'false' });
    expect(await noRecall.search('bees')).toContain('switched off');
    const noItems = await commandsWith({ DISCOCLAW_DURABLE_MEMORY_ENABLED: 'false' });
    expect(await noItems.search('bees')).toContain('I found nothing about "bees".');
  });

  it.each(['true', 'false'])(
    'are those that the doctor asks Discord for, with memory commands %s [O1]',
    async (isOn) => {
      const { commands } = await commandsWith({ DISCOCLAW_MEMORY_COMMANDS_ENABLED: isOn });
      const { definitions, menuNames } = registeredCommands({ commandsEnabled: isOn === 'true' });
      expect(definitions).toEqual(commands.definitions);
      expect(menuNames).toEqual(commands.menuNames);
    },
  );

  it('have neither /memory nor the entries of menus where memory commands are switched off', async () => {
    const { commands: on } = await commandsWith({});
    expect(on.definitions.map(({ name }) => name)).toContain('memory');
    expect(on.menuNames).toHaveLength(3);
    const { commands: off } = await commandsWith({ DISCOCLAW_MEMORY_COMMANDS_ENABLED: 'false' });
    expect(off.definitions.map(({ name }) => name)).not.toContain('memory');
    expect(off.menuNames).toEqual([]);
    expect(off.parse('!memory show')).toBeUndefined();
  });
});
