/** What simulated lives found in the bot, or reading it for more of the kind, and was mended. */
export interface Found {
  /** `read` for what no seed had found. */
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
  {
    seed: '2149',
    broken: 'what was said in a pause stood in a later prompt of its speaker',
    why: 'their settings could not be read, and with them the pause: all that they said before is left out now',
  },
  {
    seed: '7591',
    broken: 'what an owner had forgotten stood in a note',
    why: 'nobody told them: their notes are in the workspace, where `forget` and `purge` did not count',
  },
  {
    seed: '7729',
    broken: 'an answer told new readers of a channel what was said before them',
    why: 'who reads was looked at before the answer was noted on a slow disk, and not again before it was sent',
  },
  {
    seed: '5248',
    broken: 'the words of an edited message stood on the disk, and would have come back with a loss of power',
    why: 'the disk refused to sync them into the log, so they were cut off again, and that was not synced: it is now',
  },
  {
    seed: 'read',
    broken:
      'words of a deleted message stood among the notes on its channel, and in prompts of all its readers',
    why: 'the deletion came while it was asked whether the note may be kept',
  },
  {
    seed: 'read',
    broken: 'after a restart `/catchup`, quoted replies and threads told what an erased person had said',
    why: 'a proxied copy counted as the words of a stranger until it was known whose they were',
  },
  {
    seed: 'read',
    broken: 'forgotten messages stood on the disk for ever once one of them was deleted on Discord',
    why: 'with what could be undone, the note of what had to leave the disk went too',
  },
  {
    seed: 'read',
    broken: 'forgotten messages stood on the disk for ever where they were hidden only after their undo time',
    why: 'who came late took them for restored',
  },
  {
    seed: 'read',
    broken: 'purged words came back with the answer that was being made, or a message that waited',
    why: 'both reached the log after the purge: it is carried out once more when these turns are over',
  },
  {
    seed: 'read',
    broken: 'a folder with the id of an erased person stood again',
    why: 'a turn of theirs that waited for the limit was noted when its time came',
  },
  {
    seed: 'read',
    broken: 'what a message was edited to in a pause was stored',
    why: 'its turn came after the pause, or nobody told whose it was',
  },
  {
    seed: 'read',
    broken: 'an item kept words of a deleted answer',
    why: 'the question that it answers stayed',
  },
];
