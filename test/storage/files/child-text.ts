/** A long text that tells whether it is whole. */
export function childText(number: number): string {
  return `${number}\n${'line of text\n'.repeat(2000)}end of ${number}\n`;
}
