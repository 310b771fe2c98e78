/** Phrases of no native speaker, or of another century; say it in plain English. */
const phrases = /\b(?:be it|likewise|anew|whoever|whomever|is told of|sees to)\b/giu;
/** "X is no file" for "X is not a file". "There is no file" is fine, and so is "is no longer". */
const isNo =
  /(?<!\bthere )\b(?:is|are|was|were) no (?!(?:longer|more|less|fewer|wider|older|newer|later|larger|better|worse|one|matter)\b)\p{Letter}+/giu;
/** Names that were retired; the new ones are standard terms. */
const retiredNames =
  /\b(?:beginsAnewAt|goneOf|GoneItem|growingCache|inParts|lapse|leastVerbatim|letGo|mayTell|mostOfPerson|mostRounds|NoticingMode|oncePer|pauseFor|takeBack|takeOut|finalise|toldTerms)\b|\b(?:within|compatible|flatten)\(/gu;

const isCode = /\.(?:c?[jt]s|mjs)$/u;
const isComment = /^\s*(?:\/\/|\/?\*)/u;
const maxCommentLength = 160;

/** What is not plain English in a file, each as `problem in path:line`. */
export function findOddWords(path: string, text: string): readonly string[] {
  return text.split('\n').flatMap((line, index) => {
    const place = `in ${path}:${index + 1}`;
    const odd = [...line.matchAll(phrases), ...line.matchAll(isNo)].map(
      ([words]) => `odd words: "${words}" ${place}`,
    );
    if (!isCode.test(path)) return odd;
    const names = [...line.matchAll(retiredNames)].map(([name]) => `retired name: ${name} ${place}`);
    const isLong = line.length > maxCommentLength && isComment.test(line);
    return [...odd, ...names, ...(isLong ? [`comment over ${maxCommentLength} characters ${place}`] : [])];
  });
}
