import { scaleBand, scaleLinear } from 'd3-scale';

import { html, type Html } from './html.ts';

/** Amounts over time, in one or several parts that add up. */
export interface Chart {
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
/** The style sheet has so many colours; further parts are added up. */
const mostParts = 7;
const lines = 4;

/** Stacked bars with what they mean, and the same as a table [Y4]. */
export function chart(given: Chart): Html {
  const parts = largestParts(given.parts);
  const { title, periods, shown } = given;
  const sums = periods.map((_, index) => sumOf(parts.map(([, amounts]) => amounts[index] ?? 0)));
  const total = shown(given.total ?? sumOf(sums));
  const most = Math.max(...sums);
  if (most === 0)
    return html`<section>
      <h2>${title}</h2>
      <p class="facts">Nothing in this time.</p>
    </section>`;
  const y = scaleLinear([0, most], [height, 0]).nice(lines);
  const x = scaleBand(periods, [0, width]).paddingInner(0.2);
  const isCount = sums.every((sum) => Number.isInteger(sum));
  const ticks = y
    .ticks(lines)
    .filter((tick) => !isCount || Number.isInteger(tick))
    .toReversed();
  const bars = periods.map((period, index) => {
    let top = 0;
    const pieces = parts.flatMap(([name, amounts], part) => {
      const from = top;
      const amount = amounts[index] ?? 0;
      top += amount;
      return amount === 0 ? [] : { name, amount, part, y: y(top), height: y(from) - y(top) };
    });
    const words = pieces.map(({ name, amount }) => `${name} ${shown(amount)}`).join(', ');
    return html`<g>
      ${pieces.length === 0 ? undefined : html`<title>${period}: ${words}</title>`}
      ${pieces.map((piece) => bar(x(period) ?? 0, piece))}
    </g>`;
  });

  function bar(left: number, piece: { readonly part: number; readonly y: number; readonly height: number }) {
    return html`<rect
      class="part${piece.part}"
      x="${left.toFixed(1)}"
      y="${piece.y.toFixed(1)}"
      width="${x.bandwidth().toFixed(1)}"
      height="${piece.height.toFixed(1)}"
    />`;
  }

  return html`<section>
    <h2>${title}: ${total}</h2>
    <figure class="chart">
      <div class="scale" aria-hidden="true">${ticks.map((tick) => html`<span>${shown(tick)}</span>`)}</div>
      <svg
        viewBox="0 0 ${width} ${height}"
        preserveAspectRatio="none"
        role="img"
        aria-label="${title}, ${periods.length} bars: the table below has their figures"
      >
        ${ticks.map((tick) => html`<line x1="0" x2="${width}" y1="${y(tick).toFixed(1)}" y2="${y(tick).toFixed(1)}" />`)}
        ${bars}
      </svg>
      <div class="times" aria-hidden="true"><span>${periods[0]}</span><span>${periods.at(-1)}</span></div>
    </figure>
    <ul class="legend">
      ${parts.map(([name, amounts], part) => html`<li>${swatch(part)} ${name}${amountIn(amounts)}</li>`)}
    </ul>
    <details>
      <summary>As a table</summary>
      ${table(given, parts)}
    </details>
  </section>`;

  function amountIn(amounts: readonly number[]): string {
    return given.total === undefined ? ` ${shown(sumOf(amounts))}` : '';
  }
}

type Parts = readonly (readonly [name: string, amounts: readonly number[]])[];

function swatch(part: number): Html {
  return html`<svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
    <rect class="part${part}" width="10" height="10" />
  </svg>`;
}

/** In the order of their names, so that a part has the same colour in charts of the same parts. */
function largestParts(parts: Chart['parts']): Parts {
  const byName = Object.entries(parts).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (byName.length <= mostParts) return byName;
  const bySize = byName.toSorted(([, a], [, b]) => sumOf(b) - sumOf(a));
  const large = new Set(bySize.slice(0, mostParts - 1));
  const rest = bySize.slice(mostParts - 1).map(([, amounts]) => amounts);
  const others = (rest[0] ?? []).map((_, index) => sumOf(rest.map((amounts) => amounts[index] ?? 0)));
  return [...byName.filter((part) => large.has(part)), [`${rest.length} others`, others]];
}

/** Periods in which nothing was are left out. */
function table({ title, periods, shown }: Chart, parts: Parts): Html {
  const rows = periods.map((period, index) => ({
    period,
    amounts: parts.map(([, amounts]) => amounts[index] ?? 0),
  }));
  return html`<div class="wide" role="region" aria-label="${title} as a table" tabindex="0">
    <table>
      <thead>
        <tr>
          <th scope="col">Time</th>
          ${parts.map(([name]) => html`<th scope="col">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows
          .filter(({ amounts }) => sumOf(amounts) > 0)
          .map(
            ({ period, amounts }) =>
              html`<tr>
                <th scope="row">${period}</th>
                ${amounts.map((amount) => html`<td>${shown(amount)}</td>`)}
              </tr>`,
          )}
      </tbody>
    </table>
  </div>`;
}

function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}
