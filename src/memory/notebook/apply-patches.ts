/** One replacement; `oldText` and `newText` are literal. */
export interface Patch {
  readonly oldText: string;
  readonly newText: string;
}

export type PatchedText =
  | { readonly outcome: 'patched'; readonly text: string }
  | { readonly outcome: 'refused'; readonly reason: string };

/** All patches at once, or none [M4]. Each `oldText` must stand exactly once in the text as it is before any of them; they may not overlap. */
export function applyPatches(text: string, patches: readonly Patch[]): PatchedText {
  const places: { readonly start: number; readonly end: number; readonly newText: string }[] = [];
  for (const [index, { oldText, newText }] of patches.entries()) {
    const name = `oldText of patch ${index + 1}`;
    if (oldText === '') return refused(`${name} is empty`);
    const start = text.indexOf(oldText);
    if (start === -1) return refused(`${name} does not stand in the file`);
    if (text.includes(oldText, start + 1))
      return refused(`${name} stands in the file more than once; take in more of the text around it`);
    places.push({ start, end: start + oldText.length, newText });
  }
  const inOrder = places.toSorted((a, b) => a.start - b.start);
  let patched = '';
  let end = 0;
  for (const place of inOrder) {
    if (place.start < end) return refused('two patches change the same place; make them one');
    patched += text.slice(end, place.start) + place.newText;
    end = place.end;
  }
  return { outcome: 'patched', text: patched + text.slice(end) };
}

function refused(reason: string): PatchedText {
  return { outcome: 'refused', reason };
}
