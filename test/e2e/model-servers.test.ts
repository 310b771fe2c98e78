import { describe, expect, it } from 'vitest';

import type { ModelFeature } from '../../src/core/model.ts';
import { sampleBytes } from '../discord/attachments/samples.ts';
import {
  isIn,
  liteLlm,
  llamaCpp,
  lmStudio,
  ollama,
  openRouter,
  partialServer,
  vllm,
  type Mind,
} from '../support/partial-servers.ts';
import { callsOf, kindOf, sectionIn, systemIn, toldIn } from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';
import { withFooter } from './footers.ts';

const summary = 'They breed axolotls and drink tea.';
const axolotls = 'I breed axolotls';
const lute = 'I play the lute';

/** A model that answers from its prompt, calls a tool to remember what it is told to, and gives JSON only where it is asked for that. */
const mind: Mind = ({ body, hasTools, wantsJson }) => {
  const last = body.messages?.at(-1)?.content ?? [];
  const said = last.map(({ text = '' }) => text).join('');
  const all = (body.messages ?? []).flatMap(({ content }) => content.map(({ text = '' }) => text)).join('');
  switch (kindOf(body)) {
    case 'summary':
    case 'condense':
      return { text: wantsJson ? `Summary so far:\n${JSON.stringify({ summary })}` : summary };
    case 'stretch':
    case 'missed':
      return { text: summary };
    case 'extraction': {
      const messageId = /\[(?<id>\d+)\][^\n]*I breed axolotls/u.exec(said)?.groups?.['id'];
      const items = messageId === undefined ? [] : [{ kind: 'fact', quote: axolotls, messageId }];
      const json = JSON.stringify({ items });
      return { text: wantsJson ? `Here you are:\n\`\`\`json\n${json}\n\`\`\`` : 'They breed axolotls.' };
    }
    case 'chat':
  }
  if (last.some(({ type }) => type === 'tool_result')) return { text: 'I have noted it.' };
  const isAsked = /^Remember that/mu.test(said);
  if (isAsked && hasTools)
    return { toolUse: { name: 'remember_item', input: { kind: 'fact', quote: lute } } };
  if (isAsked) return { text: 'Of course, I will keep that in mind!' };
  return { text: all.includes('likes oolong') ? 'You like oolong.' : 'I do not know.' };
};

const scenes: readonly (readonly [typeof ollama, readonly ModelFeature[]])[] = [
  [ollama, ['structured output', 'tools']],
  [llamaCpp, ['structured output', 'pictures']],
  [lmStudio, ['structured output', 'cache marks']],
  [vllm, ['tools', 'pictures']],
  [liteLlm, ['structured output', 'pictures']],
  [openRouter, ['cache marks', 'tools', 'thinking', 'structured output', 'pictures']],
];

async function shown(stage: Stage): Promise<string> {
  return (await stage.ask('alice', 'dm', '!memory show')).text;
}

describe.each(scenes.map(([server, leftOut]) => ({ server, leftOut, name: server.name })))(
  'with $name as the model’s server [M9]',
  ({ server, leftOut }) => {
    it('a conversation has memory, a summary, what is noticed, and tools or the next best way', async () => {
      await using stage = await openStage({
        environment: {
          DISCOCLAW_MODEL: server.model,
          DISCOCLAW_FAST_MODEL: server.model,
          DISCOCLAW_SUMMARY_MODEL: server.model,
          DISCOCLAW_MODEL_PRICES: `${server.model}=0/0`,
          DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
          DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
          ...(server.apiKey === undefined ? {} : { ANTHROPIC_API_KEY: server.apiKey }),
        },
        model: partialServer(server, mind),
      });
      const hasTools = !leftOut.includes('tools');

      await stage.ask('alice', 'dm', '!memory remember Alice likes oolong');
      const question = await stage.sandbox.say({ as: 'alice', in: 'dm', text: 'What do I drink?' });
      const first = await stage.answerTo(question);
      expect(first.text).toContain('You like oolong.');
      if (!hasTools) await withFooter(stage, first, 'saying it in plain words stores and changes nothing');

      await stage.ask('alice', 'dm', `${axolotls}.`);
      await expect.poll(() => shown(stage)).toContain(axolotls);
      await expect.poll(() => shown(stage)).toContain(`Rolling summary:\n${summary}`);

      const asked = await stage.sandbox.say({ as: 'alice', in: 'dm', text: `Remember that ${lute}.` });
      const answer = await stage.answerTo(asked);
      expect(answer.text.split('\n-# ')[0]).toBe(
        hasTools ? 'I have noted it.' : 'Of course, I will keep that in mind!',
      );
      if (hasTools) await withFooter(stage, answer, `Remembered: "Remember that ${lute}."`);
      expect((await shown(stage)).includes(lute)).toBe(hasTools);

      const looked = await stage.sandbox.say({
        as: 'alice',
        in: 'dm',
        text: 'What do I drink, as in this picture?',
        attachments: [{ name: 'cup.png', base64: sampleBytes.png.toString('base64') }],
      });
      const seen = await stage.answerTo(looked);
      expect(seen.text.split('\n-# ')[0]).toBe('You like oolong.');
      if (leftOut.includes('pictures'))
        await withFooter(stage, seen, 'The model that I use cannot see pictures');

      const { text: status } = await stage.ask(stage.info.owner.name, 'dm', '!status');
      expect(status).toMatch(/Today \(.*\$0\.00/u);
      const told = / · left out, as its server refuses it: (?<features>[^\n]*)/u.exec(status)?.groups?.[
        'features'
      ];
      const named = leftOut.map((name) => (name === 'cache marks' ? name : `${name} (${server.model})`));
      expect(told?.split(', ').toSorted()).toEqual(named.toSorted());

      // Nothing is tried again and again, not even by calls at the same time.
      const { requests } = stage.model;
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
