import { StoreError } from '../../../src/core/errors.ts';
import type { Tool, ToolOutcome } from '../../../src/core/tool.ts';
import { sessionOf, type TurnContext } from '../../../src/core/turn-context.ts';
import type { OpenNotebook } from '../../../src/memory/notebook/background.ts';
import type { NotebookStore } from '../../../src/memory/notebook/files.ts';
import { sessionFolder } from '../../../src/memory/log/session-state.ts';

/**
 * A notebook without any checks of its own: every path exists everywhere, and a path that begins with `/` is a key of the store. What is
 * refused with it was refused by the files beneath.
 */
export const openUncheckedNotebook: OpenNotebook = (files) => ({
  tools: [
    tool('memory_write', files, ({ content = '' }) => `${content}\n`),
    tool('memory_append', files, ({ entry = '' }, present = '') => `${present}${entry}\n`),
    tool('memory_read', files, (_, present) => present),
  ],
  read: (path, context) => files.readText(keyOf(path, context)),
  async factPaths(context) {
    const listed = await files.list(keyOf('facts', context));
    return listed.map(({ path }) => `facts/${path}`);
  },
  async index(context) {
    const listed = await files.list(keyOf('episodes', context));
    const lines = listed.map(({ path }) => `- episodes/${path}`);
    return [{ name: 'notebook_index', slot: 'fast', title: 'Files:', lines, budget: 1000 }];
  },
});

function keyOf(path: string, context: TurnContext): string {
  if (path.startsWith('/')) return path.slice(1);
  if (path === 'overview.md') return `${sessionFolder(sessionOf(context))}/overview.md`;
  return context.speaker.isOwner ? `workspace/${path}` : `users/${context.speaker.id}/notebook/${path}`;
}

type Change = (input: Record<string, string>, present: string | undefined) => string | undefined;

function tool(name: string, files: NotebookStore, change: Change): Tool {
  return {
    definition: { name, description: name, inputSchema: { type: 'object' } },
    async run(input, context): Promise<ToolOutcome> {
      const fields = Object.fromEntries(
        Object.entries(input ?? {}).map(([key, value]) => [key, String(value)]),
      );
      const key = keyOf(fields['path'] ?? '', context);
      try {
        const present = await files.readText(key);
        const changed = change(fields, present);
        if (changed !== undefined && changed !== present) await files.writeText(key, changed);
        return { ok: true, text: changed ?? 'There is none.' };
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        return { ok: false, text: error.message };
      }
    },
  };
}
