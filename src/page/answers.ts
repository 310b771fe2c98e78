import type { ShownAnswer, ShownPart } from '../core/commands.ts';
import { amount } from '../core/text.ts';
import { type OwnPage, answerText, html, type Html } from './html.ts';

/** The newest answers, each with a bar of what the model was given for it [Y2a]. */
export async function answersPage({ give, isAlone }: OwnPage): Promise<Html> {
  const { text, data } = await give('memory answers');
  const answers = data?.kind === 'answers' ? data.answers : [];
  const most = Math.max(...answers.map(({ parts }) => charactersOf(parts)));
  return html`<h1>What I was given</h1>
    <p>
      What a model was given for my newest answers to you: each part by its size, and your own words to open.
      ${isAlone ? '' : 'Of my answers in some servers only: I run as several programs, and this page is of one of them.'}
    </p>
    <section id="list" data-live aria-label="Answers">
      ${
        answers.length === 0
          ? answerText(text)
          : html`${legend}
              <ul class="items">
                ${answers.map(
                  (answer) =>
                    html`<li>
                      <div id="title-${answer.id}">${answerText(answer.title)}</div>
                      ${bar(answer.parts, most)}
                      <p class="facts">${answer.took}</p>
                      <a
                        href="/answers/${answer.id}"
                        data-key="${answer.id}"
                        aria-describedby="title-${answer.id}"
                        >All parts</a
                      >
                    </li>`,
                )}
              </ul>`
      }
    </section>`;
}

/** One answer: every part against its budget, and the person's own words to open. */
export async function answerPage({ id = '', give }: OwnPage): Promise<Html | undefined> {
  const { data } = await give(`memory answers ${id}`);
  const answer = data?.kind === 'answers' && data.answers.length === 1 ? data.answers[0] : undefined;
  if (answer === undefined) return undefined;
  const { title, took, parts, own = [] } = answer;
  return html`<p><a href="/answers">All answers</a></p>
    <h1>One answer</h1>
    ${answerText(title)}
    <p class="facts">${took}</p>
    ${bar(parts, charactersOf(parts))} ${legend}
    <h2>All parts, in their order</h2>
    <table class="parts">
      <thead>
        <tr>
          <th scope="col">Part</th>
          <th scope="col">Characters</th>
          <th scope="col">At most</th>
        </tr>
      </thead>
      <tbody>
        ${parts.map(row)}
      </tbody>
    </table>
    <h2>Your own words in it</h2>
    <p class="facts">As they are by now. Of everything else only name and size are shown.</p>
    ${own.map(ownWords)}`;
}

function row({ name, title, characters, budget }: ShownPart): Html {
  return html`<tr>
    <th scope="row">
      ${swatch(groupOf(name))} ${title}
      ${budget === undefined ? undefined : meter(characters / budget, groupOf(name))}
    </th>
    <td>${amount(characters)}</td>
    <td>${budget === undefined ? '' : amount(budget)}</td>
  </tr>`;
}

function ownWords({ title, texts }: NonNullable<ShownAnswer['own']>[number], index: number): Html {
  return html`<details>
    <summary>${title.replaceAll('`', '')}</summary>
    <ul id="own-${index}" class="own" data-live>
      ${texts.map((text) => html`<li>${answerText(text)}</li>`)}
    </ul>
  </details>`;
}

/** What parts are of, in the colours of the bars. */
const groups = [
  'Rules and tools',
  'Your memory',
  'Conversation so far',
  'Your message',
  "Others' words and files",
  'What tools gave',
] as const;

const groupOfName: Partial<Record<ShownPart['name'], number>> = {
  user_profile: 1,
  facts: 1,
  notes: 1,
  durable_items: 1,
  matching_items: 1,
  recent_elsewhere: 1,
  overview: 1,
  conversation_summary: 1,
  notebook_index: 1,
  history: 2,
  message: 3,
  replied_to: 4,
  forwarded: 4,
  attached_file: 4,
  tool_results: 5,
};

function groupOf(name: ShownPart['name']): number {
  return groupOfName[name] ?? 0;
}

const legend = html`<ul class="legend">
  ${groups.map((group, index) => html`<li>${swatch(index)} ${group}</li>`)}
</ul>`;

function swatch(group: number): Html {
  return html`<span class="swatch part${group}"></span>`;
}

/** Parts end to end; `whole` characters take its full width. */
function bar(parts: readonly ShownPart[], whole: number): Html {
  let end = 0;
  const pieces = parts.map(({ name, title, characters }) => {
    const from = end;
    end += characters;
    return html`<rect
      x="${percent(from / whole)}"
      width="${percent(characters / whole)}"
      height="100%"
      class="part${groupOf(name)}"
    >
      <title>${title}: ${amount(characters)}</title>
    </rect>`;
  });
  const text = parts.map(({ title, characters }) => `${title} ${amount(characters)}`).join(', ');
  return html`<svg class="bar" role="img" aria-label="Characters: ${text}">${pieces}</svg>`;
}

function meter(share: number, group: number): Html {
  return html`<svg class="meter" aria-hidden="true">
    <rect class="room" width="100%" height="100%" />
    <rect width="${percent(Math.min(1, share))}" height="100%" class="part${group}" />
  </svg>`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(2)}%`;
}

function charactersOf(parts: readonly ShownPart[]): number {
  return parts.reduce((sum, { characters }) => sum + characters, 0);
}
