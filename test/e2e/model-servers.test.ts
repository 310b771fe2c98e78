import { describe, expect, it } from 'vitest';

import type { ModelFeature } from '../../src/core/model.ts';
import {
  anthropic,
  liteLlm,
  llamaCpp,
  lmStudio,
  ollama,
  ollamaWithoutTools,
  openRouterWithoutTools,
  privateWords,
  unsignedThoughts,
  vllmWithoutTools,
} from '../model/servers/doubles.ts';
import { isIn, serverDouble, type ServerDouble } from '../model/servers/server-double.ts';
import { ofTheDay } from '../support/runs.ts';
import { withFooter, withWords } from './footers.ts';
import { callsOf, sectionIn, systemIn, toldIn } from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';
import { createMind, noSummary, summary, turns } from './talk.ts';

/** What the person has remembered, also in their words, whether by a tool, by a command, or because it was noticed. */
const items = [
  'Alice likes oolong',
  'I breed axolotls.',
  'I play the lute, so please remember it.',
  'I work on the harbour bridge in Porto.',
  'Я живу в Казани.',
  'ナッツアレルギーです。',
].toSorted();

/** Nothing that may be on Discord, not for one edit, or kept, or told to a model later. */
const neverShown = [privateWords, '<|im_end|>', '</think>', '<tool_call>', noSummary];

/** With what their requests are without in the end. */
const servers: readonly (readonly [ServerDouble, readonly ModelFeature[]])[] = [
  [ollama, ['structured output']],
  [ollamaWithoutTools, ['structured output', 'tools']],
  [llamaCpp, ['schema keywords', 'structured output', 'pictures']],
  [lmStudio, ['structured output', 'cache marks']],
  [vllmWithoutTools, ['tools', 'pictures']],
  [liteLlm, ['structured output', 'pictures']],
  [openRouterWithoutTools, ['cache marks', 'tools', 'thinking', 'structured output', 'pictures']],
  [anthropic, []],
];

async function itemsOf(stage: Stage): Promise<readonly string[]> {
  const document = JSON.parse(await stage.readFile(stage.pathFor('alice', 'durable.json')));
  return document.items
    .flatMap(({ text, status }: Record<string, string>) => (status === 'active' ? [text] : []))
    .toSorted();
}

describe.each(ofTheDay(servers, 4).map(([server, leftOut]) => ({ server, leftOut, name: server.name })))(
  'a talk with $name as the model’s server [M9] [M10]',
  ({ server, leftOut }) => {
    it('has clean answers, the same items, a summary, a picture or word of it, and an undo', async () => {
      const models = ['DISCOCLAW_MODEL', 'DISCOCLAW_FAST_MODEL'];
      await using stage = await openStage({
        environment: {
          ...Object.fromEntries(models.map((variable) => [variable, server.model])),
          DISCOCLAW_MODEL_PRICES: `${server.model}=0/0`,
          DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
          ...(server.apiKey === undefined ? {} : { ANTHROPIC_API_KEY: server.apiKey }),
        },
        model: serverDouble(server, createMind()),
      });
      const hasTools = !leftOut.includes('tools');

      await stage.ask('alice', 'dm', '!memory remember Alice likes oolong');
      for (const { says: text, file, answer: expected, calls, footer, command, notable } of turns) {
        const attachments = file === undefined ? [] : [file];
        const answer = await stage.answerTo(
          await stage.sandbox.say({ as: 'alice', in: 'dm', text, attachments }),
        );
        const before = calls !== undefined && hasTools ? 'Let me see.\n\n' : '';
        await withWords(stage, answer, before + expected);
        if (hasTools && footer !== undefined) await withFooter(stage, answer, footer);
        if (file?.name === 'cup.png' && leftOut.includes('pictures'))
          await withFooter(stage, answer, 'The model that I use cannot see pictures');
        const noticed = notable === undefined ? [] : [text];
        await expect.poll(() => itemsOf(stage)).toEqual(expect.arrayContaining(noticed));
        // Else it could be told under the next answer.
        if (notable !== undefined) await withFooter(stage, answer, 'Remembered');
        if (command !== undefined && !hasTools) await stage.ask('alice', 'dm', command);
      }
      await expect
        .poll(async () => (await stage.ask('alice', 'dm', '!memory show')).text)
        .toContain(`Rolling summary:\n${summary}`);
      expect(await itemsOf(stage)).toEqual(items);

      const { requests } = stage.model;
      const sent = (await stage.sandbox.requests()).filter(({ method }) => method !== 'GET');
      const written = {
        shown: JSON.stringify(sent.map(({ body }) => body)),
        kept: JSON.stringify(await stage.kept()),
        told: requests.map(({ raw }) => raw).join('\n'),
      };
      for (const [where, all] of Object.entries(written))
        expect([where, ...neverShown.filter((words) => all.includes(words))]).toEqual([where]);
      expect(written.shown + written.kept).not.toContain(unsignedThoughts);

      const { text: status } = await stage.ask(stage.info.owner.name, 'dm', '!status');
      expect(status).toMatch(/Today \(.*\$0\.00/u);
      const refused = / · left out, as its server refuses it: (?<features>[^\n·]*[^\n· ])/u.exec(status);
      const named = leftOut.map((name) => `${name} (${server.model})`);
      expect(refused?.groups?.['features']?.split(', ').toSorted() ?? []).toEqual(named.toSorted());
      // The long file has shown that it is small.
      expect(/\bcontext\b/u.test(status)).toBe(server.contextTokens < 20_000);

      // Nothing is tried again and again, not even by calls at the same time.
      for (const name of leftOut)
        expect(requests.filter(({ body }) => isIn[name](body)).length).toBeLessThanOrEqual(
          2 * leftOut.length,
        );
      // Where there are no tools, no prompt promises any, and no reflection is asked for, which is made by tools alone.
      const newest = callsOf(stage, 'chat').findLast((call) =>
        toldIn(call).includes('<message from="alice"'),
      );
      if (newest === undefined) throw new Error('Nothing was asked');
      const reflections = requests.filter(({ body }) => body.system?.[0]?.text?.startsWith('You look back'));
      expect(hasTools || reflections.length === 0).toBe(true);
      expect(/recall_memory|remember_item/u.test(systemIn(newest))).toBe(hasTools);
      expect(sectionIn(newest, 'discord_actions') === '').toBe(!hasTools);
      expect(newest.headers['authorization']).toBe(`Bearer ${server.apiKey ?? 'no-key'}`);
    });
  },
);
