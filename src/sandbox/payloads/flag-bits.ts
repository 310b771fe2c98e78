/** A flags field: any sum of its enum's members, none included, which the enum's type itself cannot express. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller's field decides which flags these are
export function flagBits<Flags extends number>(bits: number): Flags {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- that is what this function is for
  return bits as Flags;
}
