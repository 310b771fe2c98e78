import { NewerVersionError, StoreError } from '../core/errors.ts';

const newerVersion =
  'Your memory was written by a newer version of me, so I neither read nor change it. The owner of this bot has to update me.';

const unknownFailure = 'Something went wrong on my side. Please try again.';

/** What people are told when memory could not be read. */
export function readFailure(error: unknown): string {
  if (error instanceof NewerVersionError) return newerVersion;
  if (error instanceof StoreError)
    return "I can't read this part of your memory right now. Please try again in a few minutes.";
  return unknownFailure;
}

/** What people are told when memory could not be changed; a store that refused has kept what it had [S2]. */
export function writeFailure(error: unknown): string {
  if (error instanceof NewerVersionError) return newerVersion;
  if (error instanceof StoreError)
    return "I can't save right now, so nothing was changed. Please try again in a few minutes; if it stays like this, the owner of this bot should look at the disk.";
  return unknownFailure;
}
