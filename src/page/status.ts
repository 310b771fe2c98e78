import { inputOf, type PeriodUsage, type UsageReport, type UsageSum } from '../core/model.ts';
import { amount, dollars } from '../core/text.ts';
import { type OwnPage, html, type Html } from './html.ts';

/** The owner's page [Y4]: how the bot is now, and what it did over time; `undefined` for everybody else. */
export async function statusPage({ query, give }: OwnPage): Promise<Html | undefined> {
  const { data } = await give('status');
  if (data?.kind !== 'status') return undefined;
  const { facts, usage } = data;
  const bad = facts.flatMap(({ title, isBad }) => (isBad === true ? [title] : []));
  return html`<h1>Status</h1>
    <p>${bad.length === 0 ? 'All is well.' : `Worth a look: ${bad.join(', ')}.`}</p>
    <dl class="status">
      ${facts.map(
        ({ title, text, isBad }) =>
          html`<dt>${title}</dt>
            <dd>${isBad === true ? html`<strong>Look at this:</strong> ` : undefined}${text}</dd>`,
      )}
    </dl>
    ${usage === undefined ? html`<p>What was used cannot be read right now.</p>` : overTime(usage, query)}`;
}

function overTime({ days, hours }: UsageReport, query: URLSearchParams): Html {
  const isDay = query.get('over') === 'day';
  return html`<nav class="choice" aria-label="What the charts show">
      ${choice('Last 30 days', 'month', !isDay)} ${choice('Last 24 hours', 'day', isDay)}
    </nav>
    ${chartsOf(isDay ? hours : days)}`;
}

function choice(text: string, over: string, isChosen: boolean): Html {
  return html`<a href="/status?over=${over}" ${isChosen ? 'aria-current=true' : ''}>${text}</a>`;
}

function chartsOf(used: readonly PeriodUsage[]): Html[] {
  const periods = used.map(({ period }) => period.replace(/T(\d\d)$/u, ' $1:00'));
  const models = used.map(({ byModel }) => byModel);
  const purposes = used.map(({ byPurpose }) => byPurpose);
  const read = used.reduce((sum, { all }) => sum + all.cacheReadTokens, 0);
  const input = used.reduce((sum, { all }) => sum + inputOf(all), 0);
  return [
    chart({ title: 'Cost by model', periods, parts: sums(models, costOf), shown: dollars }),
    chart({ title: 'Cost by purpose', periods, parts: sums(purposes, costOf), shown: dollars }),
    chart({ title: 'Tokens by model', periods, parts: sums(models, tokensOf), shown: amount }),
    chart({ title: 'Tokens by purpose', periods, parts: sums(purposes, tokensOf), shown: amount }),
    chart({
      title: 'Input from the cache',
      periods,
      parts: { 'from the cache': used.map(({ all }) => share(all.cacheReadTokens, inputOf(all))) },
      shown: (part) => `${Math.round(100 * part)}%`,
      total: share(read, input),
    }),
    ...counts.map(([title, countsOf]) =>
      chart({ title, periods, parts: partsOf(used.map(countsOf)), shown: amount }),
    ),
  ];
}

const counts: readonly (readonly [string, (used: PeriodUsage) => Readonly<Record<string, number>>])[] = [
  ['Turns', ({ turns }) => turns],
  ['Waited in a queue', ({ waited }) => waited],
  ['Errors', ({ errors }) => errors],
];

const costOf = ({ cost }: UsageSum): number => cost;
const tokensOf = (sum: UsageSum): number => inputOf(sum) + sum.outputTokens;

/** By name, an amount of what each period used. */
function sums(periods: readonly Readonly<Record<string, UsageSum>>[], of: (sum: UsageSum) => number) {
  return partsOf(
    periods.map((used) => Object.fromEntries(Object.entries(used).map(([name, sum]) => [name, of(sum)]))),
  );
}

/** By name, what each period has of it. */
function partsOf(periods: readonly Readonly<Record<string, number>>[]): Chart['parts'] {
  const names = [...new Set(periods.flatMap(Object.keys))];
  return Object.fromEntries(names.map((name) => [name, periods.map((period) => period[name] ?? 0)]));
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

/** Amounts over time, in one or several parts that add up. */
interface Chart {
  readonly title: string;
  /** Such as `2026-01-15`, oldest first. */
  readonly periods: readonly string[];
  /** By the name of the part: its amount in each period. */
  readonly parts: Readonly<Record<string, readonly number[]>>;
  /** An amount in words. */
  readonly shown: (amount: number) => string;
  /** Of the whole time; default: all amounts added up. */
  readonly total?: number;
}

/** In the picture's own units: it is stretched to its place, so that it holds no text. */
const width = 600;
const height = 120;
/** Of the place of a period, that its bar takes. */
const barShare = 0.8;
/** That the style sheet has. */
const colours = 9;

/** Stacked bars with what they mean, and the same as a table [Y4]. */
function chart({ title, periods, shown, total, ...rest }: Chart): Html {
  // By name, so that a part has the same colour in charts of the same parts.
  const parts = Object.entries(rest.parts).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const totals = periods.map((_, index) => sumOf(parts.map(([, amounts]) => amounts[index] ?? 0)));
  const most = Math.max(...totals);
  if (most === 0)
    return html`<section>
      <h2>${title}</h2>
      <p class="facts">Nothing in this time.</p>
    </section>`;
  const step = width / periods.length;
  const y = (value: number): string => short(height * (1 - value / most));
  const tops = periods.map(() => 0);
  const bars = parts.map(([, amounts], part) => {
    const outline = tops.map((bottom, index) => {
      const top = (tops[index] = bottom + (amounts[index] ?? 0));
      const right = short((index + barShare) * step);
      return `M${short(index * step)} ${y(bottom)}V${y(top)}H${right}V${y(bottom)}z`;
    });
    return html`<path class="part${part % colours}" d="${outline.join('')}" />`;
  });
  return html`<section>
    <h2>${title}: ${shown(total ?? sumOf(totals))}</h2>
    <figure class="chart">
      <div class="scale" aria-hidden="true">
        ${[most, 0].map((tick) => html`<span>${shown(tick)}</span>`)}
      </div>
      <svg
        viewBox="0 0 ${width} ${height}"
        preserveAspectRatio="none"
        role="img"
        aria-label="${title}, ${periods.length} bars: the table below has their figures"
      >
        <path class="lines" d="M0 0H${width}M0 ${height}H${width}" />
        ${bars}
      </svg>
      <div class="times" aria-hidden="true"><span>${periods[0]}</span><span>${periods.at(-1)}</span></div>
    </figure>
    <ul class="legend">
      ${parts.map(
        ([name, amounts], part) =>
          html`<li>
            <span class="swatch part${part % colours}"></span>
            ${name}${total === undefined ? ` ${shown(sumOf(amounts))}` : ''}
          </li>`,
      )}
    </ul>
    <details>
      <summary>As a table</summary>
      <div class="wide" role="region" aria-label="${title} as a table" tabindex="0">
        <table>
          <tr>
            <th scope="col">Time</th>
            ${parts.map(([name]) => html`<th scope="col">${name}</th>`)}
          </tr>
          ${periods.map((period, index) =>
            totals[index] === 0
              ? undefined
              : html`<tr>
                  <th scope="row">${period}</th>
                  ${parts.map(([, amounts]) => html`<td>${shown(amounts[index] ?? 0)}</td>`)}
                </tr>`,
          )}
        </table>
      </div>
    </details>
  </section>`;
}

function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((sum, each) => sum + each, 0);
}

function short(place: number): string {
  return place.toFixed(1);
}
