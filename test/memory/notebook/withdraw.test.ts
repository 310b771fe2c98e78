import { createOneProcess } from '../../../src/core/processes.ts';
import { noAnswers } from '../../support/layers-alone.ts';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { StoreError } from '../../../src/core/errors.ts';
import type { Store } from '../../../src/core/store.ts';
import { distinctiveTerms, saysWithdrawn } from '../../../src/memory/notebook/withdraw.ts';
import { linesWithout } from '../../../src/memory/withheld.ts';
import { createChangeLedger } from '../../../src/memory/changes.ts';
import { createNotebook } from '../../../src/memory/notebook/notebook.ts';
import { createFileStore } from '../../../src/storage/files/store.ts';
import { aliceId, generalId, publicPlace } from '../../support/incoming.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { dmPlace, openSessions, silent } from '../../support/sessions.ts';
import { notebookSettings } from '../../support/layer-settings.ts';

/** Sessions whose changes reach the notes on them, as the ledger has them follow. */
function setUp<S extends Store>(store: S) {
  const sessions = openSessions(store);
  const { writes, states, recent, log } = sessions;
  const logger = recordingLogger();
  const notebook = createNotebook({
    settings: notebookSettings,
    store,
    writes,
    states,
    log,
    logger,
    timeZone: 'UTC',
  });
  const ledger = createChangeLedger({
    store,
    recent,
    writes,
    log,
    layers: [log, notebook],
    answers: noAnswers,
    mayStore: () => Promise.resolve(true),
    placeOf: () => Promise.resolve(publicPlace),
    changed: () => {},
    endWork: () => {},
    noteErased: () => Promise.resolve(),
    processes: createOneProcess(),
    clock: sessions.clock,
    expireAt: () => Promise.resolve(),
    logger,
  });
  const changing = {
    ...log,
    remove: (channelId: string, messageIds: readonly string[]) =>
      ledger.record({ kind: 'deleted', channelId, messageIds }),
    edit: (channelId: string, messageId: string, text: string, authorId: string) =>
      ledger.record({ kind: 'edited', channelId, messageId, text, authorId }),
  };
  return { ...sessions, store, log: changing, logger };
}

const general = `sessions/${generalId}/${aliceId}`;
const dm = `sessions/${dmPlace.channelId}/${aliceId}`;

describe('notes on messages that were deleted or edited [G5]', () => {
  it('lose what only these said, in overview and details, and nothing of other sessions', async () => {
    const { store, turn, log } = setUp(new MemoryStore());
    const [id = ''] = await turn('I breed axolotls', 'Axolotls are amphibians.');
    await turn('I keep bees', 'Fine.');
    await store.writeText(`${general}/overview.md`, '## Known Context\n- Breeds axolotls\n- Keeps bees\n');
    await store.writeText(`${general}/detail/pets.md`, '# Pets\n- Amphibians at home\n');
    await store.writeText(`${dm}/overview.md`, '- Breeds axolotls\n');
    await log.remove(generalId, [id]);
    expect(await store.readText(`${general}/overview.md`)).toBe('## Known Context\n- Keeps bees\n');
    expect(await store.readText(`${general}/detail/pets.md`)).toBeUndefined();
    expect(await store.readText(`${dm}/overview.md`)).toBe('- Breeds axolotls\n');
  });

  it('lose it on disk too, also where only the last good copy of a note still held it', async () => {
    const root = await mkdtemp(join(tmpdir(), 'discoclaw-notes-'));
    const folders = { dataDir: join(root, 'data'), workspaceDir: join(root, 'workspace') };
    const files = await createFileStore({ ...folders, clock: () => new Date(), logger: silent });
    try {
      const { store, turn, log } = setUp(files);
      const [id = ''] = await turn('I breed axolotls', 'Oh.');
      for (const text of ['- Breeds axolotls\n', '- Wants tea\n'])
        await store.writeText(`${general}/overview.md`, text);
      for (const text of ['- Axolotls\n', '- Axolotls\n- Bees\n'])
        await store.writeText(`${general}/detail/pets.md`, text);
      for (const text of ['- Axolotls\n', '- Tea\n'])
        await store.writeText(`${general}/detail/food.md`, text);
      await log.remove(generalId, [id]);
      const found = await readdir(root, { recursive: true, withFileTypes: true });
      const written = found.filter((entry) => entry.isFile());
      const texts = await Promise.all(
        written.map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8')),
      );
      expect(texts.join('\n')).toContain('Bees');
      expect(texts.join('\n')).not.toMatch(/axolotl/iu);
    } finally {
      await files.close();
      await rm(root, { recursive: true });
    }
  });

  it('keep what is said still: by another message, or by the edited one', async () => {
    const { store, turn, log } = setUp(new MemoryStore());
    const [first = ''] = await turn('I breed axolotls in Oslo', 'Fine.');
    await turn('The axolotl is hungry', 'Oh.');
    const overview = '## Known Context\n- Breeds axolotls\n- Lives in Oslo\n';
    await store.writeText(`${general}/overview.md`, overview);
    await log.edit(generalId, first, 'I breed fish in Oslo', aliceId);
    expect(await store.readText(`${general}/overview.md`)).toBe(
      '## Known Context\n- Breeds axolotls\n- Lives in Oslo\n',
    );
    await log.edit(generalId, first, 'I breed fish in Riga', aliceId);
    expect(await store.readText(`${general}/overview.md`)).toBe('## Known Context\n- Breeds axolotls\n');
  });

  it('are looked through in the person’s notebook after a DM, and only then', async () => {
    const { store, turn, log } = setUp(new MemoryStore());
    const facts = `users/${aliceId}/notebook/facts/user.md`;
    const text = '# User\n> Summary: pets\n\n- Breeds axolotls\n- Project Apollo ends in May\n';
    await store.writeText(facts, text);
    const [inPublic = ''] = await turn('I breed axolotls', 'Fine.', publicPlace);
    await log.remove(generalId, [inPublic]);
    expect(await store.readText(facts)).toBe(text);
    const [inDm = ''] = await turn('I breed axolotls for a project', 'Fine.', dmPlace);
    await log.remove(dmPlace.channelId, [inDm]);
    expect(await store.readText(facts)).toBe(text.replace('- Breeds axolotls\n', ''));
  });

  it('do not keep a deleted message in the log where they cannot be written', async () => {
    const { store, turn, log, logger } = setUp(new MemoryStore());
    const [id = ''] = await turn('I breed axolotls', 'Fine.');
    await store.writeText(`${general}/overview.md`, '- Breeds axolotls\n- Wants tea\n');
    store.writeText = () => Promise.reject(new StoreError('disk full', 'overview'));
    await log.remove(generalId, [id]);
    expect(logger.errors).toEqual(['a change could not be applied to a layer of memory']);
    expect(await log.turnsAfter({ channelId: generalId, userId: aliceId }, 0)).toEqual([]);
  });
});

/** A note without the lines that say what was withdrawn. */
function withoutWithdrawnLines(
  note: string,
  gone: ReadonlySet<string>,
  mostlyOf?: ReadonlySet<string>,
): string | undefined {
  return linesWithout(note, (line) => saysWithdrawn(line, gone, mostlyOf));
}

describe('a note whose messages were taken back', async () => {
  const gone = new Set(distinctiveTerms('axolotls'));

  it('is gone if only headings would be left', async () => {
    const note = '# Axolotls\n> Summary: what they eat\n\n## Known Context\n- An axolotl eats worms\n';
    expect(withoutWithdrawnLines(note, gone)).toBeUndefined();
  });

  it('keeps the overview’s own headings, dates and the mark of its audience', async () => {
    const words = new Set(distinctiveTerms('the task of 2026 is here, and so is the home'));
    const note =
      '## Current Task\n- Date: 2026-01-15\n- Wants tea\n\n<!--\nMETA:\nvisibility: here\nhome: 200000000000000001\n-->\n';
    expect(withoutWithdrawnLines(note, words)).toBe(note);
  });

  it('keeps what is about something else where a person may have written it', async () => {
    const mostlyOf = new Set(distinctiveTerms('I breed axolotls in my project'));
    const lines = [
      '- Project Apollo: deadline in May, with Bob',
      '- The axolotl tank of the museum in Riga is open on Mondays',
    ];
    const told = ['- Breeds axolotls', '- Alice breeds her axolotls'];
    const note = [...lines, ...told].join('\n');
    expect(withoutWithdrawnLines(note, gone, mostlyOf)).toBe(lines.join('\n'));
    const hers = new Set(distinctiveTerms('project'));
    expect(withoutWithdrawnLines(lines.join('\n'), hers, mostlyOf)).toBe(lines.join('\n'));
  });

  it('takes out a summary, which is never a person’s, with one withdrawn word among others', async () => {
    const mostlyOf = new Set(distinctiveTerms('I breed axolotls'));
    const rest = '# Pets\n\n- Has a dog called Rex';
    const note = rest.replace('\n', '\n> Summary: Rex, museums of Riga, axolotls\n');
    expect(withoutWithdrawnLines(note, gone, mostlyOf)).toBe(rest);
  });
});
