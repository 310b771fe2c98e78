import { basename, dirname, join } from 'node:path';

import type { FileSystem } from '../../../src/storage/files/file-system.ts';
import { SimulatedDisk } from '../../simulator/disk.ts';
import { createRandom } from '../../simulator/random.ts';

/** Between 0 and 1, the next one with every call. */
export type Chance = () => number;

/** All paths of the store lie below this folder. */
export const lossyFolder = join('/', 'lossy');

/** More than any system gives a process. */
const noProcess = 2 ** 22 + 1;

/** The simulator's disk in real time, whose process may be killed, or whose power may go, at any operation. */
export class LossyDisk {
  readonly fileSystem: FileSystem;
  readonly #disk: SimulatedDisk;
  #random = createRandom(0);

  constructor() {
    // Old enough that nobody takes a file for one that is being edited, and never the same twice.
    let now = Date.now() - 60 * 60_000;
    const clock = {
      get now(): number {
        now += 1;
        return now;
      },
      delay: () => Promise.resolve(),
    };
    this.#disk = new SimulatedDisk(clock, () => this.#random);
    this.fileSystem = this.#disk.fileSystem({ isAlive: () => true });
  }

  get operations(): number {
    return this.#disk.operations;
  }

  /** How many operations the disk still does. */
  get operationsLeft(): number {
    return this.#disk.operationsLeft;
  }

  set operationsLeft(count: number) {
    this.#disk.operationsLeft = count;
  }

  /** The disk as a start after a loss of power finds it. */
  losePower(chance: Chance): void {
    this.#random = createRandom(Math.floor(chance() * 2 ** 32));
    this.#disk.losePower();
    this.loseProcess();
  }

  /** The disk as a start after `kill -9` finds it: all that was done, and a lock of no process. */
  loseProcess(): void {
    this.operationsLeft = Infinity;
    for (const [path] of this.#disk.files()) {
      const name = basename(path).replace(/^(\.owner-[0-9a-f]{8}-)\d+/u, `$1${noProcess}`);
      if (name !== basename(path)) void this.fileSystem.rename(path, join(dirname(path), name));
    }
  }

  /** The content of all files. */
  everything(): string {
    return Array.from(this.#disk.files(), ([, content]) => content.toString('utf8')).join('\n');
  }
}
