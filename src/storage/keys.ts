/** Begins keys of the owner's own files [N1]. */
export const workspaceSegment = 'workspace';

/** The folder for unreadable documents; no key leads into it. */
export const quarantineSegment = 'quarantine';

export const backupEnding = '.bak';

/**
 * Segments are `[A-Za-z0-9._-]`, not beginning with a dot; in notebooks and sessions' notes letters of any script;
 * below `workspace/` any file names. Backups and the quarantine have no keys.
 * @throws {RangeError} for any other text.
 */
export function assertKey(key: string): string {
  const segments = key.split('/');
  const isSafe = segments.every((segment, index) => isSegment(segment, segments.slice(0, index).join('/')));
  if (!isSafe || segments[0] === quarantineSegment) {
    throw new RangeError(`Not a storage key: ${JSON.stringify(key.slice(0, 80))}`);
  }
  return key;
}

/** Whether a name in the folder of the key `folder` can be a segment of a key. */
export function isSegment(name: string, folder: string): boolean {
  if (name.startsWith('.') || name.endsWith(backupEnding)) return false;
  return patterns[namesIn(folder)].test(name);
}

const patterns = {
  plain: /^[A-Za-z0-9._-]+$/,
  letters: /^[\p{L}\p{M}\p{N}._-]+$/u,
  // oxlint-disable-next-line no-control-regex -- control characters are what is refused
  any: /^[^/\\\u0000-\u001f\u007f]+$/u,
};

function namesIn(folder: string): keyof typeof patterns {
  if (isInWorkspace(folder)) return 'any';
  return /^(?:users\/[^/]+\/notebook|sessions\/[^/]+\/[^/]+\/detail)(?:\/|$)/.test(folder)
    ? 'letters'
    : 'plain';
}

export function isInWorkspace(key: string): boolean {
  return key === workspaceSegment || key.startsWith(`${workspaceSegment}/`);
}

/** Whether `key` is `folder` or lies below it, as all keys lie below the empty one. */
export function isWithin(key: string, folder: string): boolean {
  return folder === '' || key === folder || key.startsWith(`${folder}/`);
}
