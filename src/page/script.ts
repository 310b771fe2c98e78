/**
 * What a page does beyond its forms: it searches while somebody types, follows what changes elsewhere [Y3], says before
 * its time is over, and loses nothing that is being written [Y1].
 */
export const script = `'use strict';
const filter = document.querySelector('form.filter');
let newest = 0;
let waiting;
let sent = {};

/** A button that is replaced between its press and its release is not clicked. */
let isPressed = false;
addEventListener('pointerdown', () => (isPressed = true));
for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => setTimeout(() => (isPressed = false)));

const leftMs = (root) => new Date(root.querySelector('#until time')?.dateTime) - Date.now();

/** Times as they are here; and in the last minutes, that the page's own is nearly over. */
function show(root) {
  for (const time of root.querySelectorAll('time'))
    if (time.dateTime !== '')
      time.textContent = new Date(time.dateTime).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
  for (const alert of root.querySelectorAll('#until [role="alert"]')) alert.hidden = leftMs(root) > 5 * 60_000;
}

/** What tells a control from the others. */
const keyOf = (control) => control.dataset.key ?? control.value;

/** What stands in a field that the page did not come with. */
const isWritten = (field) =>
  field.options ? [...field.options].some((each) => each.selected !== each.defaultSelected) : field.value !== field.defaultValue;
const writtenIn = (part, fields) => [...part.querySelectorAll(fields)].filter(isWritten);

/** By itself, or by its person, who then stays signed in. */
async function refresh(headers = { 'x-live': '1' }) {
  const mine = (newest += 1);
  const answer = await fetch(location.href, { cache: 'no-store', headers }).catch(() => undefined);
  if (answer === undefined || mine !== newest || answer.status === 429 || answer.status >= 500) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  if (mine !== newest) return;
  show(page);
  if (!answer.ok) return leave(page);
  if (isPressed) return refreshSoon();
  for (const part of document.querySelectorAll('[data-live]')) {
    const fresh = page.getElementById(part.id);
    if (fresh === null || part.outerHTML === fresh.outerHTML || writtenIn(part, 'select').length > 0) continue;
    const key = part.contains(document.activeElement) ? keyOf(document.activeElement) : undefined;
    part.replaceWith(fresh);
    if (key) [...fresh.querySelectorAll('[data-key], button')].find((each) => keyOf(each) === key)?.focus();
  }
}

function refreshSoon(headers) {
  clearTimeout(waiting);
  waiting = setTimeout(refresh, 150, headers);
}

/** Nobody is signed in any more, or what was shown is gone: that goes, and what was being written stays. */
function leave(page) {
  const written = writtenIn(document, texts);
  document.title = page.title;
  document.body.replaceWith(page.body);
  for (const field of written) {
    field.setAttribute('aria-label', 'What you were writing');
    document.getElementById('main').append(field);
  }
}

const texts = 'textarea, input[name="text"]';
const placeOf = ({ id, form }) => [location.pathname, id, form?.elements.line?.value].join(' ');

// Another form's answer, or a reload, brings the same page again.
addEventListener('submit', (event) => {
  const { target: form, submitter: button, timeStamp: at } = event;
  // The second click of a double one.
  if (button === sent.button && at < sent.at + 1000) return event.preventDefault();
  sent = { form, button, at };
});
addEventListener('pagehide', () => {
  const written = writtenIn(document, texts).filter(({ form }) => form !== sent.form);
  sessionStorage.setItem('written', JSON.stringify(written.map((field) => [placeOf(field), field.value])));
});
const before = new Map(JSON.parse(sessionStorage.getItem('written') ?? '[]'));
sessionStorage.removeItem('written');
for (const field of document.querySelectorAll(texts))
  if (before.has(placeOf(field))) field.value = before.get(placeOf(field));

show(document);
setInterval(() => {
  show(document);
  if (leftMs(document) < 0) refreshSoon();
}, 10_000);
addEventListener('click', ({ target }) => {
  if (target.dataset.key === 'stay') refresh({});
});
filter?.addEventListener('input', () => {
  const set = [...new FormData(filter)].filter(([, value]) => value !== '');
  history.replaceState(null, '', '/?' + new URLSearchParams(set));
  refreshSoon({});
});

/** One page of a browser hears what changes and tells the others: a browser opens six connections, not more. */
const others = new BroadcastChannel('changes');
others.onmessage = () => refreshSoon();

function listen() {
  const events = new EventSource('/events');
  const tell = () => (refreshSoon(), others.postMessage(''));
  events.onmessage = tell;
  // Nobody told of what changed since this page was made.
  events.onopen = () => performance.now() > 1000 && tell();
  // Until this page goes, or there is nothing to hear: perhaps nobody is signed in.
  return new Promise((resolve) => (events.onerror = () => events.readyState === events.CLOSED && resolve(tell())));
}

function follow() {
  if (document.querySelector('[data-live]') === null) return;
  navigator.locks.request('events', listen).then(() => setTimeout(follow, 10_000));
}

follow();
`;
