/** Phrases of no native speaker, or of another century; say it in plain English. */
const phrases = /\b(?:be it|likewise|anew|whoever|whomever|is told of|sees to)\b/giu;
/** "X is no file" for "X is not a file". "There is no file" is fine, and so is "is no longer". */
const isNo =
  /(?<!\bthere )\b(?:is|are|was|were) no (?!(?:longer|more|less|fewer|wider|older|newer|later|larger|better|worse|one|matter)\b)\p{Letter}+/giu;
/** Names that were retired; the new ones are standard terms. */
const retiredNames =
  /\b(?:beginsAnewAt|goneOf|GoneItem|growingCache|inParts|lapse|leastVerbatim|letGo|mayTell|mostOfPerson|mostRounds|NoticingMode|oncePer|pauseFor|takeBack|takeOut|finalise|toldTerms)\b|\b(?:within|compatible|flatten)\(/gu;

/** What was said, asked, told: as a name it leaves open whether a message, a question or a line is meant. */
const participles =
  /\b(?:const|let|function|type|interface)\s+(?:[Ss]aid|[Ww]anted|[Tt]old|[Gg]iven|[Ff]ormer|[Bb]egun|[Aa]sked|settle)\b(?! in\b)|(?:^\s*|[(,{]\s*|\breadonly )(?:said|wanted|told|given|former|begun|asked|settle)\??:\s/gu;

const inQuotes = /'[^']*'|`[^`]*`/gu;
const isCode = /\.(?:c?[jt]s|mjs)$/u;
const isSource = /^src\//u;
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
    const names = [
      ...line.matchAll(retiredNames),
      ...(isComment.test(line) || !isSource.test(path)
        ? []
        : line.replaceAll(inQuotes, '').matchAll(participles)),
    ].map(([name]) => `retired name: ${name.trim()} ${place}`);
    const isLong = line.length > maxCommentLength && isComment.test(line);
    return [...odd, ...names, ...(isLong ? [`comment over ${maxCommentLength} characters ${place}`] : [])];
  });
}
