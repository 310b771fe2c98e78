/** What is promised, how often it was tried, and what came out. */
export interface Figure {
  readonly promise: string;
  readonly tried: string;
  readonly outcome: string;
}

export interface Proof {
  /** As it is written in a terminal; the same one writes the same page. */
  readonly command: string;
  readonly seed: number;
  readonly seeds: number;
  readonly steps: number;
  /** How often each promise was looked at in all lives. */
  readonly tried: ReadonlyMap<string, number>;
  readonly broken: readonly { readonly seed: number; readonly promise: string }[];
  /** `undefined` where they were not looked for; where one was found is absent if it was not. */
  readonly faults: readonly { readonly promise: string; readonly where?: string | undefined }[] | undefined;
  /** `undefined` without benchmarks. */
  readonly benchmarks:
    | { readonly recall: readonly Figure[]; readonly governance: readonly Figure[] }
    | undefined;
}

const notTried = 'Not tried in this run.';

/** One line of what came out, for README. */
export function proofLine({ seeds, steps, tried, broken, faults }: Proof): string {
  const looks = [...tried.values()].reduce((sum, count) => sum + count, 0);
  const planted =
    faults &&
    `; ${faults.filter(({ where }) => where !== undefined).length} of ${faults.length} planted faults found`;
  return `${number(seeds)} simulated lives of ${steps} steps: ${number(looks)} looks at ${tried.size} promises, ${broken.length} broken${planted ?? ''}`;
}

/** The page as Markdown. */
export function proofPage(proof: Proof): string {
  const { command, seed, seeds, steps, tried, broken, faults, benchmarks } = proof;
  const promises = [...tried].map(([promise, count]): Figure => ({
    promise,
    tried: number(count),
    outcome: brokenIn(broken.filter((each) => each.promise === promise)),
  }));
  return `# Proof

What is promised, how it was tried, how often, and what came out. \`${command}\` wrote this page; the same command writes the same page again, and \`npm run prove -- --quick\` a shorter one within two minutes.

${proofLine(proof)}.

## Simulated lives

The whole bot runs in one process, with a clock, disk, Discord and model that a seed decides. People talk, go on in conversations without a mention, edit, delete, forget, undo, review, pause, erase, lose and get roles, speak through proxies and in voice messages, and midnight passes; disks fill up and fail, Discord and the model fail and stall, another model answers instead, processes are killed and machines lose power; a model that lies stores and forgets what it was never asked to. Every word that somebody says is one of a kind, so each prompt, answer and byte on disk tells whose words it holds. Seeds ${seed} to ${seed + seeds - 1}, ${steps} steps each; \`npm run simulate -- --seed N --steps ${steps}\` repeats one.

${table(['promise', 'looked at', 'broken in'], promises)}

## Planted faults

Mistakes that somebody could make, each one line in the bot: a simulator and tests that do not find them prove nothing.

${
  faults === undefined
    ? notTried
    : table(
        ['what a person would notice', 'found at'],
        faults.map(({ promise, where }) => ({ promise, where: where ?? 'not found' })),
      )
}

## Recall

Public conversations with questions and the messages that answer them: LoCoMo (Maharana et al., 2024), GateMem's households and BEAM (Tavakoli et al., 2025). They are for measuring only and not part of this repository.

${benchmarks === undefined ? notTried : table(['promise', 'tried with', 'outcome'], benchmarks.recall)}

## Who may know what

GateMem's households as people who talk with the bot in a public channel, in a private one and in direct messages. Each question is asked in every place where its asker can be; what counts is what stood in the prompt.

${benchmarks === undefined ? notTried : table(['promise', 'tried with', 'outcome'], benchmarks.governance)}

## Not covered

- Discord itself and the models' servers: the real client and SDK are tried against servers of our own that behave as theirs are documented.
- What a model makes of what it is given: a model may answer wrongly, or say something that its prompt holds to somebody who asks in the same place.
- More than one process at a time, and PostgreSQL: these have end-to-end tests, but no simulated lives.
- Disks that lie about what they have stored.
- A line that a model noted of a message which was not for the bot, once that message is edited or deleted: such messages are in no log, and in about one life of eight hundred the line stays among the notes on its conversation until these are cleared.
`;
}

function table(titles: readonly string[], rows: readonly object[]): string {
  const lines = rows.map((row) => `| ${Object.values(row).join(' | ')} |`);
  return [`| ${titles.join(' | ')} |`, `| ${titles.map(() => '---').join(' | ')} |`, ...lines].join('\n');
}

function brokenIn(broken: Proof['broken']): string {
  return broken.length === 0 ? '0' : `${broken.length}: seed ${broken.map(({ seed }) => seed).join(', ')}`;
}

function number(value: number): string {
  return value.toLocaleString('en');
}
