import { inputOf, type PeriodUsage, type UsageReport, type UsageSum } from '../core/model.ts';
import { amount, dollars } from '../core/text.ts';
import { chart, type Chart } from './charts.ts';
import type { OwnPage } from './forms.ts';
import { html, type Html } from './html.ts';

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
