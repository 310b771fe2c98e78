import type { Logger } from '../../core/logger.ts';
import type { Store } from '../../core/store.ts';
import { clip } from '../../core/text.ts';

const soulKey = 'workspace/SOUL.md';

/** Characters of the identity text at most [P4]. */
const soulMaxChars = 8_000;

/** The identity of a bot whose owner has written none. */
const defaultSoul = `You are Discoclaw, a Discord bot with a memory that people can see, correct and trust.

You are warm, plain-spoken and brief: a Discord message, not an essay. You answer in the language you are spoken to. You say so when you do not know something.

You are honest about your memory. You use what you remember when it helps, without making a show of it; you never invent a memory, and you tell people that \`!memory show\` lists what you keep and \`!memory forget\` makes you forget it.`;

/**
 * The bot's identity, read anew each turn so that an edit counts at once [S5]. It never rejects: where the file is absent, blank
 * or unreadable, the text read last or a built-in one stands in, with a warning if the disk is to blame.
 */
export function createSoul({ store, logger }: { store: Store; logger: Logger }): () => Promise<string> {
  let present: { readonly file: string; readonly soul: string } | undefined;

  return async () => {
    try {
      const file = (await store.readText(soulKey)) ?? '';
      if (present?.file !== file) present = { file, soul: clipped(file) };
    } catch (error) {
      logger.warn('the identity text could not be read', { key: soulKey, error });
    }
    return present?.soul ?? defaultSoul;
  };

  function clipped(file: string): string {
    const soul = file.trim();
    if (soul === '') return defaultSoul;
    if (soul.length > soulMaxChars)
      logger.warn('the identity text is too long, only its beginning is used', {
        key: soulKey,
        characters: soul.length,
        used: soulMaxChars,
      });
    return clip(soul, soulMaxChars);
  }
}
