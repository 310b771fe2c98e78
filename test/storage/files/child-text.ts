import { alice } from '../store-fixtures.ts';

/** A long text that tells whether it is whole. */
export function childText(number: number): string {
  return `${number}\n${'line of text\n'.repeat(2000)}end of ${number}\n`;
}

/** The key of a text that is `erasing <number>.`, each time with what it was before erased. */
export const erasedText = `users/${alice}/notebook/erased.md`;
