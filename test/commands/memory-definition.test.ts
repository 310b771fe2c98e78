import { describe, expect, it } from 'vitest';

import { parseWords } from '../../src/commands/memory-words.ts';
import { memoryDefinition, wordsFromSlash } from '../../src/commands/memory-definition.ts';

describe('the slash command', () => {
  it('has a subcommand for each command, and each is understood', () => {
    const example: Readonly<Record<string, string>> = {
      query: 'tea',
      text: 'I like tea',
      target: 'tea',
      layer: 'rolling',
      id: '1a2b3c4d',
    };
    const names = memoryDefinition.options.map((subcommand) => {
      const options = 'options' in subcommand ? subcommand.options : [];
      const values = Object.fromEntries(options.map(({ name }) => [name, example[name] ?? '']));
      expect(parseWords(wordsFromSlash(subcommand.name, values))).toMatchObject({
        command: subcommand.name,
        ...values,
      });
      return subcommand.name;
    });
    expect(names).toEqual(['show', 'search', 'remember', 'forget', 'reset', 'share', 'hide', 'help']);
  });

  it('can be used in guilds and in DMs', () => {
    expect(memoryDefinition.contexts).toEqual([0, 1]);
  });

  it('keeps to the lengths that Discord allows', () => {
    const described = [memoryDefinition, ...memoryDefinition.options];
    for (const { name, description } of described) {
      expect(name).toMatch(/^[a-z]{1,32}$/u);
      expect(description.length).toBeLessThanOrEqual(100);
    }
  });
});
