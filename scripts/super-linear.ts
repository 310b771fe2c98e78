import {
  CharBase,
  CharSet,
  JS,
  type Assertion,
  type Concatenation,
  type Element,
  type NoParent,
  type Quantifier,
} from 'refa';

/**
 * What can come next in an expression. A match may be sure here, whatever follows, or sure if the text ends here.
 */
interface Next {
  readonly states: Set<State>;
  isMatched: boolean;
  isMatchedAtEnd: boolean;
}

/** A character class of the expression; its place in the source. */
interface State {
  readonly characters: CharSet;
  readonly next: Next;
  readonly source: string;
}

/** More repetitions than these are taken for any number. */
const mostCopies = 130;

/**
 * Names two loops of a regular expression that make its time grow faster than its input; `undefined` where the time is linear. Throws an `Error` for
 * what cannot be analysed.
 *
 * A backtracking engine tries every way to read a text, and there are too many where two loops can read the same characters, one after the other:
 * `\s*\/?\s*` reads n spaces in n ways before it fails. A search counts as a loop over all that stands before the match, so that `\s+$` is one too.
 * The expression becomes an automaton with a state for each character class. Two loops are compared by walking with three markers over the same
 * characters: the first stays in the first loop, the second crosses over, the third stays in the second loop. Loops after which nothing can fail are
 * left out, since they are never tried again. An assertion may fail and reads nothing, so that some harmless expressions are refused, but no harmful one
 * passes.
 */
export function superLinearLoops(source: string, flags: string): string | undefined {
  const parser = JS.Parser.fromLiteral({ source, flags });
  const { expression, maxCharacter } = parser.parse({ assertions: 'parse', backreferences: 'throw' });
  const all = CharSet.all(maxCharacter);
  const states: State[] = [];
  const end: Next = { states: new Set(), isMatched: true, isMatchedAtEnd: true };

  function stateOf(characters: CharSet, next: Next, name: string): State {
    const state = { characters, next, source: name };
    states.push(state);
    return state;
  }

  function sequence(elements: readonly NoParent<Element>[], next: Next): Next {
    return elements.toReversed().reduce((after, element) => before(element, after), next);
  }

  function anyOf(alternatives: readonly NoParent<Concatenation>[], next: Next): Next {
    return union(alternatives.map(({ elements }) => sequence(elements, next)));
  }

  /** What can come where `element` begins, if `next` can come behind it. */
  function before(element: NoParent<Element>, next: Next): Next {
    switch (element.type) {
      case 'CharacterClass': {
        const name = source.slice(element.source?.start, element.source?.end);
        return {
          states: new Set([stateOf(element.characters, next, name)]),
          isMatched: false,
          isMatchedAtEnd: false,
        };
      }
      case 'Alternation':
        return anyOf(element.alternatives, next);
      case 'Assertion':
        return asserted(element, next);
      case 'Quantifier':
        return repeated(element, next);
      case 'Unknown':
        throw new Error(`${source} cannot be analysed`);
    }
  }

  function asserted({ kind, negate, alternatives }: NoParent<Assertion>, next: Next): Next {
    const body = anyOf(alternatives, noWay());
    if (kind === 'behind' && [...body.states].some((state) => hasLoop(state)))
      throw new Error(`${source} looks back in a loop`);
    const isEnd = kind === 'ahead' && negate && [...body.states].some(({ characters }) => characters.isAll);
    return {
      states: new Set([...next.states, ...(kind === 'behind' || isEnd ? [] : body.states)]),
      isMatched: false,
      isMatchedAtEnd: isEnd && next.isMatchedAtEnd,
    };
  }

  function repeated({ alternatives, min, max }: NoParent<Quantifier>, next: Next): Next {
    let found = next;
    if (max === Infinity || max > mostCopies) {
      const loop: Next = { ...next, states: new Set(next.states) };
      for (const state of anyOf(alternatives, loop).states) loop.states.add(state);
      found = loop;
    } else for (let copy = min; copy < max; copy += 1) found = union([anyOf(alternatives, found), next]);
    for (let copy = 0; copy < Math.min(min, mostCopies); copy += 1) found = anyOf(alternatives, found);
    return found;
  }

  // A search reads anything before the match; one that begins with `^`, or is sticky, is tried once, or once a line.
  const search = stateOf(all, noWay(), 'the search');
  search.next.states.add(search);
  for (const { elements } of expression.alternatives) {
    const [first, ...rest] = elements;
    const preceding = first === undefined ? undefined : charactersBefore(first, all);
    const begins = sequence(preceding === undefined ? elements : rest, end);
    if (flags.includes('y')) continue;
    if (preceding === undefined) for (const state of begins.states) search.next.states.add(state);
    else if (!preceding.isEmpty) search.next.states.add(stateOf(preceding, begins, '^'));
  }
  return ambiguousLoops(states);
}

function noWay(): Next {
  return { states: new Set(), isMatched: false, isMatchedAtEnd: false };
}

function union(ways: readonly Next[]): Next {
  return {
    states: new Set(ways.flatMap(({ states }) => [...states])),
    isMatched: ways.some(({ isMatched }) => isMatched),
    isMatchedAtEnd: ways.some(({ isMatchedAtEnd }) => isMatchedAtEnd),
  };
}

/** What has to stand before an expression that begins by looking back at one character; none for `^`. */
function charactersBefore(first: NoParent<Element>, all: CharSet): CharSet | undefined {
  if (first.type !== 'Assertion' || first.kind !== 'behind') return undefined;
  const [alternative, ...others] = first.alternatives;
  const [character, ...more] = alternative?.elements ?? [];
  if (character?.type !== 'CharacterClass' || others.length + more.length > 0) return undefined;
  return first.negate ? all.without(character.characters) : character.characters;
}

/** Two loops that can read the same text, by the first, by the second, and by going over from the first to the second. */
function ambiguousLoops(states: readonly State[]): string | undefined {
  const base = new CharBase(states.map(({ characters }) => characters));
  const characters = new Map(states.map((state) => [state, new Set(base.split(state.characters))]));
  const reached = new Map(states.map((state) => [state, reachableFrom(state)]));
  const reaches = (from: State, to: State): boolean => reached.get(from)?.has(to) === true;
  const loops = states.filter((state) => reaches(state, state));
  const isSafe = ({ characters: own, next }: State): boolean => {
    const [only, ...others] = next.states;
    return next.isMatched || (next.isMatchedAtEnd && own.isAll && only !== undefined && others.length === 0);
  };

  /** Whether the first loop can be left for the second while both go round with the same characters. */
  function isAmbiguous(first: State, second: State): boolean {
    const seen = new Map<State, Map<State, Set<State>>>();
    const waiting: (readonly [State, State, State])[] = [[first, first, second]];
    for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
      for (const a of place[0].next.states) {
        if (!reaches(a, first)) continue;
        for (const c of place[2].next.states) {
          if (!reaches(c, second) || isSafe(c)) continue;
          const shared = [...(characters.get(a) ?? [])].filter((each) => characters.get(c)?.has(each));
          if (shared.length === 0) continue;
          for (const b of place[1].next.states) {
            if (!reaches(b, second) || !shared.some((each) => characters.get(b)?.has(each))) continue;
            if (a === first && b === second && c === second) return true;
            const known = seen.get(a) ?? new Map<State, Set<State>>();
            const targets = known.get(b) ?? new Set();
            if (targets.has(c)) continue;
            seen.set(a, known.set(b, targets.add(c)));
            waiting.push([a, b, c]);
          }
        }
      }
    }
    return false;
  }

  for (const first of loops)
    for (const second of loops)
      if (first !== second && !isSafe(second) && reaches(first, second) && isAmbiguous(first, second))
        return `${first.source} … ${second.source}`;
  return undefined;
}

/** Whether something is repeated without limit from a state on. */
function hasLoop(state: State): boolean {
  return [state, ...reachableFrom(state)].some((each) => reachableFrom(each).has(each));
}

function reachableFrom(state: State): ReadonlySet<State> {
  const found = new Set<State>();
  const waiting = [state];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const other of next.next.states) {
      if (found.has(other)) continue;
      found.add(other);
      waiting.push(other);
    }
  }
  return found;
}
