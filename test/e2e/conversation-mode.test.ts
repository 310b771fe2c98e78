import { expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import { answersTo } from './answers-to.ts';
import { openStage, type Stage } from './stage.ts';

interface Step {
  readonly as: string;
  readonly says: string;
  readonly isAnswered?: boolean;
  /** The earlier step whose message it replies to, or the bot's answer to it. */
  readonly repliesTo?: number;
  readonly repliesToAnswer?: number;
  /** The earlier step whose message it edits or deletes, instead of saying something. */
  readonly edits?: number;
  readonly deletes?: number;
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
  'replies to somebody else': [bob, ask, { ...more, repliesTo: 0 }],
  'replies to the bot': [ask, bob, { ...goOn, repliesToAnswer: 0 }],
  'mentions somebody else': [ask, { ...more, says: '@bob what do you think?' }],
  'mentions everybody': [ask, { ...more, says: '@everyone tea is ready' }],
  'mentions the bot besides somebody else': [ask, { ...goOn, says: '@bob will hear it from @Discoclaw' }],
  'gave a command in between': [ask, command, goOn],
  'somebody else gave a command': [ask, { ...command, as: 'bob' }, more],
  'somebody else spoke only before': [bob, ask, goOn],
  'edits what they said before': [bob, more, ask, { ...more, edits: 1, says: 'And why not?' }],
  'deleted the question': [ask, { ...more, deletes: 0 }, more],
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
      const message = await perform(stage, room, step, said);
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

async function perform(
  stage: Stage,
  room: string,
  { as, says, edits, deletes, repliesTo, repliesToAnswer }: Step,
  said: readonly MessageView[],
): Promise<MessageView> {
  const { sandbox } = stage;
  function earlier(index: number): MessageView {
    const message = said[index];
    if (message === undefined) throw new Error(`There is no step ${index} yet`);
    return message;
  }
  if (edits !== undefined) return sandbox.edit({ message: earlier(edits).id, text: says });
  if (deletes !== undefined) {
    await sandbox.delete({ message: earlier(deletes).id });
    return earlier(deletes);
  }
  if (repliesToAnswer !== undefined)
    return sandbox.say({
      as,
      in: room,
      text: says,
      replyTo: (await stage.answerTo(earlier(repliesToAnswer))).id,
    });
  return sandbox.say({
    as,
    in: room,
    text: says,
    replyTo: repliesTo === undefined ? undefined : earlier(repliesTo).id,
  });
}
