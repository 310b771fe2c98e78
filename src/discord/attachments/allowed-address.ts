const discordOrigins: ReadonlySet<string> = new Set([
  'https://cdn.discordapp.com',
  'https://media.discordapp.net',
]);

/**
 * Whether a file may be fetched from an address [G5]: on Discord's own hosts, or below `cdnUrl`. Nothing else, so that nobody makes the
 * bot ask a server of their choice; a message's address comes from the server that the bot is connected to, whichever that is.
 */
export function isAllowedAddress(address: string, cdnUrl: string | undefined): boolean {
  if (!URL.canParse(address)) return false;
  const { origin, pathname, username, password } = new URL(address);
  if (username !== '' || password !== '') return false;
  return discordOrigins.has(origin) || (cdnUrl !== undefined && isBelow(cdnUrl, origin, pathname));
}

/** The path is normalised already; a slash in disguise could still lead out of the folder at the other side. */
function isBelow(cdnUrl: string, origin: string, pathname: string): boolean {
  const base = new URL(cdnUrl);
  const folder = base.pathname.replace(/\/*$/u, '/');
  return origin === base.origin && pathname.startsWith(folder) && !/%(?:2f|5c)/iu.test(pathname);
}
