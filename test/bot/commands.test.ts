import { describe, expect, it } from 'vitest';

import { createCommands, registeredCommands } from '../../src/bot/commands.ts';
import { layersAlone } from '../support/layers-alone.ts';
import { readConfig } from '../../src/config/config.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import { createOutbox } from '../../src/turn/outbox.ts';
import { closedEdges, oneModel } from '../support/closed-edges.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { oneServer } from '../support/servers.ts';

function commandsWith(environment: Readonly<Record<string, string>>) {
  const { config } = readConfig({ DISCOCLAW_TIMEZONE: 'UTC', ...environment });
  const store = new MemoryStore();
  const logger = recordingLogger();
  const recent = new RecentChanges();
  return createCommands(config, layersAlone(config, { store, recent, server: oneServer, logger }), {
    discord: closedEdges,
    modelChoice: oneModel,
    ownerIds: [],
    tellOfChannel: () => Promise.resolve(''),
    outbox: createOutbox({ store, changes: recent }),
    logger,
    readStatus: () => Promise.reject(new Error('nobody asks')),
    pageLink: () => Promise.resolve(undefined),
  });
}

describe('the commands as configured', () => {
  it.each(['true', 'false'])(
    'are those that the doctor asks Discord for, with memory commands %s [O1]',
    (isOn) => {
      const commands = commandsWith({ DISCOCLAW_MEMORY_COMMANDS_ENABLED: isOn });
      const { definitions, menuNames } = registeredCommands({ commandsEnabled: isOn === 'true' });
      expect(definitions).toEqual(commands.definitions);
      expect(menuNames).toEqual(commands.menuNames);
    },
  );

  it('have neither /memory nor the entries of menus where memory commands are switched off', () => {
    const on = commandsWith({});
    expect(on.definitions.map(({ name }) => name)).toContain('memory');
    expect(on.menuNames).toHaveLength(4);
    const off = commandsWith({ DISCOCLAW_MEMORY_COMMANDS_ENABLED: 'false' });
    expect(off.definitions.map(({ name }) => name)).not.toContain('memory');
    expect(off.menuNames).toEqual(['Remind me about this']);
    expect(off.parse('!memory show')).toBeUndefined();
  });
});
