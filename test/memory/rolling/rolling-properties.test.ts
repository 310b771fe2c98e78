import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createRollingSummary } from '../../../src/memory/rolling/rolling-summary.ts';
import { aliceId, generalId, publicPlace } from '../../support/incoming.ts';
import { ScriptedModel, inputOf } from '../../support/scripted-model.ts';
import { openSessions, secretPlace, session, silent, withdrawal, inZone } from '../../support/sessions.ts';
import { rollingSettings } from '../../support/layer-settings.ts';
import { runs } from '../../support/runs.ts';

type Step = 'turn' | 'private turn' | 'delete' | 'edit' | 'update' | 'reset';

const others = ['turn', 'turn', 'turn', 'private turn', 'delete', 'edit', 'reset'] as const;
const step = fc.constantFrom<Step>(...others, 'update');
const meanwhileSteps = fc.array(fc.constantFrom<Step>(...others), { maxLength: 2 });

interface Told {
  readonly id: string;
  readonly mark: string;
}

/**
 * A session in which every message carries a mark of its own, and a model whose summaries are the marks it was given: so what a summary holds can
 * be read off it.
 */
function world() {
  const sessions = openSessions();
  const meanwhile: Step[] = [];
  const told: Told[] = [];
  /** Marks of what was deleted, edited away or reset. */
  const withdrawn = new Set<string>();
  /** Marks of what was deleted or edited away: replaced summaries must not hold them either. */
  const deleted = new Set<string>();
  let marks = 0;
  const model: ScriptedModel = new ScriptedModel(async (request) => {
    const input = inputOf(request);
    for (const each of meanwhile.splice(0)) await run(each, 0);
    return `Holds ${(input.match(/m\d+e/gu) ?? []).join(' ')}`;
  });
  const rolling = createRollingSummary({
    settings: { ...rollingSettings, enabled: true, model: 'haiku', everyTurns: 2, maxChars: 5000 },
    withPauses: (_, work) => work(),
    store: sessions.store,
    states: sessions.states,
    log: sessions.log,
    clock: sessions.clock,
    model,
    timeZone: 'UTC',
    timeZoneOf: inZone('UTC'),
    logger: silent,
  });

  async function take(message: Told | undefined, edited: string | undefined): Promise<void> {
    if (message === undefined) return;
    withdrawn.add(message.mark);
    deleted.add(message.mark);
    const affected =
      edited === undefined
        ? await sessions.log.remove(generalId, [message.id])
        : await sessions.log.edit(generalId, message.id, edited);
    for (const { messages } of affected) {
      await rolling.delete(withdrawal(...messages.map(({ sequence }) => sequence)));
    }
  }

  async function run(what: Step, pick: number): Promise<void> {
    const recent = told.filter(({ mark }) => !deleted.has(mark));
    switch (what) {
      case 'turn':
      case 'private turn': {
        marks += 1;
        const mark = `m${marks}e`;
        const place = what === 'turn' ? publicPlace : secretPlace;
        const context = await sessions.say(mark, place);
        told.push({ id: context.messages[0]?.id ?? '', mark });
        await sessions.answer(context, 'ok');
        return;
      }
      case 'delete':
        return take(recent[pick % Math.max(1, recent.length)], undefined);
      case 'edit':
        return take(recent[pick % Math.max(1, recent.length)], 'nothing');
      case 'reset':
        for (const { mark } of told) withdrawn.add(mark);
        return rolling.reset(session);
      case 'update':
        await rolling.updateIfDue(session);
    }
  }

  async function noteMarks(): Promise<readonly string[]> {
    const folder = `sessions/${generalId}/${aliceId}/detail`;
    const files = await sessions.store.list(folder);
    const notes = await Promise.all(files.map(({ path }) => sessions.store.readText(`${folder}/${path}`)));
    return notes.join('').match(/m\d+e/gu) ?? [];
  }

  return { rolling, meanwhile, withdrawn, deleted, noteMarks, run };
}

describe('the rolling summary, whatever happens and also while the model writes', () => {
  it('never holds what was deleted, edited away or reset', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(step, fc.nat(20), meanwhileSteps), { maxLength: 20 }),
        async (steps) => {
          const { rolling, meanwhile, withdrawn, deleted, noteMarks, run } = world();
          for (const [what, pick, during] of steps) {
            if (what === 'update') meanwhile.push(...during);
            await run(what, pick);
            const held = (await rolling.show(session, secretPlace, aliceId))?.match(/m\d+e/gu) ?? [];
            expect(held.filter((mark) => withdrawn.has(mark))).toEqual([]);
            expect((await noteMarks()).filter((mark) => deleted.has(mark))).toEqual([]);
          }
        },
      ),
      { numRuns: runs(150) },
    );
  });
});
