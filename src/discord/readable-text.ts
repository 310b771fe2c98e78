import { mention } from '../core/own-words.ts';

/** The names that ids stand for; `undefined` where a name is unknown or must not be told. */
export interface Names {
  user(id: string): string | undefined;
  channel(id: string): string | undefined;
  role(id: string): string | undefined;
}

const markup = /<(?:(@!?|@&|#)|\/([^<>:\n]{1,100}):|a?:(\w{1,32}):)([0-9]{15,21})>/gu;

/**
 * A message's text as people read it: mentions as `@name` and `#name` (see {@link mention}), emoji as `:name:`. The bot's own mention
 * at the beginning is an address, not content, and is left out, unless nothing else was said.
 */
export function readableText(content: string, names: Names, botId: string): string {
  const address = new RegExp(`^(?:\\s*<@!?${botId}>[\\s,:]*)+`, 'u');
  const said = content.replace(address, '').trim();
  return withNames(said === '' ? content.trim() : said, names);
}

function withNames(text: string, names: Names): string {
  return text.replaceAll(
    markup,
    (
      match: string,
      sign: string | undefined,
      command: string | undefined,
      emoji: string | undefined,
      id: string,
      start: number,
    ) => {
      if (command !== undefined) return `/${command}`;
      if (emoji !== undefined) return `:${emoji}:`;
      const name = nameOf(names, sign, id);
      return name === undefined ? match : mention(sign === '#' ? '#' : '@', name, text[start - 1]);
    },
  );
}

function nameOf(names: Names, sign: string | undefined, id: string): string | undefined {
  if (sign === '#') return names.channel(id);
  return sign === '@&' ? names.role(id) : names.user(id);
}
