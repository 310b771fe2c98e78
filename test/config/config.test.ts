import { describe, expect, it } from 'vitest';

import { ConfigError, readConfig } from '../../src/config/config.ts';

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('the configuration', () => {
  it('has no sandbox of its own where another server takes the place of Discord, which needs its token', () => {
    expect(problemsOf({ DISCORD_API_URL: 'http://127.0.0.1:4000/api' })).toEqual([
      'DISCORD_TOKEN: expected the token for the server at DISCORD_API_URL, found nothing',
    ]);
  });

  it('names every bad variable in one error [I1]', () => {
    const problems = problemsOf({
      DISCOCLAW_ACCESS: 'friends',
      DISCOCLAW_MODEL_CONCURRENCY: 'many',
      DISCOCLAW_TIMEZONE: 'Mars/Olympus',
      DISCORD_ALLOW_USER_IDS: '12, alice',
      ANTHROPIC_BASE_URL: 'nowhere',
      DISCOCLAW_SUMMARY_ENABLED: 'perhaps',
    });
    expect(problems).toHaveLength(6);
    expect(problems.join('\n')).toContain(
      'DISCOCLAW_MODEL_CONCURRENCY: expected a whole number from 1, found "many"',
    );
  });

  it.each([
    ...['', '/v1', '/v1/', '/v1/messages', '/messages'].map((end) => [
      `http://host:80${end}`,
      'http://host:80',
    ]),
    ['https://openrouter.ai/api/v1', 'https://openrouter.ai/api'],
    ['https://gateway.example/v1/acme', 'https://gateway.example/v1/acme'],
  ])("takes the model's address as other programs want it: %s [M1]", (ANTHROPIC_BASE_URL, address) => {
    expect(readConfig({ ANTHROPIC_BASE_URL }).config.model.baseUrl).toBe(address);
  });

  it('has the page on with a port and an address, and never where others could listen in [Y1]', () => {
    const DISCOCLAW_PAGE_PORT = '8080';
    const pageAt = (DISCOCLAW_PAGE_URL: string, more: Record<string, string> = {}) =>
      readConfig({ DISCOCLAW_PAGE_PORT, DISCOCLAW_PAGE_URL, ...more }).config.page;
    expect(readConfig({}).config.page).toMatchObject({ isOn: false, host: '127.0.0.1' });
    expect(pageAt('').isOn).toBe(false);
    expect(pageAt('https://a.example', { DISCOCLAW_PAGE_PORT: '0' }).isOn).toBe(false);
    expect(pageAt('https://a.example', { DISCOCLAW_MEMORY_COMMANDS_ENABLED: 'off' }).isOn).toBe(false);
    expect(pageAt('https://a.example/')).toMatchObject({ isOn: true, url: 'https://a.example' });
    for (const url of ['http://localhost:8080', 'http://127.0.0.1:8080', 'http://[::1]:8080'])
      expect(pageAt(url).url).toBe(url);
    for (const url of [
      'http://a.example',
      'http://10.0.0.1',
      'ftp://127.0.0.1',
      'https://a.example/memory',
      'x',
    ])
      expect(problemsOf({ DISCOCLAW_PAGE_URL: url })).toEqual([
        expect.stringContaining('DISCOCLAW_PAGE_URL: expected an https address without a path'),
      ]);
  });

  it('reads amounts and prices, and rejects anything else [L2]', () => {
    const { config } = readConfig({
      DISCOCLAW_DAILY_COST_USD: '5',
      DISCOCLAW_DAILY_COST_PER_PERSON_USD: '0.50',
      DISCOCLAW_MODEL_PRICES: 'org/llama:70b=0.5/1.5, free=0/0',
    });
    expect(config.limits).toEqual({ turnsPerMinute: 10, dailyCost: 5, dailyCostPerPerson: 0.5 });
    expect(config.model.prices).toEqual({
      'org/llama:70b': { input: 0.5, output: 1.5 },
      free: { input: 0, output: 0 },
    });
    for (const bad of ['llama', 'llama=', '=1/2', 'llama=1', 'llama=1/2/3', 'llama=1/-2', 'llama=1/1e3'])
      expect(problemsOf({ DISCOCLAW_MODEL_PRICES: bad })[0]).toContain(
        'expected prices as model=input/output',
      );
    const free = readConfig({ DISCOCLAW_TRANSCRIBE_PRICE: '0' }).config.transcription;
    expect(free).toMatchObject({ model: 'whisper-1', minutePrice: 0 });
    for (const bad of ['0', '-1', '5 dollars', '$5', 'NaN', '1e9', '99999999'])
      expect(problemsOf({ DISCOCLAW_DAILY_COST_USD: bad })[0]).toContain('expected an amount in US dollars');
  });

  it('reads shards, and rejects combinations that make no sense [X3]', () => {
    expect(readConfig({}).config.shards).toEqual({ count: 1, ids: undefined });
    const all = { DISCOCLAW_SHARDS: '8', DISCOCLAW_SHARD_IDS: '4-7, 0 1-3' };
    expect(readConfig(all).config.shards.ids).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(readConfig({ DISCOCLAW_SHARDS: 'AUTO' }).config.shards.count).toBe('auto');
    for (const bad of ['0', '-1', '1.5', 'some', '100000'])
      expect(problemsOf({ DISCOCLAW_SHARDS: bad })[0]).toContain('expected a whole number from 1, or auto');
    for (const bad of ['3-1', 'a', '1-', '-1', '1..3', ','])
      expect(problemsOf({ DISCOCLAW_SHARDS: '9', DISCOCLAW_SHARD_IDS: bad })[0]).toContain('such as 0-3,6');
    expect(problemsOf({ DISCOCLAW_SHARDS: '2', DISCOCLAW_SHARD_IDS: '0-2' })[0]).toContain(
      'expected numbers of shards from 0 to 1, found 2',
    );
    expect(problemsOf({ DISCOCLAW_SHARDS: 'auto', DISCOCLAW_SHARD_IDS: '0' })[0]).toContain(
      'processes must agree',
    );
  });

  it('says what to do if several processes are to share files [X3]', () => {
    expect(problemsOf({ DISCOCLAW_SHARDS: '4', DISCOCLAW_SHARD_IDS: '0-1' })).toEqual([
      'DISCOCLAW_SHARD_IDS: files belong to one process: set DISCOCLAW_STORE to a database that the processes share, or run all shards in one without DISCOCLAW_SHARD_IDS',
    ]);
  });

  it('notes a name that looks like a typing error', () => {
    const { notes } = readConfig({ DISCOCLAW_MODLE: 'opus' });
    expect(notes[0]).toContain('did you mean DISCOCLAW_MODEL?');
  });

  it('takes no address of a database whose password is cut short by a sign of its own [O7]', () => {
    for (const password of ['p@ss/word', 'p@ss?word', 'p@ss#word']) {
      const read = () => readConfig({ DISCOCLAW_STORE: `postgres://bot:${password}@db.example/memory` });
      expect(read).toThrow(/DISCOCLAW_STORE: expected .* %40.* found something else$/mu);
    }
    const url = 'postgres://bot:p%40ss%2Fword@db.example/memory';
    expect(readConfig({ DISCOCLAW_STORE: url }).config.storage.databaseUrl).toBe(url);
  });
});
