import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { defineCommand, helpText, parseCommand } from '../../src/commands/command.ts';
import { memoryDefinition } from '../../src/commands/memory-command.ts';
import { settingsDefinition } from '../../src/commands/settings-command.ts';
import { statusDefinition } from '../../src/commands/status-command.ts';
import type { AttachedFile, CommandCall } from '../../src/core/message.ts';
import type { CommandDefinition, SubcommandDefinition } from '../../src/core/commands.ts';
import { withoutMentionMarks } from '../../src/core/own-words.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';

const botId = '500000000000000001';
const memory: CommandDefinition = memoryDefinition;
const definitions: readonly CommandDefinition[] = [memory, settingsDefinition, statusDefinition];

/** What the handler of such a command is given, or the help that is answered instead. */
async function read(
  definition: CommandDefinition,
  call: CommandCall | undefined,
  files: readonly AttachedFile[] = [],
): Promise<unknown> {
  if (call === undefined) throw new Error('No command');
  let given: unknown;
  const command = defineCommand(definition, {
    handle(input) {
      given = input;
      return Promise.resolve({ text: '' });
    },
  });
  const { text } = await command.answer({
    id: '400000000000000001',
    command: call,
    speaker: { id: aliceId, name: 'Alice', isOwner: true },
    place: publicPlace,
    ephemeral: true,
    at: '2026-01-15T10:00:00.000Z',
    files,
    work: { userId: aliceId },
  });
  return given ?? text;
}

function file(name: string): AttachedFile {
  return { name, size: 1, url: `https://cdn.discordapp.com/${name}` };
}

function readWords(words: string): Promise<unknown> {
  return read(memory, parseCommand(`!memory ${words}`, definitions));
}

describe('recognising a memory command [K1]', () => {
  it.each([
    ['!memory show', 'show', {}],
    ['!memory', '', {}],
    ['  !Memory   Show  ', 'show', {}],
    [`<@${botId}> !memory show`, 'show', {}],
    [`<@${botId}>, !memory forget x`, 'forget', { target: 'x' }],
    ['!memory:show', 'show', {}],
    ['!memory remember: I like `npm`', 'remember', { text: 'I like `npm`' }],
    ['!memory "show"!', 'show', {}],
    ['/memory data export', 'export', {}],
    ['／memory　forget　tea', 'forget', { target: 'tea' }],
    ['／memory　edit　text:　I　rest　id:1a2b', 'edit', { text: 'I　rest', id: '1a2b' }],
    ['!memory remember text: see above', 'remember', { text: 'text: see above' }],
    ['/memory remember I say text: see above', 'remember', { text: 'I say text: see above' }],
  ])('takes %j', (text, subcommand, options) => {
    expect(parseCommand(text, definitions, botId)).toEqual({ name: 'memory', subcommand, options });
  });

  it.each([
    '!memoryfoo',
    '!memory.show',
    'please !memory show',
    'memory show',
    '`!memory show` does nothing',
    '<@500000000000000002> !memory show',
    `<@&${botId}> !memory show`,
    '!catchup',
    '',
  ])('leaves %j to the conversation', (text) => {
    expect(parseCommand(text, definitions, botId)).toBeUndefined();
  });

  it.each(['!memroy show', '/memroy show', '!memoy SHOW', '!mamory  show now', `<@${botId}> !emory show`])(
    'recognises %j as a typo, and does nothing',
    async (text) => {
      const call = parseCommand(text, definitions, botId);
      expect(call).toMatchObject({ name: 'memory', subcommand: 'show', options: {} });
      expect(await read(memory, call)).toMatch(
        /^There is no command "!\S+"\. Did you mean `!memory show`\?$/u,
      );
    },
  );

  it.each([
    '!memorys show',
    '!memoryfoo show',
    '!memroy',
    '!memroy about tea',
    '!memo show',
    '!mermoyr show',
  ])('does not take %j for a command', (text) => {
    expect(parseCommand(text, definitions, botId)).toBeUndefined();
  });

  it('accepts no mention before the bot’s own id is known', () => {
    expect(parseCommand(`<@${botId}> !memory show`, definitions)).toBeUndefined();
    expect(parseCommand('!memory show', definitions)?.subcommand).toBe('show');
  });

  it('never takes a longer word for the command or a subcommand, and never loses words', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }).map(withoutMentionMarks), (tail) => {
        const isLonger = /^[\p{L}\p{M}\p{N}_-]/u.test(tail);
        const calls = [`!memory${tail} show`, `!memory remember${tail}`].map((each) =>
          parseCommand(each, definitions),
        );
        const isTaken = calls.map((call) => call?.misspelt === undefined && call?.subcommand);
        expect(isLonger && (isTaken[0] === 'show' || isTaken[1] === 'remember')).toBe(false);
        expect(parseCommand(`!memory remember ${tail}`, definitions)).toEqual({
          name: 'memory',
          subcommand: 'remember',
          options: { text: tail.trim() },
        });
      }),
    );
  });
});

describe('reading the words of a command', () => {
  it.each([
    ['show', { subcommand: 'show' }],
    ['remember  I like  tea ', { subcommand: 'remember', text: 'I like  tea' }],
    ['remember', { subcommand: 'remember', text: '' }],
    ['forget Acme Corp', { subcommand: 'forget', target: 'Acme Corp' }],
    ['forget a.*b(', { subcommand: 'forget', target: 'a.*b(' }],
    ['reset Rolling', { subcommand: 'reset', layer: 'rolling' }],
    ['hide 1a2b3c4d', { subcommand: 'hide', id: '1a2b3c4d' }],
    ['help', helpText(memory)],
    ['', helpText(memory)],
  ])('understands %j', async (words, expected) => {
    expect(await readWords(words)).toEqual(expected);
  });

  it.each(['forget', 'forget   ', 'reset', 'reset everything', 'share', 'hide 1 2', 'dance', 'constructor'])(
    'answers %j with help that says why',
    async (words) => {
      expect(await readWords(words)).toMatch(/^(?:I don't know|Write it as) .*\.\n\nBehind `!memory`/u);
    },
  );

  it.each([
    ['forgte tea', 'forget'],
    ['Shwo', 'show'],
    ['hlep', 'help'],
  ])('names the one that is meant by %j', async (words, meant) => {
    expect(await readWords(words)).toMatch(
      new RegExp(`^I don't know the command "\\w+"\\. Did you mean \`!memory ${meant}\`\\?\n\n`, 'u'),
    );
  });

  it('names an unknown command in one line, however it is written', async () => {
    const answer = await readWords('d\u0007ance now');
    expect(String(answer).split('\n')[0]).toBe(`I don't know the command "d ance".`);
  });
});

describe('a command that takes a file', () => {
  it('gets the attached one or none, and answers with help if there is more than one', async () => {
    const call = parseCommand('!memory import please', definitions);
    expect(await read(memory, call, [file('a.zip')])).toEqual({
      subcommand: 'import',
      file: file('a.zip'),
      list: 'please',
    });
    expect(await read(memory, call, [])).toEqual({ subcommand: 'import', list: 'please' });
    expect(await read(memory, call, [file('a.zip'), file('b.zip')])).toMatch(/^Write it as `!memory import/u);
  });
});

describe('the two forms of a command [K0]', () => {
  it('may be written with the group that the slash form stands in', () => {
    for (const definition of definitions)
      for (const [subcommand, { group }] of Object.entries<SubcommandDefinition>(
        definition.subcommands ?? {},
      )) {
        const form = (words: string) => parseCommand(`!${definition.name} ${words}`, definitions);
        expect(form(`${group ?? ''} ${subcommand} 1a2b`)).toEqual(form(`${subcommand} 1a2b`));
      }
    expect(parseCommand('!memory remember data export', definitions)?.options).toEqual({
      text: 'data export',
    });
    expect(parseCommand('!memory data', definitions)?.subcommand).toBe('data');
    expect(parseCommand('!memory item export', definitions)?.subcommand).toBe('item');
  });

  it.each<{ readonly subcommand: string; readonly options: Readonly<Record<string, string>> }>([
    { subcommand: 'share', options: { id: 'two words' } },
    { subcommand: 'reset', options: { layer: 'everything' } },
    { subcommand: 'forget', options: { target: '  ' } },
    { subcommand: 'forget', options: {} },
  ])('are judged alike: $subcommand $options', async (call) => {
    const { subcommand, options } = call;
    const words = Object.values(options).join(' ');
    expect(await read(memory, { name: 'memory', ...call })).toBe(await readWords(`${subcommand} ${words}`));
  });

  it('keep to the lengths that Discord allows', () => {
    for (const { name, description, subcommands = {}, help } of definitions) {
      const subcommandsAndHelp = { ...subcommands, ...(help !== undefined && { help }) };
      const options = Object.values(subcommands).map((subcommand) => subcommand.options ?? {});
      const described = [{ [name]: { description } }, subcommandsAndHelp, ...options].flatMap(Object.entries);
      for (const [key, of] of described) {
        expect(key).toMatch(/^[a-z-]{1,32}$/u);
        expect(of.description.length).toBeLessThanOrEqual(100);
      }
    }
  });
});
