import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ModelError } from '../../../src/core/errors.ts';
import { createWeeklyTrim, type WeeklyTrimOptions } from '../../../src/memory/notebook/weekly-trim.ts';
import { aliceId, publicPlace } from '../../support/incoming.ts';
import { ScriptedModel, inputOf } from '../../support/scripted-model.ts';
import { dmPlace, openSessions, silent } from '../../support/sessions.ts';
import { openUncheckedNotebook } from './fake-notebook.ts';
import { runs } from '../../support/runs.ts';

const folder = `users/${aliceId}/notebook`;
const profileKey = `${folder}/USER.md`;
const inDm = { channelId: dmPlace.channelId, userId: aliceId };
const weekMs = 7 * 86_400_000;

const profile = '# Alice\n\n- Gardens\n- Grows seven kinds of tomatoes\n- Has a blue shed';
const good = {
  userMd: '# Alice\n\n- Gardens',
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
    openNotebook: openUncheckedNotebook,
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
    expect(await store.readText(profileKey)).toBe('# Alice\n\n- Gardens\n');
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
    ['changes a line', { ...good, userMd: '# Alice\n\n- Has a garden' }],
    [
      'merges lines',
      {
        ...good,
        topics: [{ path: 'topics/a.md', content: '- Grows seven kinds of tomatoes, has a blue shed' }],
      },
    ],
    ['adds a line to the profile', { ...good, userMd: `${good.userMd}\n- Hates Bob` }],
    [
      'adds a line to a topic',
      {
        ...good,
        topics: good.topics.map((topic) => ({ ...topic, content: `${topic.content}\n- Hates Bob` })),
      },
    ],
    ['does not make it shorter', { userMd: `${profile}\n`, topics: [] }],
    [
      'writes outside of topics',
      { ...good, topics: good.topics.map((topic) => ({ ...topic, path: 'facts/user.md' })) },
    ],
    [
      'writes another person’s file',
      { ...good, topics: good.topics.map((topic) => ({ ...topic, path: '/workspace/SOUL.md' })) },
    ],
  ])('is refused with every file untouched when the answer %s', async (_, answer) => {
    const { store, trim } = await setUp(answer);
    expect(await trim.trimIfDue(inDm)).toBe('refused');
    expect((await store.list('users')).filter(({ path }) => path.endsWith('.md'))).toEqual([
      { path: `${aliceId}/notebook/USER.md`, bytes: profile.length },
    ]);
    expect(await store.readText(profileKey)).toBe(profile);
  });

  it.each([
    ['no JSON', 'Here you go: …'],
    ['JSON of another shape', '{"userMd": 1}'],
    ['a cut answer', { text: JSON.stringify(good), stop: 'cut' as const }],
    ['a model that is down', new ModelError('down', 'unavailable')],
  ])('fails without a change, and is tried again, after %s', async (_, answer) => {
    const { model, store, trim } = await setUp();
    model.become(() => answer);
    expect(await trim.trimIfDue(inDm)).toBe('failed');
    expect(await store.readText(profileKey)).toBe(profile);
    model.become(() => `\`\`\`json\n${JSON.stringify(good)}\n\`\`\``);
    expect(await trim.trimIfDue(inDm)).toBe('trimmed');
  });

  it('gives way to a change by hand', async () => {
    const { model, store, trim } = await setUp();
    model.become(async () => {
      await store.writeText(profileKey, `${profile}\n- Likes tea`);
      return JSON.stringify(good);
    });
    expect(await trim.trimIfDue(inDm)).toBe('dropped');
    expect(await store.readText(profileKey)).toContain('Likes tea');
  });

  it('never loses a line, whatever the answer leaves out', async () => {
    const lines = fc.uniqueArray(fc.stringMatching(/^- [a-z]{1,12}$/u), { minLength: 4, maxLength: 12 });
    const where = fc.array(fc.constantFrom('profile', 'topic', 'both', 'nowhere'), {
      minLength: 12,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(lines, where, async (old, places) => {
        const inPart = (part: string) =>
          old.filter((_, index) => places[index] === part || places[index] === 'both').join('\n');
        const answer = {
          userMd: inPart('profile'),
          topics: [{ path: 'topics/rest.md', content: inPart('topic') }],
        };
        const { store, trim } = await setUp(answer, { profileMaxChars: 10 });
        await store.writeText(profileKey, old.join('\n'));
        const outcome = await trim.trimIfDue(inDm);
        const after = [
          await store.readText(profileKey),
          await store.readText(`${folder}/topics/rest.md`),
        ].join('\n');
        for (const line of old) expect(after.split('\n')).toContain(line);
        const isLost = old.some((_, index) => places[index] === 'nowhere');
        expect(outcome === 'refused' || !isLost).toBe(true);
      }),
      { numRuns: runs(100) },
    );
  });
});
