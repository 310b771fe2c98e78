import { contentTypeOf } from '../world/attachments.ts';
import type { Attachment } from '../world/entities.ts';
import { apiErrors } from './api-error.ts';

/** A file of a multipart body. */
export interface UploadedFile extends Omit<Attachment, 'id'> {
  /** The n of its part's name, `files[n]`, by which the JSON part speaks of it. */
  readonly number: string | undefined;
}

/** A multipart body: the JSON part and the files. */
export class Upload {
  readonly payload: unknown;
  readonly files: readonly UploadedFile[];
  constructor(payload: unknown, files: readonly UploadedFile[]) {
    this.payload = payload;
    this.files = files;
  }
}

/** Reads `payload_json` and `files[n]`. @throws {ApiError} for a body that is neither. */
export async function parseUpload(body: Buffer, contentType: string): Promise<Upload> {
  try {
    const form = await new Response(new Uint8Array(body), {
      headers: { 'content-type': contentType },
    }).formData();
    const json = form.get('payload_json');
    const payload: unknown = typeof json === 'string' ? JSON.parse(json) : {};
    const files = await Promise.all(
      [...form.entries()].flatMap(([part, value]) =>
        typeof value === 'string' ? [] : [readFile(part, value)],
      ),
    );
    return new Upload(payload, files);
  } catch (error) {
    throw Object.assign(apiErrors.invalidJson(), { cause: error });
  }
}

async function readFile(part: string, file: File): Promise<UploadedFile> {
  return {
    number: /^files\[(\d+)\]$/.exec(part)?.[1],
    name: file.name,
    contentType: contentTypeOf(file.name) ?? (file.type === '' ? undefined : file.type),
    bytes: Buffer.from(await file.arrayBuffer()),
  };
}
