import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { answeringBy, chatCall, sectionIn, toldIn } from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';

let stage: Stage;

/** The lines that a person's prompt in a place has of other channels. */
async function linesFor(as: string, place: string): Promise<readonly string[]> {
  const call = await chatCall(stage, as, place, 'what did I ask elsewhere?');
  const section = sectionIn(call, 'recent_elsewhere');
  return section.split('\n').filter((line) => line.startsWith('- #'));
}

/** How many exchanges of a person are on disk for the guild. */
async function kept(name: string): Promise<number> {
  const path = `data/users/${stage.info.people[name]}/short-term/${stage.info.guilds['Sandbox']}.json`;
  const file = await stage.readFile(path).catch(() => '');
  return file.split('"messageIds"').length - 1;
}

function open(environment: Readonly<Record<string, string>>): Promise<Stage> {
  return openStage({
    environment: { DISCOCLAW_SUMMARY_ENABLED: 'false', ...environment },
    model: answeringBy({
      chat: ({ messages }) => {
        const asked = messages?.at(-1)?.content.at(-1)?.text ?? '';
        return { text: `Noted: ${/\n(?<words>.*)\n<\/message>/u.exec(asked)?.groups?.['words'] ?? ''}` };
      },
    }),
  });
}

it('carries nothing across channels unless it is turned on [T1]', async () => {
  stage = await open({});
  await using _ = stage;
  await stage.ask('carol', '#dev', 'How do I link mold?');
  await stage.ask('carol', '#dev', 'And lld?');
  const call = await chatCall(stage, 'carol', '#general', 'hello');
  expect(toldIn(call)).not.toMatch(/mold|lld|recent_elsewhere/u);
  expect(await kept('carol')).toBe(0);
});

describe('turned on, with three entries at most', () => {
  beforeAll(async () => {
    stage = await open({
      DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
      DISCOCLAW_SHORTTERM_MAX_ENTRIES: '3',
    });
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  it('takes a line from a public channel to the other channels and the DM, with channel and clock time [T1][T2]', async () => {
    await stage.ask('alice', '#dev', 'How do I link mold?');
    await expect.poll(() => kept('alice')).toBe(1);
    const line =
      /^- #dev, \d{4}-\d\d-\d\d \d\d:\d\d: "How do I link mold\?" → "Noted: How do I link mold\?"$/u;
    expect(await linesFor('alice', 'dm')).toEqual([expect.stringMatching(line)]);
    expect(await linesFor('alice', '#secret')).toEqual([expect.stringMatching(line)]);
    expect(await linesFor('alice', '#general')).toEqual([expect.stringMatching(line)]);
    await expect.poll(() => kept('alice')).toBe(2);
    expect(await linesFor('alice', '#dev')).toEqual([expect.stringMatching(/^- #general, /u)]);
  });

  it('keeps the newest three, newest first, and clips them at a word [T1]', async () => {
    const { id, name } = await stage.sandbox.addPerson({ name: 'dave' });
    const path = `data/users/${id}/short-term/${stage.info.guilds['Sandbox']}.json`;
    for (const ask of ['first', 'second', 'third', 'fourth', `fifth ${'on and on '.repeat(30)}`])
      await stage.ask(name, '#dev', ask);
    await expect.poll(() => stage.readFile(path).catch(() => '')).toContain('"fifth');
    const lines = await linesFor(name, '#general');
    expect(lines.map((line) => /"(?<word>\w+)/u.exec(line)?.groups?.['word'])).toEqual([
      'fifth',
      'fourth',
      'third',
    ]);
    // Alice's words stood in view of the answers, so that their own words are in no line [M5a].
    expect(lines[0]).toMatch(/: "fifth on and [a-z ]* (?:on|and)…" \(answered there\)$/u);
  });
});
