import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { expect, it } from 'vitest';
import { z } from 'zod';

const root = new URL('../..', import.meta.url).pathname;
/** What the bot ends with when starting again does not help, and the milliseconds that it needs at most to stop [G4]. */
const forGood = 78;
const stopMs = 10_000;

it('is not started again by pm2 after exit code 78, is given the time to stop, and counts as ready when it says so [O2]', () => {
  const [app] = z
    .object({
      apps: z.array(
        z.object({
          script: z.string(),
          stop_exit_codes: z.array(z.number()),
          wait_ready: z.boolean(),
          kill_timeout: z.number(),
          autorestart: z.boolean().default(true),
        }),
      ),
    })
    .parse(createRequire(import.meta.url)(`${root}ecosystem.config.cjs`)).apps;
  expect(app).toMatchObject({
    script: 'dist/main.js',
    stop_exit_codes: [forGood],
    wait_ready: true,
    autorestart: true,
  });
  expect(app?.kill_timeout).toBeGreaterThan(stopMs);
});

it('is started again by systemd, but not after exit code 78, and is given the time to stop [O2]', () => {
  const unit = new Map(
    readFileSync(`${root}docs/discoclaw.service`, 'utf8')
      .split('\n')
      .filter((line) => /^\w+=/u.test(line))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const),
  );
  expect(unit.get('Restart')).toBe('always');
  expect(unit.get('RestartPreventExitStatus')).toBe(String(forGood));
  expect(Number(unit.get('TimeoutStopSec')) * 1000).toBeGreaterThan(stopMs);
  const { scripts } = z
    .object({ scripts: z.object({ start: z.string() }) })
    .parse(JSON.parse(readFileSync(`${root}package.json`, 'utf8')));
  const command = unit.get('ExecStart')?.replace('/usr/bin/', '') ?? '';
  expect(scripts.start).toBe(`exec ${command}`);
  // All that it writes lies in these; the rest of the machine it cannot write.
  expect(unit.get('ProtectSystem')).toBe('strict');
  const folder = unit.get('WorkingDirectory') ?? '';
  expect(unit.get('ReadWritePaths')?.split(' ')).toEqual([`${folder}/data`, `${folder}/workspace`]);
});
