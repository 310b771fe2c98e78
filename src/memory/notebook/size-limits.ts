import type { TreeFile } from './notebook-tree.ts';
import type { NotebookStore } from './staged-files.ts';

/** Bytes that all facts files together stay under [N6]. */
const factsMaxBytes = 15_360;
/** Bytes that any other file stays under [N6]. */
const fileMaxBytes = 64 * 1024;

/** Why a file must not become this text, or `undefined` where it may; sizes are in bytes of UTF-8, marks included [N6]. */
export async function sizeProblem(
  store: NotebookStore,
  file: TreeFile,
  text: string,
): Promise<string | undefined> {
  const bytes = Buffer.byteLength(text);
  if (file.part !== 'facts') {
    return bytes < fileMaxBytes
      ? undefined
      : `${file.path} would have ${bytes} bytes; a file stays under ${fileMaxBytes}. Nothing was written.`;
  }
  const folder = file.key.slice(0, file.key.lastIndexOf('/'));
  const others = (await store.list(folder)).filter(({ path }) => `${folder}/${path}` !== file.key);
  const total = others.reduce((sum, other) => sum + other.bytes, bytes);
  return total < factsMaxBytes
    ? undefined
    : `The facts files would have ${total} bytes together; they stay under ${factsMaxBytes}. Nothing was written. Shorten them, or move what is less essential to topics/.`;
}
