import { z } from 'zod';

import { oncePer } from './limits.ts';

/**
 * One thing of a person's memory that a model was shown, by reference only, so that it outlives none of its words [K7]: an item with 16 bits of its text,
 * which an edit changes; a summary by when it was made; an exchange in another channel; a file of the notes, with the line where only a passage of it
 * was shown, or named in a list only; a channel's note by the message that it was made from; a message.
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
  z.object({ kind: z.literal('note'), guildId: z.string(), channelId: z.string(), messageId: z.string() }),
  z.object({
    kind: z.literal('message'),
    guildId: z.string().exactOptional(),
    channelId: z.string(),
    messageId: z.string(),
    at: z.string().exactOptional(),
  }),
]);

export type MemorySource = z.infer<typeof memorySourceSchema>;

/** What one call of a tool has shown of memory. */
const toolReadSchema = z.object({ tool: z.string(), sources: z.array(memorySourceSchema).readonly() });

export type ToolRead = z.infer<typeof toolReadSchema>;

/** All that the model was shown of memory on the way to one answer: in its prompt, and by tools. */
export const usedMemorySchema = z.object({
  prompt: z.array(memorySourceSchema).readonly(),
  tools: z.array(toolReadSchema).readonly(),
});

export type UsedMemory = z.infer<typeof usedMemorySchema>;

/** Each once, in order. */
export function distinctSources(sources: readonly MemorySource[]): readonly MemorySource[] {
  return [...new Map(sources.map((source) => [formOf(source), source])).values()];
}

const formOf = oncePer((source: MemorySource) => JSON.stringify(source));

export function usesMemory({ prompt, tools }: UsedMemory): boolean {
  return prompt.length > 0 || tools.length > 0;
}

/** Whether channels' notes were among it: an answer that may repeat them becomes part of nobody's memory [B2]. */
export function usesNotes({ prompt }: Pick<UsedMemory, 'prompt'>): boolean {
  return prompt.some(({ kind }) => kind === 'note');
}

/** What a tool's text shows of memory, and where in it that begins: what is cut off is not shown. */
export interface SourceInText {
  readonly source: MemorySource;
  readonly from: number;
}

/** Pieces as one text, with what each shows of memory. */
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

/** What is still shown of a text when a model was given `shown`, which may be its beginning only. */
export function sourcesShown(
  { text, sources = [] }: { readonly text: string; readonly sources?: readonly SourceInText[] | undefined },
  shown: string,
): readonly MemorySource[] {
  return distinctSources(
    sources.filter(({ from }) => shown.startsWith(text.slice(0, from + 1))).map(({ source }) => source),
  );
}
