import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';

import { ConfigError, readConfig, type Config, type Environment } from '../config/config.ts';
import { createLogger } from '../observability/logger.ts';
import { checks } from './checks.ts';
import { broken, fine, warning, type Finding } from './command-line.ts';
import { useProxy } from './proxy.ts';

const signs = { fine: '✓', warning: '!', broken: '✗' } as const;

/** `npm run doctor`: prints a line for each finding. Resolves with the exit code [O1]. */
export async function runDoctor(environment: Environment): Promise<number> {
  const levels: Finding['level'][] = [];
  const tell = (finding: Finding): void => {
    levels.push(finding.level);
    const advice = finding.remedy === undefined ? '' : ` → ${finding.remedy}`;
    process.stdout.write(`${signs[finding.level]} ${finding.about}: ${finding.text}${advice}\n`);
  };
  const { config, findings } = checkConfiguration(environment);
  for (const finding of [...findings, ...(await checkEnvFile())]) tell(finding);
  // Warnings are printed as findings.
  const logger = createLogger({ level: 'error' });
  await useProxy(config.proxy);
  for (const check of checks) for (const finding of await check(config, logger)) tell(finding);
  const count = (level: Finding['level']) => levels.filter((each) => each === level).length;
  process.stdout.write(
    `\n${count('broken')} broken, ${count('warning')} to look at, ${count('fine')} in order\n`,
  );
  return count('broken') > 0 ? 1 : 0;
}

const remedy = 'put it right in .env or the environment; docs/configuration.md has all variables';

const shardVariables = ['DISCOCLAW_SHARDS', 'DISCOCLAW_SHARD_IDS', 'DISCOCLAW_PROCESSES'];
/** Variables that have no use without another, or may contradict its default. */
const relatives: Readonly<Record<string, readonly string[]>> = {
  DISCORD_TOKEN: ['DISCORD_API_URL'],
  ...Object.fromEntries(['DISCOCLAW_STORE', ...shardVariables].map((name) => [name, shardVariables])),
};

/** The configuration, with defaults in place of bad values. */
function checkConfiguration(environment: Environment): { config: Config; findings: readonly Finding[] } {
  const about = 'configuration';
  try {
    const { config, notes } = readConfig(environment);
    const doubts = notes.map((text) => warning(about, text, remedy));
    return { config, findings: doubts.length > 0 ? doubts : [fine(about, 'all variables can be used')] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { problems } = error;
    const bad = problems.map((problem) => problem.slice(0, problem.indexOf(':')));
    const left = new Set(bad.flatMap((name) => [name, ...(relatives[name] ?? [])]));
    const rest = Object.entries(environment).filter(([name]) => !left.has(name));
    return {
      config: readConfig(Object.fromEntries(rest)).config,
      findings: problems.map((text) => broken(about, text, remedy)),
    };
  }
}

/** It holds the token and the key. */
async function checkEnvFile(): Promise<readonly Finding[]> {
  const path = resolve('.env');
  const { mode } = await stat(path).catch(() => ({ mode: 0 }));
  if ((mode & 0o077) === 0) return [];
  const text = `others on this machine may read ${path} (mode ${(mode & 0o777).toString(8)})`;
  return [warning('configuration', text, `chmod 600 ${path}`)];
}
