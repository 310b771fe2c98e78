import { utimesSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { startChild } from '../e2e/child.ts';
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
    if (from === 'node_modules') await symlink(join(root, from), target);
    else await cp(join(root, from), target, { recursive: true });
  }
});

afterEach(() => rm(image, { recursive: true, force: true }));

function run(environment: Readonly<Record<string, string>>, ...words: readonly string[]) {
  return runProcess('node', ['scripts/container.mjs', ...words], {
    cwd: image,
    env: { PATH: process.env['PATH'], ...environment },
  });
}

function startContainer(environment: Readonly<Record<string, string>>) {
  return startChild({ script: join(image, 'scripts/container.mjs'), folder: image, environment });
}

describe('the image', () => {
  it('runs with what it has: talks, makes pictures smaller, and tells that it is well [O4]', async () => {
    const environment = { DISCORD_TOKEN: 'of no use here', DISCOCLAW_DATA_DIR: join(image, 'data') };
    const bot = await run(environment, 'sandbox');
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

  it('says in one line what to set where it has no token, and stays, unhealthy [EW4]', async () => {
    const container = startContainer({ DISCOCLAW_HTTP_PORT: '1', DISCORD_TOKEN: '' });
    await container.waitFor('DISCORD_TOKEN is not set: set it in .env');
    const check = await runProcess('node', ['scripts/container.mjs', '--check'], {
      cwd: image,
      env: { PATH: process.env['PATH'], DISCOCLAW_HTTP_PORT: '1' },
    });
    expect(check.code).toBe(1);
    expect(await container.end('SIGTERM')).toBe(78);
    expect(container.output().trim().split('\n')).toHaveLength(1);
  });

  it('stays up, unhealthy, if restarting cannot help, and ends on a signal [O2]', async () => {
    const environment = { DISCORD_TOKEN: 'x', DISCOCLAW_ACCESS: 'nobody', DISCOCLAW_HTTP_PORT: '1' };
    const container = startContainer(environment);
    await container.waitFor('DISCOCLAW_ACCESS');
    await container.waitFor('not started again before that is mended');
    const check = await runProcess('node', ['scripts/container.mjs', '--check'], {
      cwd: image,
      env: { PATH: process.env['PATH'], ...environment },
    });
    expect(check.code).toBe(1);
    expect(await container.end('SIGTERM')).toBe(78);
  });

  it('is started again after anything else [O2]', async () => {
    const newer = join(image, 'data');
    await mkdir(newer);
    const lock = join(newer, '.owner-00000000-9-0-00000000');
    await writeFile(lock, '');
    let beats = 0;
    const beating = setInterval(() => utimesSync(lock, 0, (beats += 1)), 100);
    const blocked = await run({ DISCORD_TOKEN: 'x', DISCOCLAW_DATA_DIR: newer });
    clearInterval(beating);
    expect(blocked.code).toBe(1);
  });

  it('is configured to run unprivileged, on a read-only root, restarted after a crash or reboot, of this very version', async () => {
    const { services } = parse(await read('compose.yaml'));
    const { version } = JSON.parse(await read('package.json'));
    expect(services.discoclaw).toMatchObject({
      image: expect.stringMatching(new RegExp(`/discoclaw:${version}$`, 'u')),
      read_only: true,
      restart: 'unless-stopped',
      cap_drop: ['ALL'],
    });
    expect(Number.parseInt(services.discoclaw.stop_grace_period, 10)).toBeGreaterThan(10);
    const dockerfile = await read('Dockerfile');
    expect(dockerfile).toMatch(/^USER node$/mu);
    // Metrics are read from outside the container.
    expect(dockerfile).toMatch(/DISCOCLAW_HTTP_HOST=0\.0\.0\.0$/mu);
    expect(dockerfile).toMatch(/^VOLUME \["\/data", "\/workspace", "\/backups"\]$/mu);
    const ignored = (await read('.dockerignore')).split('\n');
    expect(ignored.find((line) => line !== '' && !line.startsWith('#'))).toBe('*');
  });
});
