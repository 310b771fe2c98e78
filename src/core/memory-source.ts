import { z } from 'zod';

/**
 * A thing of a person's memory that a model was shown, by reference only, so that it keeps none of its words
 * [K7]: an item with 16 bits of its text's hash; a summary by its time; a file of the notes, perhaps with a
 * line or only named.
 */
export const memorySourceSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('item'), id: z.string(), hash: z.string() }),
  z.object({ kind: z.literal('summary'), at: z.string() }),
  z.object({
    kind: z.literal('exchange'),
    channelId: z.string(),
    messageId: z.string(),
    at: z.string(),
  }),
  z.object({
    kind: z.literal('file'),
    path: z.string(),
    bytes: z.number().exactOptional(),
    line: z.number().exactOptional(),
    isListed: z.literal(true).exactOptional(),
  }),
  z.object({
    kind: z.literal('message'),
    guildId: z.string().exactOptional(),
    channelId: z.string(),
    messageId: z.string(),
    at: z.string().exactOptional(),
  }),
]);

export type MemorySource = z.infer<typeof memorySourceSchema>;

const toolReadSchema = z.object({ tool: z.string(), sources: z.array(memorySourceSchema).readonly() });

export type ToolRead = z.infer<typeof toolReadSchema>;

/** All memory that the model was shown for one answer. */
export const usedMemorySchema = z.object({
  prompt: z.array(memorySourceSchema).readonly(),
  tools: z.array(toolReadSchema).readonly(),
});

export type UsedMemory = z.infer<typeof usedMemorySchema>;

export function distinctSources(sources: readonly MemorySource[]): readonly MemorySource[] {
  return [...new Map(sources.map((source) => [JSON.stringify(source), source])).values()];
}

/** What a tool's text shows of memory, and from which offset: what is cut off is not shown. */
export interface SourceInText {
  readonly source: MemorySource;
  readonly from: number;
}

export function textWithSources(
  pieces: readonly { readonly text: string; readonly source?: MemorySource | undefined }[],
  separator: string,
): { readonly text: string; readonly sources: readonly SourceInText[] } {
  const sources: SourceInText[] = [];
  let text = '';
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) text += separator;
    if (piece.source !== undefined) sources.push({ source: piece.source, from: text.length });
    text += piece.text;
  }
  return { text, sources };
}

/** The sources in a text of which a model was shown the beginning. */
export function sourcesShown(
  { text, sources = [] }: { readonly text: string; readonly sources?: readonly SourceInText[] | undefined },
  shown: string,
): readonly MemorySource[] {
  return distinctSources(
    sources.filter(({ from }) => shown.startsWith(text.slice(0, from + 1))).map(({ source }) => source),
  );
}
