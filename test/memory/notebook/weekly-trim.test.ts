import { describe, expect, it } from 'vitest';

import { ModelError } from '../../../src/core/errors.ts';
import { createWeeklyTrim, type WeeklyTrimOptions } from '../../../src/memory/notebook/weekly-trim.ts';
import { aliceId, publicPlace } from '../../support/incoming.ts';
import { ScriptedModel, inputOf } from '../../support/scripted-model.ts';
import { dmPlace, openSessions, silent } from '../../support/sessions.ts';

const folder = `users/${aliceId}/notebook`;
const profileKey = `${folder}/USER.md`;
const inDm = { channelId: dmPlace.channelId, userId: aliceId };
const weekMs = 7 * 86_400_000;

const profile = '# Alice\n\n- Gardens\n- And so on\n- Grows seven kinds of tomatoes\n- Has a blue shed';
const good = {
  userMd: '# Alice\n\n- Gardens\n- And so on',
  topics: [{ path: 'topics/garden.md', content: '- Grows seven kinds of tomatoes\n- Has a blue shed' }],
};

async function setUp(answer: unknown = good, changes: Partial<WeeklyTrimOptions> = {}) {
  const sessions = openSessions();
  const { store, writes, states, clock } = sessions;
  const model = new ScriptedModel(() => JSON.stringify(answer));
  const trim = createWeeklyTrim({
    store,
    writes,
    states,
    timeZone: 'UTC',
    model,
    modelName: 'haiku',
    withPauses: (_, work) => work(),
    profileMaxChars: 30,
    clock,
    logger: silent,
    ...changes,
  });
  await store.writeText(profileKey, profile);
  await sessions.say('hello', dmPlace);
  return { sessions, store, model, trim };
}

describe('the weekly trim [N7]', () => {
  it('moves lines of an overlong profile to topics', async () => {
    const { store, model, trim } = await setUp();
    expect(await trim.trimIfDue(inDm)).toBe('trimmed');
    expect(inputOf(model.requests[0])).toContain('- Has a blue shed');
    expect(await store.readText(profileKey)).toBe('# Alice\n\n- Gardens\n- And so on\n');
    expect(await store.readText(`${folder}/topics/garden.md`)).toBe(
      '- Grows seven kinds of tomatoes\n- Has a blue shed\n',
    );
  });

  it('comes once a week at most, even if the answer was refused', async () => {
    const { sessions, model, store, trim } = await setUp({ userMd: '', topics: [] });
    expect(await trim.trimIfDue(inDm)).toBe('refused');
    sessions.time.now += weekMs - 1;
    expect(await trim.trimIfDue(inDm)).toBe('not-due');
    sessions.time.now += 1;
    model.become(() => JSON.stringify(good));
    expect(await trim.trimIfDue(inDm)).toBe('trimmed');
    await store.writeText(profileKey, profile);
    expect(await trim.trimIfDue(inDm)).toBe('not-due');
    expect(model.requests).toHaveLength(2);
  });

  it('leaves a profile within its budget alone, and everything outside of DMs', async () => {
    const { sessions, model, store, trim } = await setUp();
    await sessions.say('hello', publicPlace);
    expect(await trim.trimIfDue({ ...inDm, channelId: publicPlace.channelId })).toBe('not-due');
    await store.writeText(profileKey, 'x'.repeat(30));
    expect(await trim.trimIfDue(inDm)).toBe('not-due');
    expect(model.requests).toEqual([]);
  });

  it.each([
    ['drops a line', { ...good, topics: [{ path: 'topics/garden.md', content: '- Has a blue shed' }] }],
    ['drops a line that tells nothing', { ...good, userMd: '# Alice\n\n- Gardens' }],
    ['changes a line', { ...good, userMd: '# Alice\n\n- Has a garden' }],
    ['adds a line', { ...good, userMd: `${good.userMd}\n- Hates Bob` }],
    [
      'writes outside of topics',
      { ...good, topics: good.topics.map((topic) => ({ ...topic, path: 'facts/user.md' })) },
    ],
  ])('is refused with every file untouched when the answer %s', async (_, answer) => {
    const { store, trim } = await setUp(answer);
    expect(await trim.trimIfDue(inDm)).toBe('refused');
    expect((await store.list(folder)).map(({ path }) => path)).toEqual(['USER.md']);
    expect(await store.readText(profileKey)).toBe(profile);
  });

  it('fails without a change, and is tried again, after a cut answer', async () => {
    const { model, store, trim } = await setUp();
    model.become(() => ({ text: JSON.stringify(good), stop: 'cut' as const }));
    await expect(trim.trimIfDue(inDm)).rejects.toBeInstanceOf(ModelError);
    expect(await store.readText(profileKey)).toBe(profile);
    model.become(() => JSON.stringify(good));
    expect(await trim.trimIfDue(inDm)).toBe('trimmed');
  });
});
