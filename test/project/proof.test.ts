import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';

import { proofPage } from '../../scripts/proof-page.ts';

describe('the proof of what is promised [Z2]', () => {
  it('is the same page each time, with the line that README has', async () => {
    const first = await proveIn(await mkdtemp(join(tmpdir(), 'discoclaw-proof-')));
    expect(first.page).toMatch(
      /\n2 simulated lives of 60 steps: [\d,]+ looks at \d+ promises, 0 broken\.\n/u,
    );
    expect(first.page).toContain(`\n${lineIn(first.readme)}\n`);
    expect(await proveIn(await mkdtemp(join(tmpdir(), 'discoclaw-proof-')))).toEqual(first);
  });

  it('names the seeds in which a promise was broken', () => {
    const broken = [{ seed: 7, promise: 'one reply a message' }];
    const tried = new Map([['one reply a message', 20]]);
    const proof = { command: '', seed: 1, seeds: 9, steps: 60, tried, broken };
    const page = proofPage({ ...proof, faults: undefined, benchmarks: undefined });
    expect(page).toContain('| one reply a message | 20 | 1: seed 7 |');
  });

  it('stands in README as on its page', async () => {
    const page = await readFile('docs/proof.md', 'utf8');
    expect(page).toContain(`\n${lineIn(await readFile('README.md', 'utf8'))}\n`);
  });
});

/** What `npm run prove` writes. */
async function proveIn(folder: string): Promise<{ readonly page: string; readonly readme: string }> {
  const [page, readme] = [join(folder, 'docs/proof.md'), join(folder, 'README.md')];
  await mkdir(join(folder, 'docs'));
  await writeFile(readme, '<!-- proof:begin -->\n<!-- proof:end -->\n');
  const script = join(import.meta.dirname, '../../scripts/prove.ts');
  const options = ['--import', import.meta.resolve('ts-blank-space/register'), script];
  await promisify(execFile)(process.execPath, [...options, '--seeds=2', '--steps=60'], { cwd: folder });
  const written = { page: await readFile(page, 'utf8'), readme: await readFile(readme, 'utf8') };
  await rm(folder, { recursive: true });
  return written;
}

function lineIn(readme: string): string {
  return /^\[Proof\]\(docs\/proof\.md\): (?<line>.+)$/mu.exec(readme)?.groups?.['line'] ?? 'no line';
}
