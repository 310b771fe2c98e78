/** What a page does beyond its forms: it searches while somebody types, and follows what changes elsewhere [Y3]. */
export const script = `'use strict';
const filter = document.querySelector('form.filter');
let newest = 0;
let waiting;

function showTimes(root) {
  for (const time of root.querySelectorAll('time'))
    if (time.dateTime !== '')
      time.textContent = new Date(time.dateTime).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
}

/** Each answer has tokens of its own. */
const shown = (part) => part.outerHTML.replaceAll(/name="_csrf" value="[^"]*"/g, '');

/** What tells a control from the others. */
const keyOf = (control) => control.dataset.key ?? control.value;

async function refresh() {
  const mine = (newest += 1);
  const answer = await fetch(location.href, { cache: 'no-store' }).catch(() => undefined);
  if (answer === undefined || mine !== newest) return;
  // Nobody is signed in any more, or what was shown is gone.
  if (!answer.ok) return answer.status < 500 ? location.reload() : undefined;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  if (mine !== newest) return;
  showTimes(page);
  for (const part of document.querySelectorAll('[data-live]')) {
    const fresh = page.getElementById(part.id);
    if (fresh === null || shown(part) === shown(fresh)) continue;
    const key = part.contains(document.activeElement) ? keyOf(document.activeElement) : undefined;
    part.replaceWith(fresh);
    if (key) [...fresh.querySelectorAll('[data-key], button')].find((each) => keyOf(each) === key)?.focus();
  }
}

function refreshSoon() {
  clearTimeout(waiting);
  waiting = setTimeout(refresh, 150);
}

showTimes(document);
filter?.addEventListener('input', () => {
  const set = [...new FormData(filter)].filter(([, value]) => value !== '');
  history.replaceState(null, '', '/?' + new URLSearchParams(set));
  refreshSoon();
});
if (document.querySelector('[data-live]') !== null) {
  const events = new EventSource('/events');
  let isOpenAgain = false;
  events.onmessage = refreshSoon;
  events.onopen = () => {
    if (isOpenAgain) refreshSoon();
    isOpenAgain = true;
  };
}
`;
