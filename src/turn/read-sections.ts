import type { Logger } from '../core/logger.ts';
import type { Section, SectionReader } from '../core/section.ts';
import type { TurnContext } from '../core/turn-context.ts';

/** Reads all layers at once; a layer that fails gives nothing and a warning, and the bot still answers [P1]. */
export async function readSections(
  readers: readonly SectionReader<TurnContext>[],
  context: TurnContext,
  logger: Logger,
): Promise<readonly Section[]> {
  const read = await Promise.all(
    readers.map(async (reader) => {
      try {
        return await reader.read(context);
      } catch (error) {
        logger.warn('a memory layer could not be read', { layer: reader.layer, error });
        return [];
      }
    }),
  );
  return read.flat();
}
