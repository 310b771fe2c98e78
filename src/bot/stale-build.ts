import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Says in one line where the sources of a project are newer than what was built of them; nothing where it has no sources, as in a container. */
export async function warnIfStale(root: string): Promise<void> {
  const timeOf = async (path: string): Promise<number> => {
    const { mtimeMs } = await stat(join(root, path)).catch(() => ({ mtimeMs: 0 }));
    return mtimeMs;
  };
  const sources = await readdir(join(root, 'src'), { recursive: true }).catch(() => []);
  const times = await Promise.all(sources.map((path) => timeOf(join('src', path))));
  if (Math.max(0, ...times) <= (await timeOf('dist/main.js'))) return;
  process.stderr.write('src/ is newer than dist/, which runs: npm run build brings it up to date.\n');
}
