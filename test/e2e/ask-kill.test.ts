import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import type { MessagesBody } from '../support/model-server.ts';
import type { ModelAnswer } from '../support/model-answer.ts';
import { eventually } from '../support/eventually.ts';
import { runs } from '../support/runs.ts';
import { openStage } from './stage.ts';

/** Kills, spread from the acknowledgement over the whole turn. */
const moments = runs(10, 4);
const pauseMs = 900 / moments;

function answer({ messages = [] }: MessagesBody): ModelAnswer {
  const text = (messages.at(-1)?.content ?? []).map((block) => block.text ?? '').join('');
  const asked = /ask number \d+/u.exec(text.slice(text.lastIndexOf('<message ')))?.[0] ?? 'nothing';
  const words = Array.from({ length: 12 }, (_, index) => `word${index} `);
  return { text: [...words, `is all to ${asked}.`], pauseMs: 40 };
}

describe('/ask that a kill comes between [EW2]', () => {
  it(
    `is answered where it was asked or in the DM, at ${moments} moments, and stands in the log once`,
    { timeout: moments * 60_000 },
    async () => {
      await using stage = await openStage({
        isBuilt: true,
        model: answer,
        environment: { DISCOCLAW_SUMMARY_ENABLED: 'false', DISCOCLAW_REFLECTION_ENABLED: 'false' },
      });
      const { sandbox, info } = stage;
      const dm = await sandbox.openDm({ person: 'alice' });
      for (let moment = 0; moment < moments; moment += 1) {
        const text = `This is ask number ${moment}.`;
        await sandbox.slash({
          as: 'alice',
          in: '#general',
          name: 'ask',
          options: { text },
          until: 'acknowledged',
        });
        await sleep(moment * pauseMs);
        await stage.killBot();
        await stage.startBuilt({});
        const whole = `is all to ask number ${moment}.`;
        const seen = await eventually(async () => {
          const places = ['#general', dm.id];
          const all = await Promise.all(
            places.map((place) => sandbox.messages({ in: place, as: 'alice', from: 'bot' })),
          );
          const found = all.flat().filter((message) => message.text.includes(whole));
          if (found.length === 0) throw new Error(`ask number ${moment} has no answer`);
          return found;
        });
        expect(seen.every(({ isEphemeral, channelId }) => isEphemeral || channelId === dm.id)).toBe(true);
      }
      await stage.ask('alice', 'dm', 'Hello again');
      const log = await stage.readFile(`data/sessions/${dm.id}/${info.people['alice'] ?? ''}/messages.jsonl`);
      for (let moment = 0; moment < moments; moment += 1) {
        const lines = log.split('\n').filter((line) => line.includes(`number ${moment}.`));
        expect(lines.map((line) => /"role":"(\w+)"/u.exec(line)?.[1])).toEqual(['user', 'assistant']);
      }
    },
  );
});
