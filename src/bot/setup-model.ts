import { variables } from '../config/variables.ts';
import { nearestNames } from '../core/text.ts';
import type { listModels } from '../model/anthropic/anthropic-client.ts';
import { resolveModel } from '../model/anthropic/models.ts';
import { tryModel } from './checks.ts';
import { keptValue, mayTryAgain, save, type Setup } from './setup-form.ts';

interface ModelServer {
  readonly name: string;
  /** Absent: the vendor's own. */
  readonly address?: string | undefined;
  /** Where its key comes from; absent where it usually wants none. */
  readonly key?: string;
}

const anthropic: ModelServer = { name: 'Anthropic', key: 'https://console.anthropic.com → API keys' };

/** With their usual addresses [M10]. */
const servers: readonly ModelServer[] = [
  anthropic,
  { name: 'Ollama', address: 'http://127.0.0.1:11434' },
  { name: 'llama.cpp', address: 'http://127.0.0.1:8080' },
  { name: 'LM Studio', address: 'http://127.0.0.1:1234' },
  { name: 'vLLM', address: 'http://127.0.0.1:8000' },
  { name: 'LiteLLM', address: 'http://127.0.0.1:4000', key: 'its configuration (master_key)' },
  { name: 'OpenRouter', address: 'https://openrouter.ai/api', key: 'https://openrouter.ai/settings/keys' },
];

type Listed = Awaited<ReturnType<typeof listModels>>;

const patienceMs = 20_000;
const shownModels = 20;

/** Asks for server, key and model until the model answers. Resolves with the fast model's name, if there is any model. */
export async function setUpModel(setup: Setup): Promise<string | undefined> {
  const { asker, config, environment } = setup;
  const server = await chooseServer(setup);
  const { address: baseUrl } = server;
  const from = server.key ?? server.name;
  const askKey = async () => (await asker.secret('Model key (hidden):')) || undefined;
  if (server.key !== undefined)
    asker.say(`The model's key, from ${from}. Leave it empty to go on without one.`);
  let apiKey =
    server.key === undefined
      ? environment['ANTHROPIC_API_KEY'] || undefined
      : ((await keptValue(setup, 'ANTHROPIC_API_KEY')) ?? (await askKey()));
  for (;;) {
    if (apiKey === undefined && baseUrl === undefined) {
      asker.say('No model, then: an offline stand-in answers, which is not a language model.');
      return undefined;
    }
    const access = { apiKey, baseUrl, timeoutMs: patienceMs };
    // The SDK is slow to load.
    const client = await import('../model/anthropic/anthropic-client.ts');
    const listed = await client.listModels(access);
    // Before anything else, the key is put right.
    const chosen = listed === 'key' ? config.model.main : await chooseModel(setup, listed);
    const finding = await tryModel({ ...access, model: chosen });
    if (finding.level === 'fine') asker.say(`✓ ${finding.text}.`);
    else if (finding.wrong === 'key') {
      asker.say(`${finding.text}. Copy it again from ${from}.`);
      apiKey = await askKey();
      continue;
    } else if (finding.level === 'broken') {
      if (await mayTryAgain(setup, `${finding.text}: ${finding.remedy}.`)) continue;
    } else asker.say(`! ${finding.text}: ${finding.remedy}.`);
    await save(setup, 'ANTHROPIC_BASE_URL', baseUrl ?? '');
    if (apiKey !== undefined) await save(setup, 'ANTHROPIC_API_KEY', apiKey);
    return saveModels(setup, listed, chosen);
  }
}

async function chooseServer({ asker, config }: Setup): Promise<ModelServer> {
  const { baseUrl } = config.model;
  asker.say(
    '\nWhere does the model run? Choose a number, or give the address of another server with the Messages API.',
  );
  for (const [index, { name, address = '' }] of servers.entries())
    asker.say(`  ${index + 1}  ${name.padEnd(11)}${address}`.trimEnd());
  for (;;) {
    const given = await asker.line('Server', baseUrl ?? '1');
    const chosen = servers[Number(given) - 1];
    if (chosen !== undefined && chosen.address === undefined) return chosen;
    const address = addressIn(chosen === undefined ? given : await asker.line('Address', chosen.address));
    const known = chosen ?? servers.find((each) => each.address === address);
    if (address !== undefined) return { ...(known ?? { name: address, key: address }), address };
    asker.say(`Please give a number from 1 to ${servers.length}, or an address that begins with http.`);
  }
}

/** Without the path that the bot adds itself. */
function addressIn(text: string): string | undefined {
  try {
    return variables.Model.ANTHROPIC_BASE_URL.read(text)?.replace(/\/v1$/u, '');
  } catch {
    return undefined;
  }
}

async function chooseModel({ asker, config }: Setup, listed: readonly string[]): Promise<string> {
  const { main } = config.model;
  if (listed.length === 0) return asker.line('Model name', main);
  for (const [index, name] of listed.slice(0, shownModels).entries()) asker.say(`  ${index + 1}  ${name}`);
  if (listed.length > shownModels) asker.say(`  and ${listed.length - shownModels} more`);
  const isServed = (name: string): boolean => listed.includes(resolveModel(name));
  for (;;) {
    const given = await asker.line('Model, by number or name', isServed(main) ? main : listed[0]);
    const name = listed[Number(given) - 1] ?? given;
    if (isServed(name)) return name;
    asker.say(`The server has no model "${given}". Did you mean ${nearestNames(given, listed)}?`);
  }
}

/** The chosen model also stands in for those that the server does not have. Returns the fast one's name. */
async function saveModels(setup: Setup, listed: Listed, chosen: string): Promise<string> {
  const { model, summary } = setup.config;
  const isKept = (variable: string, name: string): boolean =>
    listed.length > 0 && listed !== 'key'
      ? listed.includes(resolveModel(name))
      : chosen === model.main || (setup.environment[variable] ?? '') !== '';
  const others = { DISCOCLAW_FAST_MODEL: model.fast, DISCOCLAW_SUMMARY_MODEL: summary.model };
  if (chosen !== model.main) await save(setup, 'DISCOCLAW_MODEL', chosen);
  for (const [variable, name] of Object.entries(others))
    if (!isKept(variable, name)) await save(setup, variable, chosen);
  return isKept('DISCOCLAW_FAST_MODEL', model.fast) ? model.fast : chosen;
}
