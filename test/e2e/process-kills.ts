import { setTimeout as sleep } from 'node:timers/promises';

import { expect } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import { chanceOf } from '../support/chance.ts';
import { eventually } from '../support/eventually.ts';
import { placesOfShards } from '../support/two-shards.ts';
import { answersTo } from './answers-to.ts';
import { startChild, type Child } from './child.ts';
import { answeringBy } from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';

/** The longest time after what was said at which a process is killed; milliseconds. */
const latestMs = 1500;

/** Posts once where the words ask for it, and says so. */
const model = answeringBy({
  chat({ messages = [] }) {
    const { content = [] } = messages.at(-1) ?? {};
    if (content.some(({ type }) => type === 'tool_result')) return { text: 'Posted.' };
    const asked = [...JSON.stringify(content).matchAll(/Post the words number (\d+) in (#[\w-]+)/gu)].at(-1);
    if (asked === undefined) return { text: 'Understood.' };
    const [, number, channel] = asked;
    return { toolUse: [{ name: 'discord_send', input: { channel, text: `number ${number}` } }] };
  },
});

/**
 * Two processes with two shards each over one database and one sandbox [X3]. One person talks in servers of both and in the DM; after that, at a random
 * moment, one of the two is killed and started again, so many times. In the end every message has one answer, every post stands there once, what was
 * acknowledged is remembered, and logs have what was said once and in order.
 */
export async function killProcesses(kills: number, seed: number): Promise<void> {
  const chance = chanceOf(seed);
  await using stage = await openStage({
    isBuilt: true,
    shards: 4,
    model,
    environment: {
      DISCOCLAW_SHARDS: '4',
      DISCOCLAW_SHARD_IDS: '0-1',
      DISCOCLAW_DURABLE_MAX_ITEMS: '1000',
      DISCOCLAW_SUMMARY_ENABLED: 'false',
      DISCOCLAW_REFLECTION_ENABLED: 'false',
    },
  });
  const places = await placesOfShards(stage.sandbox, 4);
  for (const [index, { guildId }] of places.entries())
    await stage.sandbox.addChannel({ guild: guildId, name: `posts-${index}` });
  // Discord tells nobody of direct messages that were missed: a bot looks where it was written to before.
  await stage.ask('bob', '@bob', '!memory help');
  const others: Child[] = [await startOther(stage)];
  try {
    const turns: MessageView[] = [];
    const commands: MessageView[] = [];
    for (let number = 0; number < kills; number += 1) {
      const round: MessageView[] = [];
      for (const [index, { channel }] of places.entries()) {
        const text = `Post the words number ${number} in #posts-${index}`;
        round.push(await stage.sandbox.say({ as: 'bob', in: channel, text, mentionBot: true }));
        await sleep(20 * chance());
      }
      turns.push(...round);
      const inDm = await stage.sandbox.say({
        as: 'bob',
        in: '@bob',
        text: `!memory remember thing ${number}`,
      });
      commands.push(inDm);
      await sleep(latestMs * chance());
      if (chance() < 0.5) {
        await stage.killBot();
        await stage.startBot();
      } else {
        await others.at(-1)?.end('SIGKILL');
        others.push(await startOther(stage));
      }
      await eventually(async () => expect(await answersOf(stage, [...round, inDm])).toEqual([1, 1, 1, 1, 1]));
    }
    // Long enough for a second answer to show itself.
    await sleep(1000);
    const all = [...turns, ...commands];
    expect(await answersOf(stage, all)).toEqual(all.map(() => 1));
    const wanted = Array.from({ length: kills }, (_, number) => `number ${number}`);
    for (const [index, { channelId }] of places.entries()) {
      const posts = await stage.sandbox.messages({ in: `#posts-${index}`, from: 'bot' });
      // Each post says below for whom it is.
      expect(posts.map(({ text }) => text.split('\n')[0])).toEqual(wanted);
      const log = await stage.readFile(`data/sessions/${channelId}/${turns[0]?.author.id}/messages.jsonl`);
      const logged = [...log.matchAll(/Post the words (number \d+) in/gu)].map(([, words]) => words);
      expect(logged).toEqual(wanted);
    }
    const items = await stage.readFile(`data/users/${turns[0]?.author.id}/durable.json`);
    const kept = wanted.filter((_, number) => items.includes(`"thing ${number}"`));
    expect(kept).toEqual(wanted);
  } finally {
    await others.at(-1)?.end('SIGKILL');
  }
}

/** The process with the other two shards. */
async function startOther({ folder, environment }: Stage): Promise<Child> {
  const child = startChild({
    folder,
    environment: { ...environment, DISCOCLAW_SHARD_IDS: '2-3' },
  });
  await child.waitFor('"the bot is ready"');
  return child;
}

/** How many answers each has. */
function answersOf({ sandbox }: Stage, messages: readonly MessageView[]): Promise<readonly number[]> {
  return Promise.all(messages.map(async (said) => (await answersTo(sandbox, said)).length));
}
