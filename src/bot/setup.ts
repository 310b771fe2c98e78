import { estimateTokenCount } from 'tokenx';

import { type Config, type Environment, readConfig } from '../config/config.ts';
import { withDiscord } from '../discord/checkup.ts';
import { noUsage } from '../core/model.ts';
import { typicalExtraction } from '../memory/durable/extraction.ts';
import { callCost, priceListDate } from '../model/anthropic/models.ts';
import { inviteLink } from '../discord/required-permissions.ts';
import { GatewayError } from '../discord/gateway-error.ts';
import { createLogger } from '../observability/logger.ts';
import { portalPage } from './checks.ts';
import { useProxy } from './proxy.ts';
import {
  createAsker,
  envPath,
  InputEndedError,
  keptValue,
  mayTryAgain,
  save,
  type Setup,
} from './setup-form.ts';
import { setUpModel } from './setup-model.ts';

const stoppedByHand = 'Stopped before the end';

/** `npm run setup`: asks for token, server of the model, key and model, and saves each once it is checked. Resolves with the exit code [O1]. */
export async function runSetup(environment: Environment): Promise<number> {
  // Some other variables are refused without a token.
  const { config } = readConfig({ ...environment, DISCORD_TOKEN: 'asked for' });
  await useProxy(config.proxy);
  const asker = createAsker();
  const setup = { asker, config, environment };
  const stopped = (reason: string): void =>
    asker.say(`\n${reason}. What was checked by then is in .env; npm run setup goes on from there.`);
  const interrupted = (): void => {
    stopped(stoppedByHand);
    process.exit(1);
  };
  process.once('SIGINT', interrupted);
  try {
    asker.say(
      `This sets up Discoclaw: it checks a Discord token and a model, and writes them to ${envPath()}.\n`,
    );
    await setUpDiscord(setup);
    const fastModel = await setUpModel(setup);
    if (fastModel !== undefined) await setUpNoticing(setup, fastModel);
    asker.say('\nDone. npm start runs the bot; npm run doctor looks at any time whether all is in order.');
    return 0;
  } catch (error) {
    if (!(error instanceof InputEndedError) && !(error instanceof RangeError)) throw error;
    stopped(error instanceof RangeError ? error.message : stoppedByHand);
    return 1;
  } finally {
    process.off('SIGINT', interrupted);
    asker.close();
  }
}

async function setUpDiscord(setup: Setup): Promise<void> {
  const { asker } = setup;
  asker.say('The token: https://discord.com/developers/applications → your application → Bot → Reset Token.');
  const askToken = () => asker.secret('Discord bot token (hidden):');
  let token = (await keptValue(setup, 'DISCORD_TOKEN')) ?? (await askToken());
  for (;;) {
    const application = await askDiscord(setup, token);
    if (application === 'refused') {
      asker.say(
        'Discord refused this token. Copy it again: Reset Token on the page Bot makes a new one and shows it once.',
      );
      token = await askToken();
    } else if (application === 'unreachable') {
      if (await mayTryAgain(setup, 'Discord cannot be reached: check the network and DISCORD_API_URL.'))
        continue;
      return save(setup, 'DISCORD_TOKEN', token);
    } else {
      await save(setup, 'DISCORD_TOKEN', token);
      asker.say(`✓ Discord knows the bot as ${application.name}.`);
      await lookAtIntents(setup, token, application);
      asker.say(`\nInvite it to your servers with this link:\n${inviteLink(application.id)}\n`);
      return;
    }
  }
}

async function askDiscord({ config }: Setup, token: string) {
  const logger = createLogger({ level: 'error' });
  try {
    return await withDiscord({ token, apiUrl: config.discord.apiUrl, logger }, (discord) =>
      discord.application(),
    );
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return error.failure === 'token' ? 'refused' : 'unreachable';
  }
}

async function lookAtIntents(
  setup: Setup,
  token: string,
  application: { readonly id: string; readonly readsContent: boolean },
): Promise<void> {
  const { asker } = setup;
  let { readsContent } = application;
  while (!readsContent) {
    asker.say(
      `Message Content Intent is off. Without it the bot reads only direct messages, mentions, replies to it and commands.\nSwitch it on, under Privileged Gateway Intents: ${portalPage(application.id)}`,
    );
    if (!(await asker.confirm('Look again?', true))) return;
    const found = await askDiscord(setup, token);
    if (typeof found === 'string') asker.say('Discord cannot be asked at the moment.');
    else ({ readsContent } = found);
  }
  asker.say('✓ Message Content Intent is on.');
}

/** Whether to notice by itself what people say about themselves [A2], and what that costs. */
async function setUpNoticing(setup: Setup, fastModel: string): Promise<void> {
  const { asker, config } = setup;
  asker.say(
    `\nThe bot remembers what people ask it to. It can also look through what they say to it for what will still matter in months; people see each thing, and can say no. ${noticingCost(fastModel, config.model.prices)}`,
  );
  const isOn = config.durable.extractionEnabled;
  const wanted = await asker.confirm('Notice by itself?', isOn);
  if (wanted !== isOn) await save(setup, 'DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED', String(wanted));
}

const pricedTurns = 1000;

function noticingCost(model: string, prices: Config['model']['prices']): string {
  const { request, answer } = typicalExtraction(model);
  const used = {
    ...noUsage,
    inputTokens: estimateTokenCount(JSON.stringify(request)),
    outputTokens: estimateTokenCount(answer),
  };
  const cost = callCost(model, used, prices);
  const calls = `That is one more call of ${model} for each message`;
  return cost === undefined
    ? `${calls}, of about ${used.inputTokens} tokens; its price is not known here.`
    : `${calls}: about $${(cost * pricedTurns).toFixed(2)} for ${pricedTurns} messages, at prices of ${priceListDate}.`;
}
