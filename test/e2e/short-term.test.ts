import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { answeringBy, chatCall, sectionIn, toldIn } from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';

let stage: Stage;

/** The lines that a person's prompt in a place has of other channels: those of the section, then those that came since [P2]. */
async function linesFor(as: string, place: string): Promise<readonly string[]> {
  const call = await chatCall(stage, as, place, 'what did I ask elsewhere?');
  const sections = sectionIn(call, 'recent_elsewhere') + sectionIn(call, 'changes');
  return sections.split('\n').filter((line) => line.startsWith('- #'));
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

  it('takes nothing out of a DM or a private channel, and nothing to anybody else or another guild [T1][V2]', async () => {
    const guild = await stage.sandbox.addGuild({ name: 'Other', owner: 'bob', members: ['alice'] });
    const other = await stage.sandbox.addChannel({ guild: guild.id, name: 'lounge' });
    await stage.ask('bob', 'dm', 'My diagnosis came.');
    await stage.ask('bob', '#secret', 'We buy the company.');
    await stage.ask('bob', '#dev', 'How do I use tmux?');
    await expect.poll(() => kept('bob')).toBe(1);

    const bobs = await linesFor('bob', '#general');
    expect(bobs).toHaveLength(1);
    expect(bobs[0]).toContain('tmux');
    for (const place of ['#general', 'dm', '#dev'])
      expect((await linesFor('carol', place)).join('\n')).not.toContain('tmux');
    const elsewhere = await chatCall(stage, 'bob', other.id, `<@${stage.info.bot.id}> hello`);
    expect(toldIn(elsewhere)).not.toMatch(/tmux|diagnosis|company/u);
    await expect.poll(() => linesFor('bob', 'dm').then(String)).toMatch(/#lounge[\s\S]*tmux/u);
    expect(JSON.stringify(await linesFor('bob', '#dev'))).not.toMatch(/diagnosis|company/u);
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
    expect(lines[0]).toMatch(/: "fifth on and [a-z ]* (?:on|and)…" → "Noted: fifth [a-z ]* (?:on|and)…"$/u);
  });

  it('is still there after a start, and leaves with a forgotten word', async () => {
    await stage.ask('carol', '#dev', 'How do I cook borscht?');
    await expect.poll(() => kept('carol')).toBeGreaterThan(0);
    await expect.poll(() => linesFor('carol', 'dm').then(String)).toContain('borscht');
    await stage.stopBot();
    await stage.startBot();
    expect(String(await linesFor('carol', 'dm'))).toContain('borscht');
    await stage.ask('carol', '#general', '!memory forget borscht');
    expect(String(await linesFor('carol', 'dm'))).not.toContain('borscht');
  });
});
