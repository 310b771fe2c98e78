import type { Attachment } from '../world/entities.ts';
import { apiErrors } from './api-error.ts';

/** A multipart body: the JSON part and the files. */
export class Upload {
  readonly payload: unknown;
  readonly files: readonly Omit<Attachment, 'id'>[];
  constructor(payload: unknown, files: readonly Omit<Attachment, 'id'>[]) {
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
      [...form.values()].flatMap((value) => (typeof value === 'string' ? [] : [readFile(value)])),
    );
    return new Upload(payload, files);
  } catch (error) {
    throw Object.assign(apiErrors.invalidJson(), { cause: error });
  }
}

async function readFile(file: File): Promise<Omit<Attachment, 'id'>> {
  return {
    name: file.name,
    contentType: file.type === '' ? undefined : file.type,
    bytes: Buffer.from(await file.arrayBuffer()),
  };
}
