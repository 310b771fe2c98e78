/** Characters of a file's name at most, without its ending. */
const nameMaxChars = 80;
/** Bytes at most, so that a backup's or a temporary file's name still fits every file system. */
const nameMaxBytes = 200;

/** Names that some systems keep for devices. */
const deviceName = /^(?:con|prn|aux|nul|com\d|lpt\d)$/u;
const latin = /\p{Script=Latin}/u;
/** Letters of the alphabets other than Latin, where one can pass for another; scripts such as Han cannot. */
const otherAlphabet =
  /(?!\p{Script=Latin}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Script=Bopomofo}|\p{Script=Common}|\p{Script=Inherited})[\p{L}\p{N}]/u;
const cyrillic = /\p{Script=Cyrillic}/u;
const greek = /\p{Script=Greek}/u;

/**
 * Why a text cannot name a file of the notebook, or `undefined` where it can [M5]: letters of any script in lower case, numbers, `_` and
 * `-`. Two names that look alike or differ in case only are never both good within one script.
 */
export function nameProblem(name: string): string | undefined {
  if (name.length > nameMaxChars || Buffer.byteLength(name) > nameMaxBytes) return 'its name is too long';
  if (name !== name.toLowerCase()) return 'its name is not in lower case';
  if (!/^[\p{L}\p{N}][\p{L}\p{M}\p{N}_-]*$/u.test(name)) {
    return 'a name is made of letters, numbers, "_" and "-" and begins with a letter or number';
  }
  if (mixesAlphabets(name)) return 'its name mixes letters of alphabets that look alike';
  if (deviceName.test(name)) return 'its name is one that some systems keep for a device';
  return undefined;
}

function mixesAlphabets(name: string): boolean {
  return (latin.test(name) && otherAlphabet.test(name)) || (cyrillic.test(name) && greek.test(name));
}
