import { expect, it } from 'vitest';

import { command } from '../e2e/memory-talk.ts';
import { openPages } from './pages.ts';

const { stage, openPageOf } = await openPages();

const call = 'alert(1)';
/** Texts that run, load or break something where they are taken for HTML, SVG, CSS or Markdown. */
const payloads = [
  ...['script', 'svg><script', 'SCRIPT', 'script x', 'script/x'].map((tag) => `<${tag}>${call}</script>`),
  ...['img', 'svg', 'body', 'video', 'audio', 'iframe', 'input autofocus', 'details open', 'marquee'].flatMap(
    (tag) => [`<${tag} src=x onerror=${call} onload=${call}>`, `"><${tag}/onfocus=${call} ontoggle=${call}>`],
  ),
  ...['title', 'textarea', 'style', 'noscript', 'template', 'select', 'option', 'form', 'main', 'html'].map(
    (tag) => `</${tag}><img src=x onerror=${call}>`,
  ),
  `' autofocus onfocus=${call} x='`,
  `" autofocus onfocus="${call}`,
  `\` onmouseover=${call} x=\``,
  `javascript:${call}`,
  `[click](javascript:${call})`,
  `[click](data:text/html,<script>${call}</script>)`,
  '![x](https://evil.example/x.png)',
  '<https://evil.example/>',
  '<base href=https://evil.example/>',
  '<meta http-equiv=refresh content=0;url=https://evil.example/>',
  '<link rel=stylesheet href=https://evil.example/x.css>',
  '<style>*{display:none}</style>',
  '<p style="position:fixed;inset:0;background:red">x</p>',
  '<svg><use href="data:image/svg+xml,x#x"/></svg>',
  `<svg><animate onbegin=${call} attributeName=x dur=1s>`,
  `<svg><a xlink:href="javascript:${call}"><text y=9>x</text></a></svg>`,
  '<form action=https://evil.example/><button>Go</button></form>',
  '<button form=items formaction=https://evil.example/>Go</button>',
  `<math><mtext></form><form><mglyph><style></math><img src onerror=${call}>`,
  '<!--',
  '--><h1>x</h1><!--',
  ']]><h1>x</h1>',
  `&lt;script&gt;${call}&lt;/script&gt;`,
  `&#60;script&#62;${call}`,
  '\u202Eright to left',
  'W'.repeat(400),
  '**bold** `code` <t:1:F> ~~x~~ || y || # z',
  `{{constructor.constructor('${call}')()}}`,
  `\${${call}}`,
  '%3Cscript%3Ealert(1)%3C/script%3E',
];

it('what people write runs nothing, loads nothing and breaks no page, in sixty forms [Y5]', async () => {
  expect(new Set(payloads).size).toBeGreaterThanOrEqual(60);
  const name = 'attacker';
  await stage.sandbox.addPerson({ name });
  for (const payload of payloads) await command(stage, '/memory', name, `@${name}`, `remember x ${payload}`);
  for (const payload of payloads.slice(0, 20))
    await command(stage, '!memory', name, '#general', `note x ${payload}`);
  await using opened = await openPageOf(name, { viewport: { width: 360, height: 800 } });
  const { page, problems } = opened;
  let dialogs = 0;
  page.on('dialog', (dialog) => {
    dialogs += 1;
    void dialog.dismiss();
  });
  const elsewhere: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(new URL('/', page.url()).href)) elsewhere.push(request.url());
  });
  /** Elements that no page of ours has. */
  const foreign =
    'main :is(script, img, iframe, object, embed, style, link, base, meta, video, audio, body, marquee, math, use, animate, [onerror], [onload], [onfocus], [style], [formaction]), main a[href^="javascript:"], main a[href^="data:"]';
  const look = async (path: string): Promise<void> => {
    await page.goto(new URL(path, page.url()).href);
    const found = {
      foreign: await page.locator(foreign).count(),
      beyond: Math.max(0, Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))),
      isWhole: await page.getByRole('button', { name: 'Sign out' }).isVisible(),
    };
    expect({ path, ...found }).toEqual({ path, foreign: 0, beyond: 0, isWhole: true });
  };
  await page.getByText('x <script>alert(1)</script>').first().waitFor();
  for (const link of await page.getByRole('navigation').getByRole('link').all())
    await look((await link.getAttribute('href')) ?? '/');
  await look('/');
  const items = (await page.content()).match(/(?<=href=")\/items\/\w+/gu) ?? [];
  expect(items.length).toBeGreaterThanOrEqual(60);
  for (const address of items.slice(0, 8)) await look(address);
  for (const payload of payloads) {
    await look(`/search?q=${encodeURIComponent(payload)}`);
    await look(`/?q=${encodeURIComponent(payload)}`);
  }
  await page.goto(new URL('/data', page.url()).href);
  await page.getByLabel('Or a list').fill(
    payloads
      .slice(0, 20)
      .map((payload) => `y ${payload}`)
      .join('\n'),
  );
  await page.getByRole('button', { name: 'Look at the list' }).click();
  await page
    .getByRole('status')
    .getByText(/^There are \d+ new items/u)
    .waitFor();
  expect(await page.locator(foreign).count()).toBe(0);
  expect({ dialogs, elsewhere, problems }).toEqual({ dialogs: 0, elsewhere: [], problems: [] });
}, 300_000);
