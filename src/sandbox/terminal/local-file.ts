import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';

import { SandboxError } from '../control/sandbox-error.ts';
import { maxFileBytes } from '../world/attachments.ts';
import { bytesText } from './readable.ts';

/** A file of this machine that somebody uploads. */
export interface LocalFile {
  readonly name: string;
  readonly base64: string;
}

/** The path, quoted where it has spaces, and the words after it. */
export function readUploadLine(rest: string): { readonly path: string; readonly text: string } {
  const [, double, single, bare, text = ''] = /^(?:"([^"]+)"|'([^']+)'|(\S+))\s*([^]*)$/u.exec(rest) ?? [];
  const path = double ?? single ?? bare;
  if (path === undefined) throw new SandboxError('Which file? /upload FILE, and a text if you like');
  return { path, text };
}

/** @throws {SandboxError} for a file that is missing, unreadable, no file, or larger than Discord takes. */
export async function readLocalFile(path: string): Promise<LocalFile> {
  const place = resolve(path.startsWith('~/') ? join(homedir(), path.slice(2)) : path);
  try {
    const { size, ...kind } = await facts(place);
    if (!kind.isFile) throw new SandboxError(`${place} is no file`);
    if (size > maxFileBytes) {
      const most = bytesText(maxFileBytes);
      throw new SandboxError(`${place} is too large: it has ${size} bytes, and ${most} is the limit`);
    }
    return { name: basename(place), base64: await readFile(place, 'base64') };
  } catch (error) {
    throw error instanceof SandboxError ? error : new SandboxError(whyUnread(place, error), { cause: error });
  }
}

async function facts(path: string): Promise<{ readonly size: number; readonly isFile: boolean }> {
  const found = await stat(path);
  return { size: found.size, isFile: found.isFile() };
}

function whyUnread(path: string, error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return `There is no file ${path}`;
    case 'EACCES':
    case 'EPERM':
      return `${path} may not be read`;
    default:
      return `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}
