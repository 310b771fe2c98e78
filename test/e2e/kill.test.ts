import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { runs } from '../support/runs.ts';
import { answersTo } from './answers-to.ts';
import { openStage, type Stage } from './stage.ts';

/** Lives that end right after an acknowledgement, and lives that end at any moment. */
const acknowledgedLives = runs(32, 2);
const lives = runs(16, 3);
/** Lives over which what was not acknowledged may gather. */
const livesOfBacklog = 10;
const people = ['alice', 'bob', 'carol'];
const places = ['#general', '#dev', 'dm'];
/** Milliseconds by which each life is longer than the one before: together they cover a turn from its first to its last moment. */
const step = 300 / lives;
/** For so many starts on a machine that is busy with other things; milliseconds. */
const patienceMs = acknowledgedLives * 60_000;

type Said = Awaited<ReturnType<Stage['sandbox']['say']>>;

async function wasAcknowledged(stage: Stage, said: Said): Promise<boolean> {
  const replies = await answersTo(stage.sandbox, said);
  return replies.some(({ text }) => text.startsWith('Remembered: '));
}

async function isKept(stage: Stage, said: Said): Promise<boolean> {
  const items = await stage.readFile(`data/users/${said.author.id}/durable.json`);
  return items.includes(itemOf(said));
}

const itemOf = ({ text }: Said): string => text.replace('!memory remember ', '');

async function allAcknowledged({ sandbox }: Stage, said: readonly Said[]): Promise<void> {
  for (const message of said) {
    await sandbox.waitForReply({ in: message.channelId, after: message.id, containing: itemOf(message) });
  }
}

async function timesIn(stage: Stage, said: Said, words: string): Promise<number> {
  const log = await stage.logOf(said);
  return log.split(`"${words}"`).length - 1;
}

// Side by side, as most of the time goes into starting again.
describe.concurrent('a bot that is killed', () => {
  it(
    `keeps, over ${acknowledgedLives} kills right after "Remembered", every item that it said it remembers`,
    { timeout: patienceMs },
    async () => {
      await using stage = await openStage({ isBuilt: true });
      for (const person of people) await stage.ask(person, 'dm', 'Hello');
      const said: Said[] = [];
      for (let life = 0; life < acknowledgedLives; life += 1) {
        // Everybody speaks at once; the first answer ends this life, so that the others are hit at any moment.
        const spoken = await Promise.all(
          people.map((as, index) =>
            stage.sandbox.say({
              as,
              in: places[(life + index) % places.length] ?? 'dm',
              text: `!memory remember ${as} owns teapot number ${life}.`,
            }),
          ),
        );
        said.push(...spoken);
        await Promise.any(
          spoken.map(({ channelId, id }) =>
            stage.sandbox.waitForReply({ in: channelId, after: id, containing: `number ${life}.` }),
          ),
        );
        await stage.killBot();
        const acknowledged = await Promise.all(spoken.map((each) => wasAcknowledged(stage, each)));
        await stage.startBot();
        for (const message of spoken.filter((_, index) => acknowledged[index]))
          expect(await isKept(stage, message)).toBe(true);
        // Now and then it may finish what it was kept from, before it is too old to be answered [G3a].
        if (life % livesOfBacklog === 0) await allAcknowledged(stage, said);
      }

      // What was not acknowledged before a kill was after the restart, and nothing was answered twice.
      await allAcknowledged(stage, said);
      for (const message of said) {
        const replies = await answersTo(stage.sandbox, message);
        expect(replies.map(({ text }) => text.split(' · ')[0])).toEqual([`Remembered: "${itemOf(message)}"`]);
      }
      for (const person of people) {
        const items = await stage.readFile(`data/users/${stage.info.people[person] ?? ''}/durable.json`);
        const numbers = Array.from(items.matchAll(/owns teapot number (\d+)\./g), ([, number]) =>
          Number(number),
        );
        expect(new Set(numbers)).toEqual(
          new Set(Array.from({ length: acknowledgedLives }, (_, life) => life)),
        );
        expect(numbers).toHaveLength(acknowledgedLives);
      }
    },
  );

  it(
    `answers each message once, and logs it once, over ${lives} kills at any moment of its turns [F4]`,
    { timeout: patienceMs },
    async () => {
      await using stage = await openStage({
        isBuilt: true,
        model: (_, index) => ({ text: `Answer ${index}.`, delayMs: 60 }),
        environment: { DISCOCLAW_SUMMARY_EVERY_N_TURNS: '3' },
      });
      for (const [index, person] of people.entries()) await stage.ask(person, places[index] ?? 'dm', 'Hello');
      for (const person of people) await stage.ask(person, 'dm', '!memory show');
      const said: Said[] = [];
      for (let life = 0; life < lives; life += 1) {
        const spoken = await Promise.all(
          people.map((as, index) =>
            stage.sandbox.say({ as, in: places[index] ?? 'dm', text: `Question ${life}?` }),
          ),
        );
        const remember = await stage.sandbox.say({
          as: 'alice',
          in: 'dm',
          text: `!memory remember Plays game number ${life}.`,
        });
        await sleep(life * step);
        await stage.killBot();
        const wasRemembered = await wasAcknowledged(stage, remember);
        await stage.startBot();
        expect(wasRemembered && !(await isKept(stage, remember))).toBe(false);
        for (const { channelId, id } of spoken) {
          await stage.sandbox.waitForReply({ in: channelId, after: id });
        }
        said.push(...spoken);
      }

      for (const message of said) {
        expect(await answersTo(stage.sandbox, message)).toHaveLength(1);
        expect(await timesIn(stage, message, message.text)).toBe(1);
      }
      for (const place of ['#general', '#dev', '@carol']) {
        const answers = await stage.sandbox.messages({ in: place, from: 'bot' });
        expect(answers.filter(({ text }) => text.startsWith('Answer'))).toHaveLength(lives + 1);
      }
    },
  );
});
