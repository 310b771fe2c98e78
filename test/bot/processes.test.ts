import { setImmediate } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { aliceId } from '../support/incoming.ts';
import { places, ProcessesScene, wordOf, type PlaceName } from './processes-scene.ts';

const [word, other] = [wordOf(1), wordOf(2)];
const lost = { arrives: () => false };

async function opened(options = {}): Promise<ProcessesScene> {
  const scene = new ProcessesScene(options);
  await scene.start();
  return scene;
}

/** All that the next turn's prompt says in a place. */
async function promptIn(scene: ProcessesScene, place: PlaceName): Promise<string> {
  const before = scene.inputs.length;
  await scene.say(place, 'What do you know?');
  return scene.inputs.slice(before).join('\n');
}

describe('two processes over one store [X2][X3]', () => {
  it('forget what was said in a channel of the other one: history, log, summary and index, though no notice arrives', async () => {
    const scene = await opened(lost);
    await scene.say('yard', `I like ${word}.`);
    await scene.say('yard', 'And now?');
    await scene.settle();
    expect(await promptIn(scene, 'yard')).toContain(word);
    await scene.confirmed('dm', `purge ${word}`);
    await scene.settle();
    expect(await promptIn(scene, 'yard')).not.toContain(word);
    expect(await scene.data.common.everything()).not.toContain(word);
  });

  it('leave no trace of a person who is erased while a turn of theirs runs elsewhere, though no notice arrives [K11]', async () => {
    let erase: (() => Promise<unknown>) | undefined;
    const scene = await opened({
      ...lost,
      duringModelCall: async () => {
        const now = erase;
        erase = undefined;
        await now?.();
      },
    });
    await scene.command('yard', `remember I like ${other}`);
    erase = () => scene.confirmed('dm', 'erase');
    await scene.say('yard', `I like ${word}.`);
    await scene.settle();
    const everything = await scene.data.common.everything();
    expect([word, other].filter((each) => everything.includes(each))).toEqual([]);
    const held = await scene.data.common.list(`users/${aliceId}`);
    expect(held.map(({ path }) => path)).toEqual([]);
    const left = await scene.data.common.list(`sessions/${places.yard.channelId}`);
    expect(left.filter(({ bytes }) => bytes > 0)).toEqual([]);
    // And the person can start over.
    await scene.command('hall', `remember I like ${word}`);
    expect(await promptIn(scene, 'yard')).toContain(word);
  });

  it('erase what was forgotten after an erasing, also where others hear of that only later [K11] [S7]', async () => {
    let isHeard = false;
    const scene = await opened({ arrives: () => isHeard });
    await scene.confirmed('dm', 'erase');
    await scene.command('yard', `remember I like ${word}`);
    await scene.command('yard', `forget ${word}`);
    isHeard = true;
    scene.data.open().shared.processes.notices.tell({ kind: 'erased', userId: aliceId, isDone: false });
    await setImmediate();
    scene.posted.wait(11);
    await scene.settle();
    expect(await scene.data.common.everything()).not.toContain(word);
  });

  it('store nothing of a turn whose speaker pauses elsewhere meanwhile [K9]', async () => {
    let pause: (() => Promise<unknown>) | undefined;
    const scene = await opened({ ...lost, duringModelCall: async () => void (await pause?.()) });
    pause = () => scene.command('dm', 'pause');
    await scene.say('yard', 'Hello.');
    pause = undefined;
    const said = (await scene.logOf('yard')).map((record) => record.type === 'message' && record.role);
    expect(said).not.toContain('assistant');
    await scene.say('hall', `I like ${word}.`);
    expect(await scene.data.common.everything()).not.toContain(word);
  });
});
