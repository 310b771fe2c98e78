/** What simulated lives found in the bot, and was mended. */
export interface Found {
  readonly seed: string;
  readonly broken: string;
  readonly why: string;
}

export const found: readonly Found[] = [
  {
    seed: '40',
    broken: 'what was erased stood in a prompt after a restart',
    why: 'nobody knew whose words a proxy had posted: such messages are left out until that is known',
  },
];
