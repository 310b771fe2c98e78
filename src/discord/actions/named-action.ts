import { mention, ownWords, withoutMarkedNames } from '../../core/own-words.ts';
import { stopTerms } from '../../core/stop-words.ts';
import { escapePattern, normalizeText, terms } from '../../core/text.ts';

export interface NamedChannel {
  readonly id: string;
  readonly name: string;
}

/** A message of the present channel, and how somebody who speaks there may point to it. */
export interface MessageTarget {
  readonly id: string;
  /** `own-last`: the bot's newest one before the turn; `last`: the newest one before it, by whomever else. */
  readonly is: 'current' | 'replied-to' | 'own-last' | 'last' | 'other';
}

/** An action, as far as the speaker has to name it. */
export type WantedAction =
  | { readonly kind: 'react'; readonly emoji: string; readonly target: MessageTarget }
  | { readonly kind: 'pin' | 'unpin'; readonly target: MessageTarget }
  | { readonly kind: 'poll'; readonly question: string; readonly answers: readonly string[] }
  | { readonly kind: 'start-thread'; readonly target?: MessageTarget | undefined }
  | { readonly kind: 'send'; readonly channel: NamedChannel };

/**
 * Whether one of the speaker's messages asks for an action in its own words [M8]: one sentence, which is neither a question about it nor a
 * denial, names the kind of action and what it is about. What the message quotes, code, and the names of whom and what it mentions say
 * nothing. Where in doubt it does not: the person then gets a button.
 */
export function isNamed(action: WantedAction, messages: readonly string[]): boolean {
  return messages.some((message) => {
    switch (action.kind) {
      case 'react': {
        const isAsked = (text: string) => kinds.react.test(text) || text.includes(sign.emoji);
        return requests(message, action).some((text) => isAsked(text) && pointsAt(text, action.target));
      }
      case 'pin':
      case 'unpin':
        return requests(message, action).some(
          (text) => kinds[action.kind].test(text) && pointsAt(text, action.target),
        );
      case 'poll':
        return (
          requests(message, {}).some((text) => kinds.poll.test(text)) &&
          [action.question, ...action.answers].every((text) => isSaid(text, ownWords(message)))
        );
      case 'start-thread':
        return requests(message, action).some(
          (text) =>
            kinds['start-thread'].test(text) &&
            (action.target === undefined || pointsAt(text, action.target)),
        );
      case 'send':
        return requests(message, action).some((text) => kinds.send.test(text) && destination.test(text));
    }
  });
}

/** Whether a message names a channel so that nothing else can be meant: by a mention of it, by its id, or as `#name`. */
export function pointsToChannel(message: string, channel: NamedChannel): boolean {
  return ownWords(marked(message, { channel })).includes(sign.channel);
}

/** Stand for what an action is about, where a message names it; no name can hold them, and no text is left that does. */
const sign = { channel: '\uE000', message: '\uE001', emoji: '\uE002' } as const;

interface Things {
  readonly channel?: NamedChannel;
  readonly target?: Pick<MessageTarget, 'id'> | undefined;
  readonly emoji?: string;
}

/** The sentences of a message that may ask for something, with signs for the things that they name. */
function requests(message: string, things: Things): readonly string[] {
  return ownWords(marked(message, things))
    .replace(quotations, ' ')
    .split(sentenceEnd)
    .map((sentence) => sentence.replace(/\s+/gu, ' '))
    .filter(
      (sentence) => !question.test(sentence) && !denial.test(sentence.replace(/^[^\p{L}]*no\s*[,!]/iu, '')),
    );
}

function marked(message: string, { channel, target, emoji }: Things): string {
  let text = message.replace(/[\uE000-\uE002]|\uFE0F/gu, '');
  if (emoji !== undefined) {
    const shown = emoji.replace(/^<a?(:\w+:)\d+>$/u, '$1').replaceAll('\uFE0F', '');
    text = text.replaceAll(shown, sign.emoji);
  }
  if (target !== undefined)
    text = text.replace(
      new RegExp(
        String.raw`<?https?://[^\s/]+/channels/[^\s/]+/\d+/${target.id}>?(?!\d)|(?<![\d/])${target.id}(?!\d)`,
        'gu',
      ),
      sign.message,
    );
  if (channel === undefined) return text;
  const name = escapePattern(channel.name);
  return withoutMarkedNames(text.replaceAll(mention('#', channel.name, '.'), sign.channel)).replace(
    new RegExp(
      String.raw`(?<![\p{L}\p{M}\p{N}_#/-])(?:#${name}|<#${channel.id}>|${channel.id})(?![\p{L}\p{M}\p{N}_-])`,
      'giu',
    ),
    sign.channel,
  );
}

/** Whether the speaker's words hold each word of a text that says something by itself; what has no words, as it stands. */
function isSaid(text: string, own: string): boolean {
  const claims = terms(text);
  if (claims.length === 0) return normalizeText(own).includes(normalizeText(text));
  const said = new Set(terms(own));
  return claims.every((claim) => stopTerms.has(claim) || said.has(claim));
}

/** Whether a sentence means this message: by a word that points to it, by its link, or because the speaker answers it. */
function pointsAt(sentence: string, { is }: MessageTarget): boolean {
  if (sentence.includes(sign.message)) return true;
  switch (is) {
    case 'replied-to':
      return !mine.test(sentence);
    case 'current':
      return pointing.here.test(sentence) || mine.test(sentence);
    case 'own-last':
      return !mine.test(sentence) && Object.values(pointing).some((words) => words.test(sentence));
    case 'last':
      return pointing.before.test(sentence);
    case 'other':
      return false;
  }
}

/** What stands between quotation marks or backticks is spoken of, not asked for. */
const quotations = /"[^"\n]*"|[“„][^“„”\n]*[“”]|«[^«»\n]*»|(?<!`)`+[^`]*`+/gu;
const sentenceEnd = /(?<![.!?…。！？])[.!?…。！？]+(?=\s|$)|[;\n]+/u;

/** One of these words, given as patterns, whole. */
function anyOf(...words: readonly string[]): string {
  return String.raw`(?<!\p{L})(?:${words.join('|')})(?!\p{L})`;
}

function anyCase(source: string): RegExp {
  return new RegExp(source, 'iu');
}

/** Sentences that begin so ask what is, was or should be; they do not ask for it. */
const question = anyCase(
  String.raw`^[^\p{L}]*(?:(?:hey|hi|ok|okay|so|and|but|well|und|aber|also|et|mais|alors|y|pero|и|а|но)[^\p{L}]+)*${anyOf(
    'who|whose|what|when|where|why|how|which|did|do|does|is|are|was|were|has|have|had|should',
    'wer|was|wann|wo|warum|wieso|weshalb|wie|welche[nmrs]?|hat|hast|haben|habt|ist|sind|war|waren|soll|sollte|sollten',
    'qui|que|qu|quoi|quand|où|pourquoi|comment|quel|quelle|quels|quelles|est|as|a|ont|avez',
    'quién|qué|cuándo|dónde|cómo|cuál|cuáles|has|ha|han|es|está|están',
    'кто|что|когда|где|почему|зачем|как|какой|какая|какое|какие|чей',
  )}`,
);

const denial = anyCase(
  `${anyOf(
    'not|never|dont|cannot|without|stop|no',
    'nicht|kein|keine|keinen|keinem|nie|niemals|ohne',
    'ne|n|pas|jamais|sans',
    'nunca|sin',
    'не|нет|никогда|без',
  )}|n['’]t(?!\\p{L})`,
);

/** Words by which people point: at what stands here, at what stands before it, and at what the bot said. */
const pointing = {
  here: anyCase(
    anyOf(
      'this|it|these|that',
      'das|dies\\p{L}*|es',
      'ceci|cela|ça|ce|cet|cette|le|la|l',
      'esto|este|esta|eso|lo|(?:des)?(?:fíj|áncl)al[oa]',
      'это|этот|эту|эти|его|её|ее',
    ),
  ),
  before: anyCase(
    anyOf(
      'that|last|previous|above|before|earlier',
      'letzte[nmrs]?|vorige[nmrs]?|vorherige[nmrs]?|oben|davor|darüber',
      'dernier|dernière|précédent|précédente|dessus|avant',
      'último|última|anterior|arriba|antes|eso|ese|esa',
      'последн\\p{L}+|предыдущ\\p{L}+|выше',
    ),
  ),
  yours: anyCase(
    anyOf(
      'your|yours|answer|reply',
      'dein\\p{L}*|antwort',
      'ta|ton|tes|votre|réponse',
      'tu|tus|respuesta',
      'тво\\p{L}+|ваш\\p{L}*|ответ',
    ),
  ),
};

/** What the speaker calls a message of their own, which no answer of the bot's is, nor one that they answer. */
const mine = anyCase(
  anyOf('my (?:message|post)', 'meine (?:nachricht|frage)', 'mon message', 'mi mensaje', 'мо[её] сообщение'),
);

/** At most some words of other meaning between one and the other. */
function followedBy(verbs: string, nouns: string): string {
  return String.raw`${verbs}(?:[^\p{L}]+\p{L}+){0,5}?[^\p{L}]+${nouns}`;
}

const making = anyOf(
  "make|start|create|open|set|run|do|hold|begin|launch|add|put|leave|give|have|want|need|let['’]?s|turn|move",
  'mache?|macht|machen|starte|starten|erstelle?|erstellen|öffne|eröffne|beginne?|setze?|gib|lass|lasst|will|möchte|brauche',
  'fais|faites|lance|lancez|crée|créez|créer|ouvre|ouvrez|ouvrir|commence|mets|ajoute|veux|voudrais',
  'haz|hagamos|crea|crear|abre|abrir|lanza|inicia|empieza|pon|añade|agrega|quiero',
  'сделай|сделайте|создай|создайте|запусти|запустите|устрой|устройте|проведи|проведите|начни|начните|открой|откройте|поставь|поставьте|добавь|добавьте|хочу',
);

/** Not one that is there already: `this thread`. */
const notThis = String.raw`(?<!(?:this|that|dies\p{L}{0,2}|ce|cette|est[ea]|es[ea]|этот|эту|этой) )`;

/** Not a noun: `my pin`, `the last post`. */
const noNoun = String.raw`(?<!(?:the|an?|my|your|our|his|her|their|this|that|last|every) )`;

/** What people call each kind of action when they ask for it; what already happened, such as `pinned`, is no wish. */
const kinds = {
  react: anyCase(
    `${anyOf('react', 'reagier|reagiere|reagieren', 'réagis|réagissez|réagir', 'reacciona|reaccionar', 'отреагируй|отреагируйте|среагируй')}|${followedBy(
      making,
      anyOf('reaction', 'reaktion', 'réaction', 'reacción', 'реакцию|реакция'),
    )}`,
  ),
  pin: anyCase(
    noNoun +
      anyOf(
        "pin(?!\\s+(?:code|number|board)|['’]s)",
        '(?:pinne?|pinnt|hefte?)(?!.{0,60}(?<!\\p{L})ab[^\\p{L}]*$)|anpinnen|anheften',
        'épingle|épinglez|épingler',
        'fija|fijar|fíjal[oa]|ancla|anclar|ánclal[oa]',
        'закрепи|закрепите|закрепить|запинь',
      ),
  ),
  unpin: anyCase(
    anyOf(
      'unpin',
      'abpinnen|entpinne?|entpinnen|pinne?(?=.{0,60}(?<!\\p{L})ab[^\\p{L}]*$)',
      'désépingle|désépinglez|désépingler|détache|détachez|détacher',
      'desfija|desfijar|desfíjal[oa]|desancla|desanclar|desánclal[oa]',
      'открепи|открепите|открепить',
    ),
  ),
  poll: anyCase(
    `^[^\\p{L}]*${anyOf('poll|vote|umfrage|abstimmung|sondage|encuesta|опрос|голосование')}|${followedBy(
      making,
      notThis +
        anyOf(
          'poll|vote|survey',
          'umfrage|abstimmung|abstimmen',
          'sondage|vote|voter',
          'encuesta|votación|sondeo',
          'опрос|голосование',
        ),
    )}`,
  ),
  'start-thread': anyCase(
    followedBy(making, notThis + anyOf('threads?', 'fil', 'hilo', 'ветку|ветка|тред|трэд')),
  ),
  send: anyCase(
    noNoun +
      anyOf(
        '(?:send|post|write|tell|give)(?!\\s+(?:me|us)(?!\\p{L}))|say|announce|share|forward|publish|relay',
        `(?:ask|inform|notify|message|let|put)(?=.{0,60}${sign.channel})`,
        '(?:sag|sage|schreib|schreibe|schick|schicke|sende)(?!\\s+(?:mir|uns)(?!\\p{L}))|poste|verkünde|teile?|frage?|informiere|melde|leite',
        '(?:dis|dites|écris|écrivez|envoie|envoyez)(?!-?\\s*(?:moi|nous)(?!\\p{L}))|publie|publiez|poste|postez|annonce|annoncez|partage|préviens|demande|informe|transmets',
        'di|escribe|envía|manda|publica|postea|anuncia|comparte|pregunta|avisa|informa|diles',
        '(?:скажи|скажите|напиши|напишите|отправь|отправьте|пошли|передай|передайте)(?!\\s+(?:мне|нам)(?!\\p{L}))|сообщи|сообщите|опубликуй|опубликуйте|запости|объяви|объявите|спроси',
      ),
  ),
} satisfies Record<WantedAction['kind'], RegExp>;

/** The channel as where something is to go, not as what is spoken of. */
const destination = anyCase(
  String.raw`(?:${anyOf(
    'in|into|to|on|at|tell|ask|inform|notify|message|let',
    'im|ins|an|nach|auf|sage?|frage?|informiere',
    'dans|sur|à|au|vers|préviens|informe|dis',
    'en|a|al|para|avisa|informa',
    'в|во|на|для|скажи|скажите|напиши|напишите|сообщи|передай|спроси',
  )})[^\p{L}]*(?:(?:the|channel|den|dem|der|kanal|channel|le|la|salon|canal|el|канал|канале)[^\p{L}]+){0,2}${sign.channel}`,
);
