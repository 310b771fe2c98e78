import type { BigIntStats } from 'node:fs';

import { growingCache } from '../../core/limits.ts';
import { unlessMissing, type FileSystem } from './file-system.ts';

/** Milliseconds for which what was seen of a file counts: longer than a quick turn, and shorter than a person's way from an editor to the chat. */
const freshMs = 100;
const keptGlances = 2000;
/** Paths that are looked at together: somewhat more than a turn wants. */
const mostTogether = 32;
const keptBeginnings = 1000;
/** So many as a turn and the work behind it have: they begin alike, and want not quite the same. */
const momentsOfEach = 3;

/** Looks at what is at paths, few for all that is asked. */
export function createGlances(fileSystem: Pick<FileSystem, 'lstat'>) {
  const glances = new Map<string, Promise<BigIntStats | undefined>>();
  let firstGlance = 0;
  /** What else was wanted in the last moments that began with a path. */
  const wantedWith = growingCache<string, readonly ReadonlySet<string>[]>(keptBeginnings);
  let moment = { beginning: '', wanted: new Set<string>() };

  /** What was seen counts no more. */
  function lookAgain(): void {
    glances.clear();
    firstGlance = performance.now();
  }

  /** A new moment. The last ones that began so tell what else will be wanted; it is looked at at once, since a turn asks for one thing after the other. */
  function beginMoment(beginning: string): void {
    const former = wantedWith.get(moment.beginning) ?? [];
    wantedWith.set(moment.beginning, [moment.wanted, ...former].slice(0, momentsOfEach));
    moment = { beginning, wanted: new Set() };
    lookAgain();
    for (const wanted of wantedWith.get(beginning) ?? []) for (const path of wanted) void look(path);
  }

  /** What is at a path, be it a link: looked at once for all who ask in the same moment, though people may edit it [S5]. */
  function glance(path: string): Promise<BigIntStats | undefined> {
    if (performance.now() - firstGlance > freshMs || glances.size === keptGlances) beginMoment(path);
    if (moment.wanted.size < mostTogether) moment.wanted.add(path);
    return look(path);
  }

  function look(path: string): Promise<BigIntStats | undefined> {
    const known = glances.get(path);
    if (known !== undefined) return known;
    const looking = unlessMissing(fileSystem.lstat(path));
    glances.set(path, looking);
    looking.catch(() => glances.delete(path));
    return looking;
  }

  return { glance, lookAgain };
}
