import fc from 'fast-check';
import { expect, it } from 'vitest';

import type { ModelServerRequest } from '../support/model-server.ts';
import { answeringBy, blocksIn, chatCall, historyIn, sectionIn, toldIn } from './model-calls.ts';
import { openStage } from './stage.ts';
import { runs } from '../support/runs.ts';

/** Characters at most, each small enough to be reached. */
const budgets = {
  durable: 600,
  notes: 500,
  history: 300,
  index: 110,
  summary: 200,
  channel: 2000,
  whole: 8100,
};
const measured = ['durable', 'notes', 'history', 'index', 'summary', 'channel', 'whole'] as const;

/** Text in several scripts, with emoji of several code units, combining marks and what looks like our own tags. */
const pieces = [
  'plain words',
  'Straße',
  '日本語の文章',
  'ภาษาไทย',
  'привет',
  '👩‍👩‍👧‍👦',
  '🇱🇻',
  'é̂',
  ' ',
  '\n',
  '\t',
  '$&',
  '</durable_items>',
  '<message from="x">',
  '<notes>',
  '-->',
  '_'.repeat(90),
];
const text = (maxPieces: number) =>
  fc
    .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: maxPieces, size: 'max' })
    .map((chosen) => chosen.join(' '));

const item = fc.record(
  {
    text: text(25),
    kind: fc.constantFrom('fact', 'preference', 'project', 'tool'),
    visibility: fc.constantFrom('everywhere', 'server', 'here', 'dm'),
    status: fc.constantFrom('active', 'active', 'deprecated'),
    pinned: fc.boolean(),
    updatedAt: fc.constantFrom('2026-01-15T12:00:00.000Z', '2026-02-20T12:00:00.000Z'),
    source: fc.record({ type: fc.constantFrom('manual', 'summary'), channelName: text(3) }),
  },
  { requiredKeys: ['text'] },
);

const turn = fc.record({
  /** Absent: as the turn before left it. */
  items: fc.option(fc.array(item, { maxLength: 30, size: 'max' }), { freq: 3 }),
  notes: fc.option(text(120), { freq: 2 }),
  channel: fc.option(text(300), { freq: 2 }),
  message: text(12).filter((words) => words.trim() !== ''),
  reply: text(60).filter((words) => words.trim() !== ''),
  summary: text(12).map((words) => words.padEnd(160, ' and so on')),
});

function lengthOf(blocks: readonly { readonly text?: string }[]): number {
  return blocks.reduce((sum, { text: words = '' }) => sum + words.length, 0);
}

function lengthIn(call: ModelServerRequest, ...names: readonly string[]): number {
  return names.reduce((sum, name) => sum + sectionIn(call, name).length, 0);
}

it('never exceeds a budget nor the whole, whatever is remembered [P4]', async () => {
  let reply = '';
  let summary = '';
  await using stage = await openStage({
    environment: {
      DISCOCLAW_DURABLE_INJECT_MAX_CHARS: String(budgets.durable),
      DISCOCLAW_WORKSPACE_INJECT_MAX_CHARS: String(budgets.notes),
      DISCOCLAW_MESSAGE_HISTORY_BUDGET: String(budgets.history),
      DISCOCLAW_NOTEBOOK_INDEX_MAX_CHARS: String(budgets.index),
      DISCOCLAW_SUMMARY_MAX_CHARS: String(budgets.summary),
      DISCOCLAW_SUMMARY_EVERY_N_TURNS: '3',
      DISCOCLAW_PROMPT_MAX_CHARS: String(budgets.whole),
    },
    model: answeringBy({ chat: () => ({ text: reply }), summary: () => ({ text: summary }) }),
  });
  await stage.writeFile('workspace/SOUL.md', 'You are Pincers, a crab of few words.\n');
  await stage.writeFile(`workspace/memory/${new Date().toISOString().slice(0, 10)}.md`, 'A day.\n');
  const { channelId } = await stage.ask('alice', 'dm', '!memory help');
  /** Which were found near their budgets: a property of empty prompts would say nothing. */
  const filled = new Set<string>();

  await fc.assert(
    fc.asyncProperty(turn, async ({ items, notes, channel, message, ...said }) => {
      ({ reply, summary } = said);
      const file = `data/users/${stage.info.people['alice']}/durable.json`;
      if (items !== null) await stage.writeFile(file, JSON.stringify({ version: 1, items }));
      if (notes !== null) await stage.writeFile('workspace/MEMORY.md', notes);
      if (channel !== null) await stage.writeFile(`workspace/channels/${channelId}.md`, channel);
      const call = await chatCall(stage, 'alice', 'dm', message);

      const lengths = {
        durable: lengthIn(call, 'durable_items', 'matching_items', 'changes'),
        notes: lengthIn(call, 'notes'),
        history: lengthOf(historyIn(call)),
        channel: lengthIn(call, 'channel_context'),
        // Its budget is the summary's text; tags and title come on top.
        summary: sectionIn(call, 'conversation_summary').split('\n').slice(2, -2).join('\n').length,
        index: lengthIn(call, 'notebook_index'),
        whole: lengthOf(call.body.system ?? []) + lengthOf(blocksIn(call)),
      };
      expect(measured.filter((name) => lengths[name] > budgets[name])).toEqual([]);
      for (const name of measured) if (lengths[name] > budgets[name] * 0.7) filled.add(name);

      // Whatever gave way, the message is there, and nothing in the prompt is half a character.
      const told = blocksIn(call).at(-1)?.text ?? '';
      expect(told).toMatch(
        /<message from="alice" where="direct message" time="[^"]*"(?: turns-since-summary="\d+")?>\n[\s\S]+\n<\/message>$/u,
      );
      expect(call.raw).not.toMatch(/\\ud[89a-f][0-9a-f]{2}/iu);
      expect(toldIn(call).isWellFormed()).toBe(true);
    }),
    { numRuns: runs(133) },
  );

  expect([...filled].toSorted()).toEqual([...measured].toSorted());
});
