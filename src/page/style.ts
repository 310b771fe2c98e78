/** The one style sheet: a calm column of text, in light and dark, from 360 pixels on. */
export const style = `
:root {
  color-scheme: light dark;
  --paper: #fdfcfa; --ink: #1d1c1a; --faint: #5c5954; --line: #d9d5ce; --field: #ffffff; --accent: #7a3e12; --mark: #f4ece2;
  --part0: #7a3e12; --part1: #1f6f8b; --part2: #8a6d00; --part3: #5b4b9a; --part4: #2e7d4f; --part5: #b0354f; --part6: #5c5954; --part7: #0b5394; --part8: #6b4f1d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #191817; --ink: #ece8e1; --faint: #aaa59c; --line: #3b3935; --field: #222120; --accent: #eaaf7f; --mark: #2b2724;
    --part0: #eaaf7f; --part1: #6cc0dc; --part2: #d9bd4a; --part3: #b3a4f0; --part4: #7fcf9b; --part5: #f08fa2; --part6: #aaa59c; --part7: #8db4f2; --part8: #cdb38b;
  }
}
* { box-sizing: border-box; }
html { font: 106.25%/1.6 system-ui, sans-serif; background: var(--paper); color: var(--ink); }
body { margin: 0 auto; padding: 0 1rem 4rem; max-width: 46rem; overflow-wrap: break-word; }
header { display: flex; flex-wrap: wrap; gap: .5rem 1rem; justify-content: space-between; align-items: center; padding: 1rem 0; border-bottom: 1px solid var(--line); }
header form { display: flex; gap: .75rem; align-items: center; }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: .6rem 0; font-size: .9375rem; }
nav a[aria-current] { color: inherit; font-weight: 600; text-decoration: none; }
h1 { font-size: 1.7rem; line-height: 1.25; font-weight: 600; margin: 1.5rem 0 1rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { margin: .4rem 0; }
a { color: var(--accent); text-underline-offset: .15em; }
.home { color: inherit; font-weight: 600; text-decoration: none; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: .5rem; background: var(--paper); padding: .5rem; }
.facts, .count, small { color: var(--faint); font-size: .875rem; }
.items { list-style: none; padding: 0; margin: 0; }
.items li { padding: 1rem 0; border-top: 1px solid var(--line); }
.items li, .card { content-visibility: auto; contain-intrinsic-size: auto 8.5rem; }
.text, .title { font-size: 1.1rem; margin: 0; }
.text { white-space: pre-wrap; }
.acts, .acts form, .state, .state form { display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: center; }
.acts { margin-top: .4rem; font-size: .9375rem; }
.state form { margin: 0; }
.state { justify-content: space-between; gap: .75rem 1.5rem; margin-bottom: 1.5rem; font-size: .9375rem; }
.said { background: var(--mark); border-left: 3px solid var(--accent); padding: .6rem 1rem; margin: 1rem 0; }
.said form { display: inline-block; margin: .4rem .75rem 0 0; }
.filter { display: grid; grid-template-columns: 1fr auto; gap: .5rem 1rem; align-items: end; margin: 1.5rem 0; font-size: .9375rem; }
.filter p { margin: 0; }
.filter details { grid-column: 1 / -1; }
.filter details div { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .5rem 1rem; margin-top: .5rem; }
summary { color: var(--faint); cursor: pointer; }
.note { white-space: pre-wrap; }
.card { padding: 1rem 0; border-top: 1px solid var(--line); }
.card h2 { margin: 0 0 .5rem; }
.remember, section > form { margin: 1rem 0; }
label { display: block; color: var(--faint); font-size: .875rem; }
.state label { display: inline; }
input, select, textarea, button { font: inherit; color: inherit; border-radius: 4px; }
input, select, textarea { background: var(--field); border: 1px solid var(--faint); padding: .35rem .5rem; max-width: 100%; }
.filter input, .filter select, textarea { width: 100%; }
button { background: none; border: 1px solid var(--line); padding: .3rem .7rem; min-height: 2rem; cursor: pointer; }
button:hover { border-color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
code { font-family: ui-monospace, monospace; font-size: .9em; }
.status { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; font-size: .9375rem; }
.status dt { color: var(--faint); }
.status dd { margin: 0; min-width: 0; }
.choice { margin-top: 2rem; border-top: 1px solid var(--line); gap: .25rem 1.25rem; }
.chart { display: grid; grid-template: 9rem auto / auto 1fr; gap: .25rem .5rem; margin: .5rem 0; }
.chart svg { width: 100%; height: 100%; }
.lines { stroke: var(--line); vector-effect: non-scaling-stroke; }
.scale, .times { display: flex; justify-content: space-between; color: var(--faint); font-size: .8125rem; line-height: 1; }
.scale { flex-direction: column; text-align: right; margin: -.4rem 0; }
.times { grid-column: 2; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem 1rem; padding: 0; margin: .25rem 0; font-size: .875rem; }
.swatch { display: inline-block; width: .7rem; height: .7rem; }
.bar { display: block; width: 100%; height: 1.6rem; margin: .5rem 0; }
.bar rect { stroke: var(--paper); }
.meter { display: block; width: 100%; max-width: 16rem; height: .5rem; }
.room { fill: var(--line); }
.parts { width: 100%; }
.parts th { white-space: normal; }
.parts th:first-child { width: 100%; }
.own { padding-left: 1.25rem; }
.own p { white-space: pre-wrap; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { text-align: right; font-weight: inherit; padding: .15rem .75rem .15rem 0; white-space: nowrap; }
th:first-child { text-align: left; }
${[0, 1, 2, 3, 4, 5, 6, 7, 8].map((part) => `.part${part} { fill: var(--part${part}); background: var(--part${part}); }`).join('\n')}
`;
