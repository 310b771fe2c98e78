import { readFile, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { transform } from 'esbuild';
import { describe, expect, it } from 'vitest';

import { readArguments } from '../src/bot/command-line.ts';
import { startChild } from './e2e/child.ts';
import { openStage } from './e2e/stage.ts';

/** The program cannot listen for signals: nobody expects that. */
const withoutSignals = `data:text/javascript,${encodeURIComponent(
  `const { on } = process;
   process.on = function (name, ...rest) {
     if (name === 'SIGTERM') throw new Error('planted');
     return on.call(this, name, ...rest);
   };`,
)}`;

function read(path: string): Promise<string> {
  return readFile(new URL(`../${path}`, import.meta.url), 'utf8');
}

/** What a process has loaded, of which its coverage tells: our sources below the project's folder, and files of packages. */
async function loadedSources(coverage: string): Promise<readonly string[]> {
  const reports = await Promise.all(
    (await readdir(coverage)).map((name) => readFile(join(coverage, name), 'utf8')),
  );
  const scripts = reports.flatMap((report): readonly { url: string }[] => JSON.parse(report).result);
  const built = scripts.filter(
    ({ url }) => /\/dist\/\w+\/[^/]+\.js$/u.test(url) && !url.includes('/node_modules/'),
  );
  const maps = await Promise.all(
    built.map(async ({ url }): Promise<{ sources: readonly string[] }> =>
      JSON.parse(await readFile(`${fileURLToPath(url)}.map`, 'utf8')),
    ),
  );
  const ours = maps.flatMap(({ sources }) => sources.map((source) => source.replace(/^(?:\.\.\/)+/u, '')));
  return [...ours, ...scripts.map(({ url }) => url).filter((url) => url.includes('/node_modules/'))];
}

describe.concurrent('the program', () => {
  it('exits within seconds of a signal, even if Discord delays its reply for minutes [G4]', async () => {
    await using stage = await openStage({ model: () => ({ text: 'Here you are.' }) });
    await stage.sandbox.setFault({
      kind: '429',
      retryAfterSeconds: 300,
      scope: 'user',
      route: 'POST /channels/*/messages',
    });
    await stage.sandbox.say({ as: 'alice', in: 'dm', text: 'Are you there?' });
    await stage.bot().waitFor('rate limited by Discord');
    const began = Date.now();
    await stage.stopBot();
    // Ten, on a machine that is not busy.
    expect(Date.now() - began).toBeLessThan(60_000);
  });

  it('names the source line of an unexpected error', async () => {
    const source = await readFile(new URL('../src/main.ts', import.meta.url), 'utf8');
    const line = source.split('\n').findIndex((text) => text.includes('process.on(signal')) + 1;
    const child = startChild({
      script: 'main.js',
      folder: tmpdir(),
      environment: { NODE_OPTIONS: `--import=${withoutSignals}` },
    });
    expect(await child.exited).toBe(1);
    expect(child.output()).toMatch(/^Error: planted\n/mu);
    expect(child.output()).toContain(`/src/main.ts:${line}:`);
  });

  it('loads neither the sandbox nor the Anthropic SDK with a token and no model', async () => {
    await using stage = await openStage();
    await stage.stopBot();
    const coverage = join(stage.folder, 'coverage');
    const environment = { ...stage.environment, NODE_V8_COVERAGE: coverage };
    const bot = startChild({ script: 'main.js', folder: stage.folder, environment });
    await bot.waitFor('"the bot is ready"');
    await bot.end('SIGTERM');
    const sources = await loadedSources(coverage);
    expect(sources).toContain('src/discord/gateway.ts');
    expect(sources).toContainEqual(expect.stringContaining('/node_modules/discord.js/'));
    expect(sources.filter((path) => /fastify|@anthropic-ai|^src\/sandbox/u.test(path))).toEqual([]);
  });

  it('prints its usage for --help and starts nothing [O6]', async () => {
    const child = startChild({ script: 'main.js', folder: tmpdir(), arguments: ['--help'] });
    expect(await child.exited).toBe(0);
    expect(readArguments(['-h'])).toEqual(readArguments(['--help']));
    for (const command of ['npm start', 'npm run setup', 'npm run doctor'])
      expect(child.output()).toContain(command);
  });

  it('prints its version for --version [O6]', async () => {
    const { version }: { version: string } = JSON.parse(
      await readFile(new URL('../package.json', import.meta.url), 'utf8'),
    );
    const child = startChild({ script: 'main.js', folder: tmpdir(), arguments: ['--version'] });
    expect(await child.exited).toBe(0);
    expect(child.output()).toBe(`${version}\n`);
  });

  it('names an unknown argument, prints its usage and exits with code 2 [O6]', async () => {
    const child = startChild({ script: 'main.js', folder: tmpdir(), arguments: ['--hlep'] });
    expect(await child.exited).toBe(2);
    const [first = ''] = child.output().split('\n');
    expect(first).toContain('--hlep');
    expect(child.output()).toContain('npm run doctor');
  });

  it.each([['docter'], ['-x'], ['doctor', 'twice'], ['--help=yes']])(
    'rejects the arguments %s %s [O6]',
    (...words) => {
      expect(() => readArguments(words)).toThrow(words.at(-1)?.split('=')[0]);
    },
  );

  it.each(['18.20.4', '20.18.9', '14.0.0'])(
    'says in one sentence that Node.js %s is too old, whatever the arguments, and exits with code 78 [O6]',
    async (version) => {
      const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
      const child = startChild({
        script: 'main.js',
        folder: tmpdir(),
        arguments: ['--help'],
        environment: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(old)}` },
      });
      expect(await child.exited).toBe(78);
      expect(child.output()).toMatch(
        new RegExp(`^Discoclaw needs Node.js 20.19 or newer, and this is ${version}: [^\\n]+\\n$`, 'u'),
      );
    },
  );

  it('begins with code that the first versions with modules can parse, and requires the version that the package requires [O6]', async () => {
    const source = await read('dist/main.js');
    const [asIs, forOld] = await Promise.all(
      ['esnext', 'node13.2'].map((target) => transform(source, { format: 'esm', target })),
    );
    expect(forOld?.code).toBe(asIs?.code);
    const { engines }: { engines: { node: string } } = JSON.parse(await read('package.json'));
    expect(source).toContain(`[${engines.node.replace('>=', '').split('.').join(', ')}]`);
  });
});
