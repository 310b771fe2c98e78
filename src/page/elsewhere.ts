import type { CommandReply } from '../core/commands.ts';
import { quoted } from '../core/text.ts';
import { type Answered, commandForm, html, timeOf, type FormContext, type Html } from './html.ts';
import type { Session } from './sign-in.ts';
import { tokenNameMaxChars, type Tokens } from './tokens.ts';

export interface Elsewhere {
  readonly tokens: Tokens;
  /** Where MCP is served. */
  readonly url: () => string;
}

/** What the page does itself with a line of a form: only it shows a token. `undefined` for every other line. */
export async function actElsewhere(
  { tokens }: Elsewhere,
  session: Session,
  line: string,
): Promise<(CommandReply & Pick<Answered, 'isShownOnce'>) | undefined> {
  const { does, name = '' } = /^token (?<does>make|revoke)(?: (?<name>.*))?$/su.exec(line)?.groups ?? {};
  if (does === undefined) return undefined;
  if (does === 'revoke') {
    const isRevoked = await tokens.revoke(session.person.id, name);
    return {
      text: isRevoked ? `Revoked: ${quoted(name)} reads nothing any more.` : 'There is no such token.',
    };
  }
  const made = await tokens.make(session, name);
  if ('refused' in made) return { text: made.refused };
  return {
    text: `The token of ${quoted(name)}. It is shown this once, so copy it now:\n\`${made.token}\``,
    isShownOnce: true,
  };
}

/** *Use my memory elsewhere* [EW3]. */
export async function elsewherePage(
  { tokens, url }: Elsewhere,
  userId: string,
  context: FormContext,
): Promise<Html> {
  const held = await tokens.list(userId);
  return html`<h1>Use my memory elsewhere</h1>
    <p>
      With a token, another assistant that speaks MCP searches and lists your memory as you see it in our
      direct messages, and proposes what I may remember. A proposal waits for your yes under Review. Whoever
      has a token reads all of it: give it to programs that you trust, and to nobody else.
    </p>
    <section>
      <h2>Make a token</h2>
      ${commandForm(
        context,
        'token make',
        html`<label for="name">Which assistant it is for</label>
          <input id="name" name="text" maxlength="${tokenNameMaxChars}" placeholder="Claude Code" required />
          <button>Make a token</button>`,
      )}
    </section>
    <section id="tokens" data-live>
      <h2>Your tokens</h2>
      ${held.tokens.length === 0 ? html`<p>None.</p>` : undefined}
      <ul class="items">
        ${held.tokens.map(
          ({ name, madeAt, usedAt }) =>
            html`<li>
              <p class="title">${name}</p>
              <p class="facts">
                made ${timeOf(new Date(madeAt))} ·
                ${usedAt === undefined ? 'never used' : html`last used ${timeOf(new Date(usedAt))}`}
              </p>
              ${commandForm(
                context,
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
      ${held.calls.length === 0 ? html`<p>None.</p>` : callTable(held.calls.toReversed())}
    </section>`;
}

function callTable(calls: Awaited<ReturnType<Tokens['list']>>['calls']): Html {
  return html`<table class="parts">
    <thead>
      <tr>
        ${['Token', 'Tool', 'When', 'Hits'].map((title) => html`<th scope="col">${title}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${calls.map(
        ({ name, tool, at, hits }) =>
          html`<tr>
            <th scope="row">${name}</th>
            <td>${tool}</td>
            <td>${timeOf(new Date(at))}</td>
            <td>${hits}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

/** Each as its own documents say. */
function clients(url: string) {
  const headers = { Authorization: 'Bearer TOKEN' };
  const remote = {
    command: 'npx',
    args: ['-y', 'mcp-remote', url, '--header', 'Authorization:${AUTH_HEADER}'],
    env: { AUTH_HEADER: headers.Authorization },
  };
  return [
    {
      name: 'Claude Code',
      where: 'In a terminal:',
      text: `claude mcp add --transport http --scope user discoclaw ${url} --header "Authorization: Bearer TOKEN"`,
    },
    {
      name: 'VS Code',
      where: 'By the command “MCP: Open User Configuration”; it asks for the token once:',
      text: json({
        inputs: [
          { type: 'promptString', id: 'discoclaw-token', description: 'Discoclaw token', password: true },
        ],
        servers: {
          discoclaw: { type: 'http', url, headers: { Authorization: 'Bearer ${input:discoclaw-token}' } },
        },
      }),
    },
    {
      name: 'Cursor',
      where: 'In ~/.cursor/mcp.json:',
      text: json({ mcpServers: { discoclaw: { url, headers } } }),
    },
    {
      name: 'Others, such as Claude Desktop, by mcp-remote',
      where: 'In their configuration of MCP servers; an address with http needs --allow-http in args, too:',
      text: json({ mcpServers: { discoclaw: remote } }),
    },
  ];
}

function json(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}
