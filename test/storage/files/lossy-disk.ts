import { basename, dirname, join } from 'node:path';

import type { FileSystem } from '../../../src/storage/files/file-system.ts';
import { SimulatedDisk } from '../../simulator/disk.ts';
import { createRandom } from '../../simulator/random.ts';
import { diskError } from './observed-file-system.ts';

/** Between 0 and 1, the next one with every call. */
export type Chance = () => number;

/** All paths of the store lie below this folder. */
export const lossyFolder = join('/', 'lossy');

/** More than any system gives a process. */
const noProcess = 2 ** 22 + 1;

/** The simulator's disk in real time, whose process may be killed, or whose power may go, at any operation. */
export class LossyDisk {
  /** How many operations the disk still does. */
  operationsLeft = Infinity;
  operations = 0;
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
    this.fileSystem = this.#counted(this.#disk.fileSystem({ isAlive: () => true }));
  }

  /** The disk as a start after a loss of power finds it. */
  losePower(chance: Chance): void {
    this.#random = createRandom(Math.floor(chance() * 2 ** 32));
    this.#disk.losePower();
    this.#releaseLocks();
  }

  /** The disk as a start after `kill -9` finds it: the system has all that was done. */
  loseProcess(): void {
    this.#releaseLocks();
  }

  /** The content of all files. */
  everything(): string {
    return Array.from(this.#disk.files(), ([, content]) => content.toString('utf8')).join('\n');
  }

  /** The lock is there, but no process with its number. */
  #releaseLocks(): void {
    this.operationsLeft = Infinity;
    for (const [path] of this.#disk.files()) {
      const name = basename(path).replace(/^(\.owner-[0-9a-f]{8}-)\d+/u, `$1${noProcess}`);
      if (name !== basename(path)) void this.fileSystem.rename(path, join(dirname(path), name));
    }
  }

  /** The same operations, those on opened files included, as long as the disk does any. */
  #counted<Operations extends object>(operations: Operations): Operations {
    return new Proxy(operations, {
      get: (target, name, receiver) => {
        const operation: unknown = Reflect.get(target, name, receiver);
        if (typeof operation !== 'function' || name === 'close') return operation;
        return async (...values: unknown[]): Promise<unknown> => {
          this.operations += 1;
          if (this.operationsLeft <= 0) throw diskError('EIO');
          this.operationsLeft -= 1;
          const result: unknown = await Reflect.apply(operation, target, values);
          return name === 'open' ? this.#counted(Object(result)) : result;
        };
      },
    });
  }
}
