import { describe, expect, it } from 'vitest';

import { layersAlone } from '../support/layers-alone.ts';
import { readConfig } from '../../src/config/config.ts';
import { sessionOf, sessionWorkOf, type TurnContext } from '../../src/core/turn-context.ts';
import { mayUseItem } from '../../src/memory/durable/document.ts';
import { createDurableMemory, type DurableMemory } from '../../src/memory/durable/durable-memory.ts';
import type { MemoryLayer } from '../../src/memory/layer.ts';
import { createNotebook } from '../../src/memory/notebook/notebook.ts';
import { createMessageSource } from '../../src/memory/recall/sources.ts';
import { createRecall } from '../../src/memory/recall/recall.ts';
import { createRollingSummary } from '../../src/memory/rolling/rolling-summary.ts';
import { createShortTerm } from '../../src/memory/short-term/short-term.ts';
import { ScriptedModel, inputOf } from '../support/scripted-model.ts';
import { silent, type Sessions, inZone } from '../support/sessions.ts';
import { contract, type LayerUnderTest, type OpenLayer } from './layer-contract.ts';
import {
  shortTermSettings,
  rollingSettings,
  durableSettings,
  notebookSettings,
} from '../support/layer-settings.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { proposalsOver } from '../support/undo.ts';
import { unconditional } from '../../src/core/writes.ts';

const { signal } = new AbortController();

function folding(layer: MemoryLayer): LayerUnderTest {
  return {
    layer,
    feed: async (turn) => layer.fold?.(turn.speaker.id, [sessionWorkOf(turn)], signal),
  };
}

function openShortTerm({ store, states, log, clock }: Sessions): LayerUnderTest {
  return folding(
    createShortTerm({
      settings: shortTermSettings,
      store,
      states,
      log,
      clock,
      timeZoneOf: inZone('UTC'),
    }),
  );
}

function openRolling({ store, states, log, clock }: Sessions): LayerUnderTest {
  const model = new ScriptedModel(
    (request) =>
      `Said: ${inputOf(request)
        .match(/I breed \w+/gu)
        ?.join()}`,
  );
  return folding(
    createRollingSummary({
      settings: { ...rollingSettings, enabled: true, model: 'haiku', everyTurns: 1, maxChars: 500 },
      withPauses: (_, work) => work(),
      store,
      states,
      log,
      clock,
      model,
      timeZone: 'UTC',
      timeZoneOf: inZone('UTC'),
      logger: silent,
    }),
  );
}

function durableOver({ store, writes, clock, forgettingOver }: Sessions): DurableMemory {
  const durable: DurableMemory = createDurableMemory({
    settings: durableSettings,
    store,
    writes,
    forgetting: forgettingOver([]),
    clock,
    logger: silent,
    timeZone: 'UTC',
  });
  return durable;
}

function openDurable(sessions: Sessions): LayerUnderTest {
  const durable = durableOver(sessions);
  return {
    layer: durable,
    async feed({ speaker, place, messages: [message] }) {
      const text = message?.text ?? '';
      await durable.remember(unconditional(speaker.id), {
        text,
        place,
        messageId: message?.id ?? '',
        type: 'discord',
      });
    },
  };
}

function openProposals(sessions: Sessions): LayerUnderTest {
  const durable = durableOver(sessions);
  const proposals = proposalsOver({ durable });
  return {
    layer: durable,
    async feed({ speaker, place, messages: [message] }) {
      const text = message?.text ?? '';
      await proposals.remember(unconditional(speaker.id), {
        text,
        place,
        messageId: message?.id ?? '',
        type: 'discord',
      });
    },
    shows: async ({ speaker, place }) =>
      (await proposals.list(speaker.id))
        .flatMap((item) => (mayUseItem(item, speaker.id, place) ? [item.text] : []))
        .join('\n'),
  };
}

function openNotebook({ store, writes, states, log }: Sessions): LayerUnderTest {
  const notebook = createNotebook({
    settings: notebookSettings,
    store,
    writes,
    states,
    log,
    logger: silent,
    timeZone: 'UTC',
  });
  const write = notebook.tools.find(({ definition }) => definition.name === 'memory_write');
  return {
    layer: notebook,
    async feed(turn) {
      const content = `## Known Context\n- ${turn.messages[0]?.text}\n- Likes tea\n`;
      const outcome = await write?.run({ path: 'overview.md', content }, turn, signal);
      expect(outcome).toMatchObject({ ok: true });
    },
  };
}

function openLog({ log }: Sessions): LayerUnderTest {
  return {
    layer: log,
    feed: () => Promise.resolve(),
    shows: async (turn) => JSON.stringify((await log.since(sessionOf(turn), 0)).messages),
  };
}

function openRecall({ log }: Sessions): LayerUnderTest {
  const recall = createRecall({ sources: [createMessageSource(log)], timeZone: 'UTC' });
  const search = async ({ speaker, place, now }: TurnContext, query: string): Promise<string> => {
    const found = await recall.search({
      queries: [query],
      scope: 'all',
      limit: 5,
      speaker,
      place,
      now,
      excluded: [],
    });
    return found.map(({ unit }) => unit.text).join('\n');
  };
  return {
    layer: recall,
    holdsNothing: true,
    // So that an index is there that could keep what is to go.
    feed: async (turn) => void (await search(turn, 'breed')),
    shows: search,
  };
}

/**
 * Settings, the sources of answers and what is withheld hold no words: `settings/person-settings.test.ts` and `provenance.test.ts`
 * export and erase them.
 */
const layers: Readonly<Record<string, OpenLayer>> = {
  log: openLog,
  'short-term': openShortTerm,
  rolling: openRolling,
  durable: openDurable,
  notebook: openNotebook,
  recall: openRecall,
};

it('puts every layer of the bot under the contract [F5]', () => {
  const { config } = readConfig({});
  const names = layersAlone(config, { store: new MemoryStore(), logger: silent }).layers.map(
    ({ name }) => name,
  );
  expect(names.toSorted()).toEqual(
    [...Object.keys(layers), 'settings', 'provenance', 'forgotten'].toSorted(),
  );
});

describe.each(Object.entries({ ...layers, 'durable with proposals': openProposals }))(
  'the layer %s [F5]',
  (name, open) => {
    // What is noted of a channel is for all its readers: `channel/` has the rules of that.
    const rules = Object.entries(contract).filter(([rule]) => name !== 'channel' || !rule.includes('[V2]'));
    it.each(rules)('%s', async (_rule, check) => {
      await expect(check(open)).resolves.toBeUndefined();
    });
  },
);

/** A layer that is right in all but one thing. */
function planted(fault: Partial<MemoryLayer>): OpenLayer {
  return (sessions) => {
    const right = openShortTerm(sessions);
    return { ...right, layer: { ...right.layer, ...fault } };
  };
}

/** The rules of the contract that a layer breaks. */
async function brokenBy(open: OpenLayer): Promise<string[]> {
  const broken: string[] = [];
  for (const [rule, check] of Object.entries(contract)) {
    const isKept = await check(open).then(
      () => true,
      () => false,
    );
    if (!isKept) broken.push(rule);
  }
  return broken;
}

describe('the contract catches a layer that breaks it [F5]', () => {
  it.each<[string, Partial<MemoryLayer>, RegExp]>([
    ['to delete', { delete: () => Promise.resolve() }, /^(?:follows|erases)/u],
    ['to export', { async *export() {} }, /^exports/u],
    ['to show', { sections: () => Promise.resolve([]) }, /^(?:shows|follows|erases what)/u],
  ])('%s', async (_duty, fault, rules) => {
    const expected = Object.keys(contract).filter((rule) => rules.test(rule));
    expect(await brokenBy(planted(fault))).toEqual(expected);
  });
});
