import { describe, expect, it } from 'vitest';

import { distinctiveTerms, saysWithdrawn } from '../../../src/memory/notebook/withdraw.ts';
import { linesWithout } from '../../../src/memory/withheld.ts';
import { createNotebook } from '../../../src/memory/notebook/notebook.ts';
import { aliceId, generalId, publicPlace } from '../../support/incoming.ts';
import { dmPlace, openSessions, silent } from '../../support/sessions.ts';
import { notebookSettings } from '../../support/layer-settings.ts';

/** Sessions whose changes reach the notes on them, as the ledger has them follow. */
function setUp() {
  const sessions = openSessions();
  const { store, writes, states, log } = sessions;
  const notebook = createNotebook({
    settings: notebookSettings,
    store,
    writes,
    states,
    log,
    logger: silent,
    timeZone: 'UTC',
  });
  const ledger = sessions.ledgerOver([notebook]);
  const remove = (channelId: string, messageIds: readonly string[]) =>
    ledger.record({ kind: 'deleted', channelId, messageIds });
  const edit = (channelId: string, messageId: string, text: string, authorId: string) =>
    ledger.record({ kind: 'edited', channelId, messageId, text, authorId });
  return { ...sessions, log: { remove, edit } };
}

const general = `sessions/${generalId}/${aliceId}`;
const dm = `sessions/${dmPlace.channelId}/${aliceId}`;

describe('notes on messages that were deleted or edited [G5]', () => {
  it('lose what only these said, in overview and details, and nothing of other sessions', async () => {
    const { store, turn, log } = setUp();
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

  it('keep what is said still: by another message, or by the edited one', async () => {
    const { store, turn, log } = setUp();
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
    const { store, turn, log } = setUp();
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
