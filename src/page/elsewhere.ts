import type { CommandReply } from '../core/commands.ts';
import { counted, quoted } from '../core/text.ts';
import { type Answered, commandForm, html, timeOf, type Html, type OwnPage } from './html.ts';
import { tokenLimits, type Session, type SignIn } from './sign-in.ts';

export interface Elsewhere {
  readonly signIn: Pick<SignIn, 'tokensOf' | 'makeToken' | 'revokeToken'>;
  /** Where MCP is served. */
  readonly url: () => string;
}

/** What the page does itself with a line of a form: only it shows a token. `undefined` for every other line. */
export async function actElsewhere(
  { signIn }: Elsewhere,
  session: Session,
  line: string,
): Promise<(CommandReply & Pick<Answered, 'isShownOnce'>) | undefined> {
  const { does, name = '' } = /^token (?<does>make|revoke)(?: (?<name>.*))?$/su.exec(line)?.groups ?? {};
  if (does === undefined) return undefined;
  if (does === 'revoke') {
    await signIn.revokeToken(session.person.id, name);
    return { text: `Revoked: ${quoted(name)} reads nothing any more.` };
  }
  const token = await signIn.makeToken(session, name);
  if (token === undefined) return { text: noToken };
  const text = `The token of ${quoted(name)}. It is shown this once, so copy it now:\n\`${token}\``;
  return { text, isShownOnce: true };
}

const noToken = `There is no new token: each has a name of its own of at most ${tokenLimits.nameChars} characters, and you can have ${tokenLimits.tokens}.`;

/** *Use my memory elsewhere* [EW3]. */
export async function elsewherePage({ signIn, url }: Elsewhere, own: OwnPage): Promise<Html> {
  const { tokens, calls } = await signIn.tokensOf(own.userId);
  return html`<h1>Use my memory elsewhere</h1>
    <p>
      With a token, another assistant that speaks MCP searches and lists your memory as you see it in our
      direct messages, and proposes what I may remember. A proposal waits for your yes under Review, and in
      <code>/memory proposals</code>. Anybody with a token reads all of it: give it to programs that you
      trust, and to nobody else.
    </p>
    <section>
      <h2>Make a token</h2>
      ${commandForm(
        own.context,
        'token make',
        html`<label for="name">Which assistant it is for</label>
          <input
            id="name"
            name="text"
            maxlength="${tokenLimits.nameChars}"
            placeholder="Claude Code"
            required
          />
          <button>Make a token</button>`,
      )}
    </section>
    <section id="tokens" data-live>
      <h2>Your tokens</h2>
      ${tokens.length === 0 ? html`<p>None.</p>` : undefined}
      <ul class="items">
        ${tokens.map(
          ({ name, madeAt, usedAt }) =>
            html`<li>
              <p class="title">${name}</p>
              <p class="facts">
                made ${timeOf(new Date(madeAt))} ·
                ${usedAt === undefined ? 'never used' : html`last used ${timeOf(new Date(usedAt))}`}
              </p>
              ${commandForm(
                own.context,
                `token revoke ${name}`,
                html`<button data-key="revoke ${name}">Revoke</button>`,
              )}
            </li>`,
        )}
      </ul>
    </section>
    <section>
      <h2>What to paste</h2>
      <p>
        Put the token in place of <code>TOKEN</code>. It works in the header <code>Authorization</code> only.
      </p>
      ${clients(url()).map(
        ({ name, where, text }) =>
          html`<h3>${name}</h3>
            <p>${where}</p>
            <pre class="note">${text}</pre>`,
      )}
      <p>
        The web apps of Claude and ChatGPT take servers that sign people in by OAuth alone, which this one
        does not.
      </p>
    </section>
    <section id="calls" data-live>
      <h2>Last calls</h2>
      ${calls.length === 0 ? html`<p>None.</p>` : undefined}
      <ol class="items">
        ${calls
          .toReversed()
          .map(
            ({ name, tool, at, hits }) =>
              html`<li>
                ${name} · <code>${tool}</code> · ${timeOf(new Date(at))} · ${counted(hits, 'hit')}
              </li>`,
          )}
      </ol>
    </section>`;
}

const json = (value: unknown): string => JSON.stringify(value, undefined, 2);

/** Each as its own documents say. */
function clients(url: string) {
  const header = 'Bearer TOKEN';
  return [
    {
      name: 'Claude Code',
      where: 'In a terminal:',
      text: `claude mcp add --transport http --scope user discoclaw ${url} --header "Authorization: ${header}"`,
    },
    {
      name: 'VS Code',
      where: 'By the command “MCP: Open User Configuration”:',
      text: json({ servers: { discoclaw: { type: 'http', url, headers: { Authorization: header } } } }),
    },
    {
      name: 'Cursor',
      where: 'In ~/.cursor/mcp.json:',
      text: json({ mcpServers: { discoclaw: { url, headers: { Authorization: header } } } }),
    },
    {
      name: 'Others, such as Claude Desktop, by mcp-remote',
      where: 'In their list of MCP servers; for an address with http add --allow-http to args:',
      text: json({
        mcpServers: {
          discoclaw: {
            command: 'npx',
            args: ['-y', 'mcp-remote', url, '--header', 'Authorization:${AUTH_HEADER}'],
            env: { AUTH_HEADER: header },
          },
        },
      }),
    },
  ];
}
