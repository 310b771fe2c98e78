/** An emoji of a server, as far as reacting goes. */
export interface GuildEmojiFacts {
  readonly id: string;
  readonly name: string;
  readonly isAnimated: boolean;
  /** Discord takes an emoji away from use when a server loses boosts. */
  readonly isAvailable: boolean;
  /** Only who has one of these roles may use it; all, where there are none. */
  readonly roleIds: readonly string[];
}

/** What is asked for: an emoji that everybody has, or one of the server's own. */
export type EmojiWish =
  | { readonly kind: 'unicode'; readonly emoji: string }
  | { readonly kind: 'custom'; readonly name?: string; readonly id?: string };

const custom = /^(?:<a?:(?<name>\w{2,32}):(?<id>[0-9]{15,21})>|:(?<bare>\w{2,32}):)$/u;
const coloured = '\u{FE0F}';
// Written as a text, since the compiler's target does not know the flag yet.
const unicode = new RegExp(String.raw`^\p{RGI_Emoji}$`, 'v');

/** Reads one emoji; `undefined` where it is none. The sign that asks for an emoji's coloured form may be missing. */
export function readEmoji(text: string): EmojiWish | undefined {
  const wanted = text.trim();
  const emoji = [wanted, `${wanted}${coloured}`].find((candidate) => unicode.test(candidate));
  if (emoji !== undefined) return { kind: 'unicode', emoji };
  const { name, id, bare } = custom.exec(wanted)?.groups ?? {};
  if (id !== undefined) return { kind: 'custom', id };
  const called = name ?? bare;
  return called === undefined ? undefined : { kind: 'custom', name: called };
}

/** The server's emoji that is meant, if all these people have the role that it may ask for. Each person is the ids of their roles. */
export function chooseEmoji(
  wish: { readonly name?: string; readonly id?: string },
  emojis: readonly GuildEmojiFacts[],
  people: readonly ReadonlySet<string>[],
): GuildEmojiFacts | undefined {
  const usable = emojis.filter(
    ({ isAvailable, roleIds }) =>
      isAvailable && (roleIds.length === 0 || people.every((roles) => roleIds.some((id) => roles.has(id)))),
  );
  if (wish.id !== undefined) return usable.find(({ id }) => id === wish.id);
  return (
    usable.find(({ name }) => name === wish.name) ??
    usable.find(({ name }) => name.toLowerCase() === wish.name?.toLowerCase())
  );
}
