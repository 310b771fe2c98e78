import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/control/message-view.ts';
import { command, idIn } from './memory-talk.ts';
import { openStage, type Stage } from './stage.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await openStage({ model: () => ({ text: 'Understood.' }) });
});

afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

function labelsOf({ components }: MessageView): readonly string[] {
  return components.rows.flatMap(({ buttons }) => buttons.map(({ label }) => label));
}

const label = 'Merge with "Keeps bees"';

describe('what says nearly the same as before [K8]', () => {
  it.each(['@bob', '#general', '#secret'])(
    'is offered for merging in %s, also after a kill, and can be taken apart again',
    async (place) => {
      await stage.startBuilt();
      const older = idIn((await stage.ask('bob', place, '!memory remember Keeps bees')).text);
      await stage.ask('bob', place, `!memory pin ${older}`);
      const asked = await stage.ask('bob', place, '!memory remember Keeps bees and hens');
      expect(labelsOf(asked)).toEqual(['Undo', label]);
      await stage.killBot();
      await stage.startBot();
      const merged = await stage.sandbox.click({ as: 'bob', message: asked.id, label, followUps: 1 });
      const [told] = merged.followUps;
      expect(told).toMatchObject({ isEphemeral: true });
      expect(told?.text).toMatch(
        new RegExp(
          `^Merged: "Keeps bees and hens" · id ${older} · .* · pinned\\nIt said before: "Keeps bees"$`,
          'u',
        ),
      );
      const shown = await command(stage, '!memory', 'bob', place, 'show');
      expect(shown).toContain('Durable memory (1 item)');
      expect(shown).toMatch(/Keeps bees and hens .* pinned\n/u);
      expect(await command(stage, '!memory', 'bob', place, `history ${older}`)).toMatch(
        /before .*: Keeps bees$/u,
      );
      const undo = { as: 'bob', message: told?.id ?? '', label: 'Undo', followUps: 1 };
      expect((await stage.sandbox.click(undo)).followUps[0]?.text).toMatch(/^Undone: the `merge`/u);
      expect(await command(stage, '!memory', 'bob', place, 'show')).toContain('Durable memory (2 items)');
    },
  );

  it('is merged by its person alone', async () => {
    const older = idIn((await stage.ask('bob', '#general', '!memory remember Keeps bees')).text);
    const asked = await stage.ask('bob', '#general', '!memory remember Keeps bees and hens');
    const other = await stage.sandbox.click({ as: 'alice', message: asked.id, label });
    expect(other.answer?.text).toContain('Only the person');
    const given = `merge ${idIn(asked.text)} ${older}`;
    expect(await command(stage, '!memory', 'alice', '#general', given)).toContain('Nothing was merged');
    expect(await command(stage, '!memory', 'bob', '#general', 'show')).toContain('Durable memory (2 items)');
  });

  it('names nothing in a channel that is for the DM only', async () => {
    await stage.ask('bob', '@bob', '!memory remember Keeps bees');
    const asked = await stage.ask('bob', '#general', '!memory remember Keeps bees and hens');
    expect(labelsOf(asked)).toEqual(['Undo']);
  });
});
