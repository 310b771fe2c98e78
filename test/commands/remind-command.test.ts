import { expect, it } from 'vitest';

import { createCommandSet } from '../../src/commands/commands.ts';
import { createRemindCommand, createRemindersCommand } from '../../src/commands/remind-command.ts';
import { createReminders } from '../../src/memory/reminders/reminders.ts';
import { createPersonSettings } from '../../src/memory/settings/person-settings.ts';
import { aliceId } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { plainWrites } from '../support/plain-writes.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { messageId } from '../support/sessions.ts';
import { dmPlace } from './harness.ts';

it('a reminder that comes every day and is put off comes once more, and its hour stays [RM5] [RM6]', async () => {
  let now = new Date('2026-11-26T08:00:00Z');
  const clock = () => now;
  const [store, writes, logger] = [new MemoryStore(), plainWrites(), recordingLogger()];
  const people = createPersonSettings({ store, writes, clock, logger });
  const { timeZoneOf } = people;
  const reminders = createReminders({ store, writes, clock, timeZoneOf, wakeAt: () => Promise.resolve() });
  const ports = { reminders, people, placeSettings: { isMemoryOff: () => Promise.resolve(false) } };
  const made = [createRemindCommand(ports), createRemindersCommand(ports)];
  const commands = createCommandSet(made, {}, logger);
  const say = async (words: string) => {
    const command = commands.parse(words);
    if (command === undefined) throw new Error(`No command: ${words}`);
    const speaker = { id: aliceId, name: 'Alice', isOwner: false };
    const request = { id: messageId(1), command, speaker, place: dmPlace, ephemeral: false };
    return (await commands.command({ ...request, at: now.toISOString(), work: { userId: aliceId } })).text;
  };
  const moments = async () => (await reminders.list(aliceId)).map(({ at }) => at.slice(0, 16));

  expect(await say('!remind every day at 9: stand up')).toContain('"stand up"');
  expect(await moments()).toEqual(['2026-11-26T09:00']);
  const [daily] = await reminders.list(aliceId);
  now = new Date('2026-11-26T09:00:00Z');
  await reminders.came({ userId: aliceId }, daily?.id ?? '', true);
  expect(await say(`!reminders later ${daily?.id} in 10 minutes`)).toContain('It comes');
  expect(await moments()).toEqual(['2026-11-26T09:10', '2026-11-27T09:00']);
});
