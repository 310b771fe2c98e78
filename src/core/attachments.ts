import type { AttachedFile } from './chat.ts';
import type { imageTypes } from './model.ts';

/** What became of an attached file. */
export type OpenedFile =
  | {
      readonly kind: 'image';
      readonly name: string;
      readonly mediaType: (typeof imageTypes)[number];
      /** Base64. */
      readonly data: string;
    }
  /** A PDF, in base64. */
  | { readonly kind: 'document'; readonly name: string; readonly data: string }
  | { readonly kind: 'text'; readonly name: string; readonly text: string }
  /** Named only; `reason` is a clause for the model, such as `over 100 KB`. */
  | { readonly kind: 'unopened'; readonly name: string; readonly reason: string };

/**
 * Fetches the files of a turn from where Discord keeps them [G5]. Never rejects: what cannot be had stays unopened. The result has the
 * order and the length of `files`.
 */
export interface AttachmentPort {
  open(files: readonly AttachedFile[], signal: AbortSignal): Promise<readonly OpenedFile[]>;
}
