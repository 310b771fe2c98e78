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
  {
    seed: '56',
    broken: 'somebody who had just lost their role was answered in its server',
    why: 'a message that was missed while the connection broke was judged by roles that Discord had told a minute before: they are asked for again',
  },
  {
    seed: '601',
    broken: 'the words of a deleted message stood on the disk',
    why: 'the deletion came while the first message of a conversation was being logged, and a kill between its two steps left them: the ledger of changes carries it out now, and finishes it after a kill',
  },
  {
    seed: '5029',
    broken: 'what was forgotten stood in a note',
    why: 'a model had noted it once more in another conversation, and nobody was told: `forget` counts such notes now, with a button that takes them',
  },
  {
    seed: '588',
    broken: 'what was erased stood in a prompt after a restart, once more',
    why: 'a proxied message that was missed entered history before it was known whose it is',
  },
];
