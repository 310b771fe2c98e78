import { describe, expect, it } from 'vitest';

import { areSameDefinitions } from '../../../src/discord/interactions/same-definition.ts';

const wanted = {
  type: 1,
  name: 'memory',
  description: 'Memory',
  contexts: [0, 1],
  integration_types: [0],
  options: [
    {
      type: 1,
      name: 'forget',
      description: 'Forget',
      options: [{ type: 3, name: 'target', description: 'What', required: true, autocomplete: true }],
    },
  ],
};

/** As Discord answers: with ids and defaults, in an order of its own. */
const registered = {
  id: '100000000000000001',
  application_id: '100000000000000002',
  version: '100000000000000003',
  default_member_permissions: null,
  dm_permission: true,
  nsfw: false,
  name_localizations: null,
  ...wanted,
  contexts: [1, 0],
  options: [{ name_localizations: null, required: false, ...wanted.options[0] }],
};
const menu = { type: 3, name: 'Remember this' };

describe('whether commands are registered as they should be', () => {
  it('is not a question of order, defaults or what Discord adds', () => {
    expect(areSameDefinitions([{ ...menu, description: '', id: '1' }, registered], [wanted, menu])).toBe(
      true,
    );
  });

  it.each([
    ['another description', { ...wanted, description: 'See your memory' }],
    ['no DMs', { ...wanted, contexts: [0] }],
    ['another option', { ...wanted, options: [] }],
    ['no completion', { ...wanted, options: [{ ...wanted.options[0], options: [] }] }],
    ['choices', { ...wanted, options: [{ ...wanted.options[0], choices: [{ name: 'a', value: 'a' }] }] }],
  ])('is denied for %s', (_, changed) => {
    expect(areSameDefinitions([registered], [changed])).toBe(false);
  });

  it('is denied where one is missing or too many', () => {
    expect(areSameDefinitions([registered], [wanted, menu])).toBe(false);
    expect(areSameDefinitions([registered, menu], [wanted])).toBe(false);
  });
});
