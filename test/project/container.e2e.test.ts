import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { runProcess } from '../support/processes.ts';

const root = new URL('../..', import.meta.url).pathname;
const read = (name: string) => readFile(join(root, name), 'utf8');
let image: string;

/** The folder that the last stage of the Dockerfile makes, by the same copies: no container engine is needed for that. */
beforeEach(async () => {
  image = await mkdtemp(join(tmpdir(), 'discoclaw-image-'));
  const [, last = ''] =
    (await read('Dockerfile')).split(/^FROM .* AS build$/mu)[1]?.split(/^FROM .*$/mu) ?? [];
  const copies = [...last.matchAll(/^COPY (?:--from=build \/app\/)?(?<from>\S+) \.\/(?<to>\S*)$/gmu)];
  if (copies.length < 4) throw new Error('The Dockerfile copies too little');
  for (const { groups: { from = '', to = '' } = {} } of copies) {
    const target = join(image, to, to === '' || to.endsWith('/') ? (from.split('/').at(-1) ?? '') : '');
    await mkdir(join(target, '..'), { recursive: true });
    await cp(join(root, from), target, { recursive: true, dereference: true });
  }
});

afterEach(() => rm(image, { recursive: true, force: true }));

function run(environment: Readonly<Record<string, string>>) {
  return runProcess('node', ['scripts/container.mjs'], {
    cwd: image,
    env: { PATH: process.env['PATH'], ...environment },
  });
}

describe('the image', () => {
  it('runs with what it has: talks, makes pictures smaller, and tells that it is well [O4]', async () => {
    const bot = await run({ DISCOCLAW_DATA_DIR: join(image, 'data') });
    expect(bot.code).toBe(0);
    expect(bot.output).toContain('You prefer Rust over Go');
    const picture = await runProcess(
      'node',
      ['--input-type=module', '-e', "import sharp from 'sharp'; console.log(typeof sharp)"],
      { cwd: image },
    );
    expect(picture.output).toBe('function\n');
    const check = await runProcess('node', ['scripts/container.mjs', '--check'], {
      cwd: image,
      env: { PATH: process.env['PATH'], DISCOCLAW_HTTP_PORT: '1' },
    });
    expect(check.code).toBe(1);
  });

  it('stays stopped where a start cannot help, and is started again after anything else [O2]', async () => {
    const wrong = await run({ DISCOCLAW_ACCESS: 'nobody' });
    expect(wrong).toMatchObject({ code: 0 });
    expect(wrong.errors).toContain('DISCOCLAW_ACCESS');
    const blocked = await run({
      DISCORD_TOKEN: 'x',
      DISCOCLAW_DATA_DIR: join(image, 'package.json', 'data'),
    });
    expect(blocked.code).toBe(1);
  });

  it('says how it is run: as nobody special, over a root that is never written to, restarted after a crash only', async () => {
    const { services } = parse(await read('compose.yaml'));
    expect(services.discoclaw).toMatchObject({
      build: '.',
      read_only: true,
      restart: 'on-failure',
      cap_drop: ['ALL'],
    });
    expect(Number.parseInt(services.discoclaw.stop_grace_period, 10)).toBeGreaterThan(10);
    const dockerfile = await read('Dockerfile');
    expect(dockerfile).toMatch(/^USER node$/mu);
    expect(dockerfile).toMatch(/^VOLUME \["\/data", "\/workspace"\]$/mu);
    const ignored = (await read('.dockerignore')).split('\n');
    expect(ignored.find((line) => line !== '' && !line.startsWith('#'))).toBe('*');
  });
});
