/** The names that ids stand for; `undefined` where a name is unknown or must not be told. */
export interface Names {
  user(id: string): string | undefined;
  channel(id: string): string | undefined;
  role(id: string): string | undefined;
}

const markup = /<(?:(@!?|@&|#)|\/([^<>:\n]{1,100}):|a?:(\w{1,32}):)([0-9]{15,21})>/gu;

/**
 * A message's text as people read it: mentions as `@name` and `#name`, emoji as `:name:`. The bot's own mention at the beginning is
 * an address, not content, and is left out, unless nothing else was said.
 */
export function readableText(content: string, names: Names, botId: string): string {
  const address = new RegExp(`^(?:\\s*<@!?${botId}>[\\s,:]*)+`, 'u');
  const said = content.replace(address, '').trim();
  return withNames(said === '' ? content.trim() : said, names);
}

function withNames(text: string, names: Names): string {
  return text.replaceAll(
    markup,
    (match: string, sign?: string, command?: string, emoji?: string, id = '') =>
      plainForm(names, id, { sign, command, emoji }) ?? match,
  );
}

interface Marks {
  readonly sign: string | undefined;
  readonly command: string | undefined;
  readonly emoji: string | undefined;
}

function plainForm(names: Names, id: string, { sign, command, emoji }: Marks): string | undefined {
  if (command !== undefined) return `/${command}`;
  if (emoji !== undefined) return `:${emoji}:`;
  if (sign === '#') return marked('#', names.channel(id));
  return marked('@', sign === '@&' ? names.role(id) : names.user(id));
}

function marked(sign: string, name: string | undefined): string | undefined {
  return name === undefined ? undefined : sign + name;
}
