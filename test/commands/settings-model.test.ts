import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createModelChoice } from '../../src/bot/create-model.ts';
import { answerModel } from '../../src/commands/settings-owner.ts';
import { readConfig } from '../../src/config/config.ts';
import { noUsage } from '../../src/core/model.ts';
import { createBotSettings } from '../../src/memory/settings/bot-settings.ts';
import { callCost } from '../../src/model/anthropic/models.ts';
import { runs } from '../support/runs.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';

const served = ['claude-opus-5-5', 'claude-sonnet-5-5', 'qwen/qwen3-8b'];

function modelCommand(environment: Readonly<Record<string, string>> = {}, ids: readonly string[] = served) {
  const store = new MemoryStore();
  const { config } = readConfig({ ANTHROPIC_API_KEY: 'sk-1', ...environment });
  const botSettings = createBotSettings(store);
  const modelChoice = createModelChoice(config, botSettings, async () => ids);
  async function give(name?: string, isOwner = true): Promise<string> {
    const speaker = { id: aliceId, name: 'Alice', isOwner };
    const context = {
      id: '4',
      speaker,
      place: publicPlace,
      ephemeral: true,
      at: '',
      work: { userId: speaker.id },
    };
    return (await answerModel(name, context, modelChoice)).text;
  }
  return { store, botSettings, give, current: modelChoice.current };
}

describe('the model that answers is chosen [M10]', () => {
  it.each([
    ['by its id', 'qwen/qwen3-8b', 'qwen/qwen3-8b', 'Done'],
    ['by an alias', 'opus', 'opus', 'Done'],
    ['not where the server lacks it', 'qwen3', 'sonnet', 'Did you mean qwen/qwen3-8b, '],
    ['not an alias for what the server lacks', 'haiku', 'sonnet', 'has no haiku'],
  ])('%s', async (_, name, chosen, told) => {
    const { give, current } = modelCommand();
    expect(await give(name)).toContain(told);
    expect(await current()).toBe(chosen);
    expect(await give('Default')).toContain('I answer with sonnet again');
    expect(await current()).toBe('sonnet');
  });

  it('unchecked where the server has no list, which is said', async () => {
    const { give, current } = modelCommand({}, []);
    expect(await give()).toContain("My model's server gives me no list of its models.");
    expect(await give('qwen3')).toContain('So I could not check the name.');
    expect(await current()).toBe('qwen3');
  });

  it('with a limit on cost only where its price is known, also later [L2]', async () => {
    const limited = modelCommand({ DISCOCLAW_DAILY_COST_USD: '1' });
    expect(await limited.give('qwen/qwen3-8b')).toContain(
      'give it in DISCOCLAW_MODEL_PRICES, as qwen/qwen3-8b=INPUT/OUTPUT',
    );
    await limited.botSettings.change((settings) => ({ ...settings, model: 'qwen/qwen3-8b' }));
    expect(await limited.current()).toBe('sonnet');
    const priced = modelCommand({
      DISCOCLAW_DAILY_COST_PER_PERSON_USD: '1',
      DISCOCLAW_MODEL_PRICES: 'qwen/qwen3-8b=0/0',
    });
    expect(await priced.give('qwen/qwen3-8b')).toContain('Done');
    expect(await priced.current()).toBe('qwen/qwen3-8b');
  });

  it('never so that one without a known price answers under a limit, whatever stands in the settings [L2]', async () => {
    const names = fc.oneof(fc.constantFrom('opus', 'claude-haiku-5-5', 'qwen3', 'sonnet '), fc.string());
    const limited = modelCommand({ DISCOCLAW_DAILY_COST_USD: '1', DISCOCLAW_MODEL_PRICES: 'qwen3=1/1' });
    const check = async (name: string): Promise<void> => {
      await limited.botSettings.change((settings) => ({ ...settings, model: name }));
      expect(callCost(await limited.current(), noUsage, { qwen3: { input: 1, output: 1 } })).toBeDefined();
    };
    await fc.assert(fc.asyncProperty(names, check), { numRuns: runs(100) });
  });

  it('by nobody but an owner, and not where no model is configured', async () => {
    const { give, current } = modelCommand();
    expect(await give('opus', false)).toContain('Only my owner');
    expect(await current()).toBe('sonnet');
    expect(await modelCommand({ ANTHROPIC_API_KEY: '' }).give('opus')).toContain('npm run setup');
  });
});
