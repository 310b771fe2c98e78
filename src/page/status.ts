import type { ShownStatus } from '../core/commands.ts';
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
  return html`<h1>Status</h1>
    <p>${healthLine(facts)}</p>
    <dl class="status">
      ${facts.map(
        ({ title, text, isBad }) =>
          html`<dt>${title}</dt>
            <dd>${isBad === true ? html`<strong>Look at this:</strong> ` : undefined}${text}</dd>`,
      )}
    </dl>
    ${usage === undefined ? html`<p>What was used cannot be read right now.</p>` : overTime(usage, query)}`;
}

function healthLine(facts: ShownStatus['facts']): string {
  const bad = facts.flatMap(({ title, isBad }) => (isBad === true ? [title] : []));
  return bad.length === 0 ? 'All is well.' : `Worth a look: ${bad.join(', ')}.`;
}

function overTime(usage: UsageReport, query: URLSearchParams): Html {
  const isDay = query.get('over') === 'day';
  const by = query.get('by') === 'purpose' ? 'purpose' : 'model';
  const over = isDay ? 'day' : 'month';
  return html`<nav class="choice" aria-label="What the charts show">
      <span>
        ${choice('Last 30 days', { over: 'month', by }, !isDay)}
        ${choice('Last 24 hours', { over: 'day', by }, isDay)}
      </span>
      <span>
        ${choice('By model', { over, by: 'model' }, by === 'model')}
        ${choice('By purpose', { over, by: 'purpose' }, by === 'purpose')}
      </span>
    </nav>
    ${chartsOf(isDay ? usage.hours : usage.days, by)}`;
}

function choice(text: string, query: Readonly<Record<string, string>>, isChosen: boolean): Html {
  const address = `/status?${new URLSearchParams(query).toString()}`;
  return isChosen
    ? html`<a href="${address}" aria-current="true">${text}</a>`
    : html`<a href="${address}">${text}</a>`;
}

function chartsOf(used: readonly PeriodUsage[], by: 'model' | 'purpose'): Html[] {
  const periods = used.map(({ period }) => period.replace(/T(\d\d)$/u, ' $1:00'));
  const sums = (of: (sum: UsageSum) => number): Chart['parts'] =>
    partsOf(used.map(({ byModel, byPurpose }) => mapped(by === 'model' ? byModel : byPurpose, of)));
  const read = used.reduce((sum, { all }) => sum + all.cacheReadTokens, 0);
  const input = used.reduce((sum, { all }) => sum + inputOf(all), 0);
  return [
    chart({ title: `Cost by ${by}`, periods, parts: sums(({ cost }) => cost), shown: dollars }),
    chart({
      title: `Tokens by ${by}`,
      periods,
      parts: sums((sum) => inputOf(sum) + sum.outputTokens),
      shown: amount,
    }),
    chart({
      title: 'Input from the cache',
      periods,
      parts: { 'from the cache': used.map(({ all }) => share(all.cacheReadTokens, inputOf(all))) },
      shown: (part) => `${Math.round(100 * part)}%`,
      total: share(read, input),
    }),
    chart({ title: 'Turns', periods, parts: partsOf(used.map(({ turns }) => turns)), shown: amount }),
    chart({
      title: 'Waited in a queue',
      periods,
      parts: partsOf(used.map(({ waited }) => waited)),
      shown: amount,
    }),
    chart({ title: 'Errors', periods, parts: partsOf(used.map(({ errors }) => errors)), shown: amount }),
  ];
}

function mapped(sums: Readonly<Record<string, UsageSum>>, of: (sum: UsageSum) => number) {
  return Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, of(sum)]));
}

/** By name, what each period has of it. */
function partsOf(periods: readonly Readonly<Record<string, number>>[]): Chart['parts'] {
  const names = [...new Set(periods.flatMap(Object.keys))];
  return Object.fromEntries(names.map((name) => [name, periods.map((period) => period[name] ?? 0)]));
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}
