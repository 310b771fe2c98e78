import { searchForm } from '../../core/text.ts';
import type { Hit } from './hits.ts';
import type { TermReader } from './words.ts';

/** Words that two statements share at least, and the share of the longer one's words that these have to be, to be about the same thing. */
const leastShared = 2;
const leastShare = 0.5;

/** Words that ask for what was, not for what is. */
const beforeWords = new Set(
  searchForm(`before used formerly former previously previous earlier originally original initially first old oldest back then past
  früher vorher ursprünglich zuerst damals ehemals anfangs erste ersten alte alten bisher
  antes antiguamente originalmente inicialmente primero primera anterior anteriormente
  avant auparavant autrefois initialement originalement premier première précédent
  prima originariamente inizialmente primo precedente dantes primeiro
  раньше прежде сначала изначально первоначально первый первая первое прежний бывший 전에 원래 처음 예전`).split(
    ' ',
  ),
);
const beforePart = /以前|最初|元々|もともと|昔|前は|之前|从前|原来|过去/u;

/** A hit, and whether a newer one about the same thing is shown with it. */
export interface DatedHit extends Hit {
  readonly isEarlier: boolean;
}

/**
 * Of hits that are statements about the same thing the newer comes first, in the places that these have, and the older is marked; where a wording asks
 * for what was before, the older comes first [C3].
 */
export function newerFirst(
  hits: readonly Hit[],
  queries: readonly string[],
  reader: TermReader,
): readonly DatedHit[] {
  const groups = groupsOf(hits, reader);
  const isTurned = queries.some(asksBefore);
  const placed: DatedHit[] = hits.map((hit) => ({ ...hit, isEarlier: false }));
  for (const places of new Set(groups)) {
    const newest = Math.max(...places.map((place) => timeOf(hits[place])));
    const inOrder = places
      .flatMap((place) => hits[place] ?? [])
      .toSorted((a, b) => (isTurned ? timeOf(a) - timeOf(b) : timeOf(b) - timeOf(a)));
    for (const [at, hit] of inOrder.entries())
      placed[places[at] ?? 0] = { ...hit, isEarlier: timeOf(hit) < newest };
  }
  return placed;
}

function asksBefore(query: string): boolean {
  const text = searchForm(query);
  const found = text.match(/[\p{L}\p{M}]+/gu) ?? [];
  return beforePart.test(text) || found.some((word) => beforeWords.has(word));
}

/** For each hit the places, in order, of all that are about the same thing as it or as another of them. */
function groupsOf(hits: readonly Hit[], reader: TermReader): readonly (readonly number[])[] {
  const said = hits.map(({ unit }) => new Set(reader.read(unit.text)));
  const groups = hits.map((_, place) => [place]);
  for (const [place, hit] of hits.entries()) {
    for (let other = 0; other < place; other += 1) {
      const [one, two] = [groups[place] ?? [], groups[other] ?? []];
      const [held, wanted] = [said[other] ?? new Set<string>(), said[place] ?? new Set<string>()];
      if (one === two || !mayFollow(hit, hits[other]) || !isAlike(held, wanted)) continue;
      const all = [...one, ...two].toSorted((a, b) => a - b);
      for (const each of all) groups[each] = all;
    }
  }
  return groups;
}

/** Whether both are a person's statements of a known time, by the same one as far as that is told: a question tells nothing, and the bot repeats what it was told. */
function mayFollow(hit: Hit, other: Hit | undefined): boolean {
  if (other === undefined || timeOf(hit) === timeOf(other)) return false;
  const authors = new Set([hit.unit.author, other.unit.author].filter(Boolean));
  return authors.size < 2 && isStatement(hit) && isStatement(other);
}

function isStatement({ segment, index, unit }: Hit): boolean {
  return !unit.isBot && (segment.timeOf[index] ?? 0) > 0 && (segment.statementShareOf[index] ?? 0) > 0.5;
}

function isAlike(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  let shared = 0;
  for (const term of one) if (other.has(term)) shared += 1;
  return shared >= leastShared && shared >= leastShare * Math.max(one.size, other.size);
}

function timeOf(hit: Hit | undefined): number {
  return hit?.segment.timeOf[hit.index] ?? 0;
}
