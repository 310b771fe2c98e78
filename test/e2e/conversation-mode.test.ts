import { expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import { answersTo } from './answers-to.ts';
import { openStage } from './stage.ts';

interface Step {
  readonly as: string;
  readonly says: string;
  readonly isAnswered?: boolean;
  /** It replies to the message of the first step, or to the answer to that. */
  readonly repliesTo?: 'message' | 'answer';
  /** Seconds since the step before. */
  readonly after?: number;
}

const ask: Step = { as: 'alice', says: '@Discoclaw which tea do you like?', isAnswered: true };
const more: Step = { as: 'alice', says: 'And why?' };
const goOn: Step = { ...more, isAnswered: true };
const bob: Step = { as: 'bob', says: 'Good morning, all' };
const command: Step = { as: 'alice', says: '!memory show', isAnswered: true };

/** The last step of each is what its name is about. */
const scenes: Readonly<Record<string, readonly Step[]>> = {
  'goes on at once': [ask, goOn],
  'goes on each time within two minutes': [ask, { ...goOn, after: 90 }, { ...goOn, after: 90 }],
  'is late': [ask, { ...more, after: 125 }],
  'is late after going on': [ask, goOn, { ...more, after: 125 }],
  'somebody else spoke': [ask, bob, more],
  'somebody else says something to it in their place': [ask, { ...bob, says: 'And why?' }],
  'goes on after mentioning the bot again': [ask, bob, ask, goOn],
  'the bot has answered somebody else since': [ask, { ...ask, as: 'bob' }, more],
  'replies to somebody else': [bob, ask, { ...more, repliesTo: 'message' }],
  'replies to the bot': [ask, bob, { ...goOn, repliesTo: 'answer' }],
  'mentions somebody else': [ask, { ...more, says: '@bob what do you think?' }],
  'mentions everybody': [ask, { ...more, says: '@everyone tea is ready' }],
  'mentions the bot besides somebody else': [ask, { ...goOn, says: '@bob will hear it from @Discoclaw' }],
  'gave a command in between': [ask, command, goOn],
  'somebody else gave a command': [ask, { ...command, as: 'bob' }, more],
  'somebody else spoke only before': [bob, ask, goOn],
};

it('in conversation mode, a person goes on without a mention, and nobody else does [G2]', async () => {
  let at = Date.now();
  await using stage = await openStage({
    environment: { DISCORD_AUTO_REPLY_CHANNEL_IDS: '', DISCOCLAW_SUMMARY_ENABLED: 'false' },
    model: () => ({ text: 'Green tea.' }),
    now: () => new Date(at),
  });
  await stage.ask(stage.info.owner.name, '#general', '!settings answer conversation server');
  const last = new Map<string, MessageView>();
  for (const [name, steps] of Object.entries(scenes)) {
    const room = (await stage.sandbox.addChannel({ name: `scene-${last.size}` })).id;
    const said: MessageView[] = [];
    for (const step of steps) {
      at += (step.after ?? 1) * 1000;
      const { as, says: text, repliesTo } = step;
      const [first = { id: '', channelId: room }] = said;
      const target = repliesTo === 'answer' ? await stage.answerTo(first) : first;
      const message = await stage.sandbox.say({ as, in: room, text, replyTo: repliesTo && target.id });
      said.push(message);
      if (step.isAnswered === true) await stage.answerTo(message);
      await stage.sandbox.delivered();
      last.set(name, message);
    }
  }
  // What it still answers, it answers before it stops.
  await stage.stopBot();
  const answered: string[] = [];
  for (const [name, message] of last) {
    const answers = await answersTo(stage.sandbox, message);
    if (answers.length > 0) answered.push(name);
  }
  const expected = Object.entries(scenes).filter(([, steps]) => steps.at(-1)?.isAnswered === true);
  expect(answered).toEqual(expected.map(([name]) => name));
});
