import { utimesSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { builtProgram } from '../support/built-program.ts';
import { eventually } from '../support/eventually.ts';
import { openStage, type Stage } from './stage.ts';

const failingDisk = fileURLToPath(new URL('failing-disk.ts', import.meta.url));

const remember = (stage: Stage, text: string, place = '#general') =>
  stage.ask('alice', place, `!memory remember ${text}`);
const show = async (stage: Stage): Promise<string> =>
  (await stage.ask('alice', '#general', '!memory show')).text;
const itemsFile = (stage: Stage): string => `data/users/${stage.info.people['alice'] ?? ''}/durable.json`;

const openNumbered = () => openStage({ model: (_, index) => ({ text: `Answer ${index}.` }) });

/** Starts the bot on a disk that fails as the file `failing-disk` says. */
const onFailingDisk = (stage: Stage) =>
  stage.startBuilt({
    NODE_OPTIONS: `--import ${builtProgram(failingDisk)}`,
    FAILING_DISK: 'failing-disk',
  });

describe.concurrent('a disk [E3]', () => {
  it.each(['full', 'read-only'])(
    'that is %s costs what was to be saved, nothing that was, and not the conversation',
    async (state) => {
      await using stage = await openNumbered();
      await onFailingDisk(stage);
      expect((await remember(stage, 'I drink tea')).text).toContain('Remembered: "I drink tea"');
      await stage.ask('alice', '#general', 'Hello');
      const good = await stage.readFile(itemsFile(stage));
      const sessionFolder = join('data/sessions', stage.info.channels['general'] ?? '');
      const log = join(sessionFolder, stage.info.people['alice'] ?? '', 'messages.jsonl');
      await eventually(async () => expect(await stage.readFile(log)).toContain('Answer 0.'));
      const goodLog = await stage.readFile(log);

      await stage.writeFile('failing-disk', state);
      // Twice, since a full disk does not fail in the same way each time.
      for (const text of ['I drink coffee', 'I drink water']) {
        expect((await remember(stage, text)).text).toMatch(
          /^I can't read or save your memory right now, so this may not have worked\./,
        );
      }
      expect((await stage.ask('alice', '#general', 'Can we still talk?')).text).toBe('Answer 1.');
      expect((await stage.ask('alice', '#general', 'And now?')).text).toBe('Answer 2.');
      expect(await show(stage)).toContain('Durable memory (1 item):');
      expect(await stage.readFile(itemsFile(stage))).toBe(good);
      expect(await stage.readFile(log)).toContain(goodLog);

      await rm(join(stage.folder, 'failing-disk'));
      expect((await remember(stage, 'I drink juice')).text).toContain('Remembered: "I drink juice"');
      await stage.ask('alice', '#general', 'Is it well again?');
      const lines = (await stage.readFile(log)).trimEnd().split('\n');
      for (const line of lines) expect(() => void JSON.parse(line)).not.toThrow();
      expect(lines.join('\n')).toContain('Is it well again?');
      expect(await stage.readFile(itemsFile(stage))).toContain('I drink juice');
      // Nothing that the disk kept from being written is left under a temporary name, which begins with a dot.
      await eventually(async () => {
        const files = await readdir(join(stage.folder, 'data/users', stage.info.people['alice'] ?? ''));
        expect(files.filter((name) => name.startsWith('.'))).toEqual([]);
        expect(files).toContain('durable.json.bak');
      });
      await stage.killBot();
      // Nor does a full disk keep it from starting [S2].
      await stage.writeFile('failing-disk', 'full');
      await (state === 'full' ? onFailingDisk(stage) : stage.startBot());
      const shown = await show(stage);
      for (const drink of ['tea', 'juice']) expect(shown).toContain(`I drink ${drink}`);
      expect(shown).not.toContain('coffee');
      expect((await stage.ask('alice', '#general', 'Are you back?')).text).toMatch(/^Answer/u);
    },
  );
});

it('a volume without rights, links and syncs of folders is used all the same, with one warning a start [S2]', async () => {
  await using stage = await openNumbered();
  await stage.writeFile('failing-disk', 'odd');
  await onFailingDisk(stage);
  expect((await remember(stage, 'I drink tea')).text).toContain('Remembered: "I drink tea"');
  expect((await remember(stage, 'I drink juice')).text).toContain('Remembered: "I drink juice"');
  expect((await stage.ask('alice', '#general', 'Hello')).text).toBe('Answer 0.');
  await stage.stopBot();
  expect(
    stage
      .bot()
      .output()
      .match(/"lacks":\[.*?\]/gu),
  ).toEqual(['"lacks":["file permissions","syncing folders"]']);
  await onFailingDisk(stage);
  const shown = await show(stage);
  for (const drink of ['tea', 'juice']) expect(shown).toContain(`I drink ${drink}`);
});

it('a file of items that somebody damages is gone without for two seconds, then set aside, its person is told once, and what it held before is used [S4] [S5]', async () => {
  await using stage = await openNumbered();
  for (const text of ['I drink tea', 'I drink juice']) await remember(stage, text);
  const good = await stage.readFile(itemsFile(stage));
  const damaged = good.replace(/\}\s*\]/u, '},]');
  await stage.writeFile(itemsFile(stage), damaged);
  // Somebody saves it again and again, however slow the machine.
  const file = join(stage.folder, itemsFile(stage));
  const saving = setInterval(() => utimesSync(file, new Date(), new Date()), 100);
  expect((await stage.ask('alice', '#general', 'What do I drink?')).text).toBe('Answer 0.');
  expect(stage.model.requests.at(-1)?.raw).not.toContain('I drink tea');
  expect(await show(stage)).toMatch(/^I can't read or save your memory/u);
  clearInterval(saving);
  await eventually(async () => expect(await show(stage)).toContain('I drink tea'));
  const told = (await stage.sandbox.messages({ in: '#general', from: 'bot' })).filter(({ text }) =>
    text.includes('was set aside'),
  );
  expect(told.map(({ text }) => text)).toEqual([
    expect.stringMatching(
      /-# ⚠️ A file of yours, `durable\.json`, could not be read and was set aside .*I use the copy from/u,
    ),
  ]);
  expect((await remember(stage, 'I drink water')).text).toContain('Remembered');
  const shown = await show(stage);
  for (const drink of ['tea', 'water']) expect(shown).toContain(`I drink ${drink}`);
  expect(shown).not.toContain('set aside');
  const kept = await readdir(join(stage.folder, 'data/quarantine'), { recursive: true });
  const copy = kept.find((path) => /durable\.json\.\d{8}T\d+Z/.test(path));
  expect(await stage.readFile(join('data/quarantine', copy ?? ''))).toBe(damaged);
  expect(stage.bot().output()).toContain('durable.json');
});
