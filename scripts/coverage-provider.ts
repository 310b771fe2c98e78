/** What `npm run coverage` counts by: vitest's own measure of its processes, and with it the programs that tests start and that end by themselves. */
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { mergeProcessCovs, type ProcessCoverage, type ScriptCoverage } from '@bcoe/v8-coverage';
import v8 from '@vitest/coverage-v8';
import { V8CoverageProvider } from '@vitest/coverage-v8/dist/provider.js';
import { convert } from 'ast-v8-to-istanbul';
import tsBlankSpace from 'ts-blank-space';
import { parseAstAsync, type CoverageProviderModule, type ReportContext, type Vitest } from 'vitest/node';

const root = new URL('..', import.meta.url).href;
/** Where Node.js writes what each program ran. */
const folder = fileURLToPath(new URL('node_modules/.cache/coverage', root));

class WithPrograms extends V8CoverageProvider {
  override initialize(vitest: Vitest): void {
    super.initialize(vitest);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    // Some programs run as nobody special.
    chmodSync(folder, 0o777);
  }

  override async generateCoverage(context: ReportContext) {
    const map = await super.generateCoverage(context);
    for (const script of await readScripts()) map.merge(await toSources(script));
    map.filter((path: string) => this.isIncluded(path));
    return map;
  }
}

/** Our own scripts that programs ran, each with what all of them ran of it. */
async function readScripts(): Promise<readonly ScriptCoverage[]> {
  let merged: ProcessCoverage = { result: [] };
  for (const name of await readdir(folder)) {
    const result = parse(await readFile(join(folder, name), 'utf8')).filter(({ url }) => isOurs(url));
    merged = mergeProcessCovs([merged, { result }]);
  }
  return merged.result;
}

/** Of a program that was killed while it wrote, none. */
function parse(text: string): readonly ScriptCoverage[] {
  try {
    const { result }: ProcessCoverage = JSON.parse(text);
    return result;
  } catch {
    return [];
  }
}

function isOurs(url: string): boolean {
  const path = url.startsWith(root) ? url.slice(root.length) : '';
  return /^(?:src|dist\/\w+|node_modules\/\.cache\/program-[^/]+)\//u.test(path);
}

/** In terms of the sources, by the same library as vitest's. */
async function toSources(coverage: ScriptCoverage) {
  const path = fileURLToPath(coverage.url);
  const text = await readFile(path, 'utf8');
  const isSource = path.endsWith('.ts');
  const code = isSource ? tsBlankSpace(text) : text;
  const sourceMap = isSource ? undefined : JSON.parse(await readFile(`${path}.map`, 'utf8'));
  return convert({ code, sourceMap, ast: parseAstAsync(code), coverage, wrapperLength: 0 });
}

const module: CoverageProviderModule = {
  ...v8,
  startCoverage(options) {
    process.env['NODE_V8_COVERAGE'] = folder;
    return v8.startCoverage?.(options);
  },
  getProvider: () => new WithPrograms(),
};

// oxlint-disable-next-line import/no-default-export -- vitest loads the default export
export default module;
