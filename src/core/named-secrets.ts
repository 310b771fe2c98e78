import { stopTerms, terms } from './text.ts';

/**
 * Names of secrets, by what the secret looks like: `word` any password; `odd` one that is not an ordinary word,
 * since the name has other meanings; `key` long, with a digit; `code` and `pin` digits; `bare` those after a
 * mere "code"; `phrase` several words; `account` a long number.
 */
const names = {
  phrase: String.raw`(?<!\p{L})(?:pass[ -]?phrase|(?:seed|recovery|mnemonic|backup|secret)[ -]?phrase|mnemonic|phrase (?:secrète|de récupération)|frase (?:semilla|de recuperación)|wiederherstellungsphrase|(?:секретная|сид)[ -]?фраза)(?!\p{L})|シードフレーズ|助[记記][词詞]`,
  code: String.raw`(?<!\p{L})(?:(?:one|single)[ -]?(?:time|use)[ -]?(?:code|pass(?:code|word)|pin)|(?:verification|security|login|sign[ -]?in|access|sms|auth(?:entication|enticator)?|confirmation|backup|recovery|unlock|door|entry|gate|alarm|2fa|mfa|otp|pairing)[ -]?codes?|(?:bestätigungs|sicherheits|zugangs|einmal|tür|anmelde|verifizierungs|freischalt)-?(?:code|passwort|kennwort)|code (?:de (?:vérification|sécurité|confirmation|validation|connexion|secours)|secret|sms|d['’]accès)|código (?:de (?:verificación|seguridad|acceso|confirmación)|sms|secreto)|код (?:подтверждения|из смс|доступа|безопасности|входа)|смс-?код|t?otp|2fa|mfa|tan)(?!\p{L})|[验驗][证證][码碼]|認証コード|確認コード|ワンタイムパスワード|인증번호`,
  pin: String.raw`(?<!\p{L})(?:pins?(?:[ -]?(?:code|nummer|number))?|geheimzahl|code pin|código pin|пин(?:-?код)?|cvv2?|cvc2?)(?!\p{L})|暗証番号`,
  key: String.raw`(?<!\p{L})(?:(?:api|app|client|master|signing|secret|private|access|encryption|licen[cs]e|ssh|network|recovery|auth(?:entication|orization)?|bearer|bot|refresh|session)[ _-]?(?:access[ _-]?|secret[ _-]?)?(?:key|token|secret|schlüssel)|tokens?|bearer|secret|zugriffstoken|clé (?:api|secrète|d['’]api)|(?:clave|llave) (?:api|secreta|de api|privada)|(?:api|секретный|приватный)[ -]?ключ|ключ api|токен)(?!\p{L})|api ?[密金][钥鑰]|密[钥鑰]|令牌|api ?キー|シークレット|トークン`,
  account: String.raw`(?<!\p{L})(?:(?:bank )?account (?:number|no\.?|nr\.?)|routing number|sort code|kontonummer|numéro de compte|número de cuenta|номер (?:счета|счёта|карты)|ssn|social security number|iban|(?:credit |debit )?card number)(?!\p{L})|口座番号|银行卡号`,
  word: String.raw`(?:pass[ -]?w(?:or)?ds?|pass[ -]?code|passwort|kennwort|contraseña|contrasena)(?!\p{L})|(?<!\p{L})(?:pwd?|mdp|mot de passe|senha|palavra[ -]passe|парол[ьяею]|(?:wpa[23]?|wi-?fi|wlan)[ -]?(?:pass|key|code|schlüssel)|(?:clé|code|clave|código)(?: de| del| du)? (?:wi-?fi|wlan))(?!\p{L})|密[码碼]|口令|パスワード|비밀번호|비번`,
  odd: String.raw`(?<!\p{L})(?:pass|clave|credentials?|zugangsdaten|login|ключ)(?!\p{L})`,
  bare: String.raw`(?<!\p{L})(?:code|código|код)(?!\p{L})|コード`,
} as const;

type Kind = keyof typeof names;
const isKind = (name: string): name is Kind => name in names;
const kinds = Object.keys(names).filter(isKind);
const named = new RegExp(kinds.map((kind) => `(?<${kind}>${names[kind]})`).join('|'), 'giu');

/** A sign, a verb, or mere adjacency. */
type Link = 'sign' | 'is' | 'beside';

const is = String.raw`(?<![\p{L}\p{N}])(?:is|was|are|(?:will|would|used to) be|ist|war|lautet|heißt|c['’]est|est|es|era|é|è|это|будет)(?![\p{L}\p{N}])|['’]s(?!\p{L}|\s\p{L}{1,30}\s(?:is|was|has|must)\s)|は|が|就?是|[为為]|는|은`;
/** What precedes the thing that a secret is for. */
const aim = String.raw`for|of|on|at|to(?=\s(?:the|our|my|this|that)\s)|i|you|we|they|everyone|that|which|für|für['’]?s|ins|de[rs]|meine[rs]|unsere[rs]|vom|von|zum|zur|beim|im|am|de|du|des|del|do|da|no|na|pour|para|от|для|к|на|в`;
const adverb = String.raw`now|currently|just|simply|jetzt|nun|einfach|maintenant|simplement|ahora|simplemente|agora|теперь|сейчас|просто`;
/** Which one of them, behind the name. */
const which = String.raw`wi-?fi|wlan|вай-?фай|netflix|spotify|gmail|google|facebook|instagram|discord|steam|paypal|nov[ao]|nuev[ao]|actual|atual|actuel|nouveau|(?:(?:моего|моей|нашего|нашей)\s)?\p{Script=Cyrillic}{2,20}[аяыи](?=\s?[:=—–-])|(?:${adverb})(?=\s?[:=])`;
/** From a name to its secret: what closes the name, what it is for, and the link. */
const link = new RegExp(
  String.raw`["'\x60*_~|)\]]{0,4}(?:(?:\s{0,2}\([^()\n]{0,40}\))?(?:\s(?:${which}))?(?:\s(?:${aim})\s[^\n:=.,;!?▒]{1,50}?)?(?:\s{0,3}(?<sign>=>|->|[:=：＝→]{1,2})|(?:\s{1,3}(?:(?:has\sbeen|was|is|got)\s(?:now\s)?)?(?<set>changed|set|reset|updated))?\s{1,3}(?<to>to|zu|auf|à|a|на)(?=[\s:]):?|\s{0,3}(?<is>(?:${is})(?:\s(?:${adverb})(?=[\s:]))?)(?<then>\s?[:：])?|\s{1,3}(?<dash>[–—-])(?=\s))|(?=[\s\p{Script=Han}\p{N}]))\s{0,3}`,
  'iuy',
);

/** A part of a text, in UTF-16 units; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Secrets given with their name [K14], in seven languages: "my password is rosebud", "123456 ist dein Code". */
export function namedSecrets(text: string): readonly Span[] {
  const spans: Span[] = [];
  named.lastIndex = 0;
  let count = 0;
  for (let match = named.exec(text); match !== null; match = named.exec(text)) {
    const { 0: name, index, groups } = match;
    count += 1;
    // Nobody writes so many; checking each would take too long [L4].
    if (count > mostNames) return [...spans, { start: index, end: text.length }];
    const kind = kinds.find((each) => groups?.[each] !== undefined);
    if (kind === undefined) continue;
    const before = secretBefore(text, index, name, kind);
    if (before !== undefined) spans.push(before);
    const after = secretAfter(text, index, name, kind);
    if (after === undefined) continue;
    spans.push(after);
    // A name inside the secret names no other one.
    named.lastIndex = Math.max(named.lastIndex, after.end);
  }
  return spans;
}

/** The rest of a text with more counts as one. */
const mostNames = 200;
/** Characters to search for a secret and its clause. */
const reach = 200;

function secretAfter(text: string, index: number, name: string, kind: Kind): Span | undefined {
  link.lastIndex = index + name.length;
  const found = link.exec(text)?.groups;
  if (found === undefined) return undefined;
  const isSet =
    found['to'] !== undefined &&
    (found['set'] !== undefined ||
      /\b(?:set|changed?|reset|updated?|geändert|setze?)\b/iu.test(
        text.slice(Math.max(0, index - 40), index),
      ));
  const value = valueAt(text, link.lastIndex);
  const how: Link =
    (found['sign'] ?? found['then']) !== undefined
      ? 'sign'
      : (found['is'] ?? found['dash']) !== undefined || isSet || isEquated(text.slice(0, index), name, value)
        ? 'is'
        : 'beside';
  if (kind === 'bare' && (how === 'beside' || !isBare(text, index))) return undefined;
  // "pin 2024" may be somebody's wish to pin something.
  if (how === 'beside' && name === 'pin') return undefined;
  const length = secretLength(kind, name, how, value);
  if (length === 0) return undefined;
  const end = value.start + length;
  // An overlong word belongs to the secret as a whole.
  const rest = end < link.lastIndex + reach - 1 ? '' : (/^[^\s▒]+/u.exec(text.slice(end))?.[0] ?? '');
  return { start: value.start, end: end + rest.length };
}

/** A sentence without a verb, as in Russian: "мой пароль сезам", not "мой пароль устарел". */
function isEquated(before: string, name: string, { clause }: Value): boolean {
  if (!/^пароль$/iu.test(name)) return false;
  const words = wordsOf(clause);
  const isPredicate = /(?:[тсч]ь|л[аои]?|[еиуюая]т|с[яь]|[ыои]й|на?|о)$/iu.test(words[0] ?? '');
  const isOnes = /(?<!\p{L})(?:мой|наш|твой|ваш)\s(?:[\p{L}-]{1,20}\s)?$/iu.test(before.slice(-40));
  return isOnes && !isPredicate && words.length <= leastUnnamed && areContent(words);
}

interface Value {
  readonly start: number;
  readonly word: string;
  readonly clause: string;
  /** What follows the clause after a mere "and", to the next sign. */
  readonly more: string;
  readonly isQuoted: boolean;
}

const quotes: Readonly<Record<string, string>> = {
  '"': '"', "'": "'", '`': '`', '```': '```', '“': '”', '„': '“', '«': '»', '「': '」', '『': '』', '||': '||', '**': '**',
}; // prettier-ignore
const openingQuote = /^(?:```|\|\||\*\*|["'`“„«「『])/u;
const trailing = /[.,;:!?)\]}"'’”»。、，！？」*|]/u;
const withoutWords = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** Words that begin another clause. */
const connectors =
  /\s(?:and|but|or|so|because|und|aber|oder|et|mais|ou|y|pero|o|и|но|а|или|btw|pls|please|[-–—(][^\s]{0,1})(?=\s|$)/iu;
const politeEnds = /^(?:です|でした|だよ|だ)/u;
/** Polite sentence ends that are written as part of the word. */
const politeEnd = /(?<=[\p{L}\p{N}])(?:です|でした|だよ|입니다|이에요|예요)$/u;

function valueAt(text: string, start: number): Value {
  const line = text.slice(start, start + reach).split(/[\n▒]/u)[0] ?? '';
  const opening = openingQuote.exec(line)?.[0] ?? '';
  const from = start + opening.length;
  const said = line.slice(opening.length);
  const close = opening === '' ? -1 : said.indexOf(quotes[opening] ?? opening);
  if (close > 0) {
    const word = said.slice(0, close);
    return { start: from, word, clause: word, more: '', isQuoted: true };
  }
  const token = /^[^\s\u2068\u2069]+/u.exec(said)?.[0] ?? '';
  const foreign = token.search(withoutWords);
  let end = foreign > 0 ? foreign : token.length;
  while (end > 0 && trailing.test(token.charAt(end - 1))) end -= 1;
  end -= politeEnd.exec(token.slice(0, end))?.[0].length ?? 0;
  const word = token.slice(0, end);
  const rest =
    /^[^.,;:!?()…。、，！？|*~<\p{Extended_Pictographic}]*/u.exec(
      said.slice(end).replace(politeEnds, ''),
    )?.[0] ?? '';
  const inClause = rest.split(connectors)[0] ?? '';
  const clause = (word + inClause).trimEnd();
  return {
    start: from,
    word,
    clause: clause.slice(0, clause.length - (politeEnd.exec(clause)?.[0].length ?? 0)),
    more: /^\s(?:and|und|et|y|e|и)\s/iu.test(rest.slice(inClause.length))
      ? rest.slice(inClause.length).trimEnd()
      : '',
    isQuoted: false,
  };
}

/** How much of the value is the secret; 0 for none. */
function secretLength(kind: Kind, name: string, how: Link, value: Value): number {
  const { word, clause, isQuoted } = value;
  const words = wordsOf(clause);
  const isLinked = how !== 'beside';
  const all = (isIt: boolean): number => (isIt ? word.length : 0);
  switch (kind) {
    case 'pin':
      return all(/^\d{3,8}$/u.test(word));
    case 'bare':
      return matched(/^(?:\d{4,8}|\d{3}[ -]\d{3})(?![\p{L}\p{N}-])/u, clause);
    case 'code':
      return (
        matched(/^(?:[A-Z]{1,3}-)?(?:\d{4,10}|\d{3}[ -]\d{3})(?![\p{L}\p{N}-])/u, clause) ||
        all(
          isLinked &&
            /\d/u.test(word) &&
            /^[A-Za-z\d]{3,10}(?:-[A-Za-z\d]{3,10}){0,8}$/u.test(word) &&
            word.length >= 6,
        )
      );
    case 'account':
      return matched(/^[A-Z]{0,4}\d[\d -]{4,30}\d(?![\p{L}\p{N}])/u, clause);
    case 'key':
      return all(
        /\d/u.test(word) && /[A-Za-z]/u.test(word) && word.length >= (isLinked ? 8 : 12) && !isAddress(word),
      );
    case 'odd':
      if (how === 'sign' && /^(?:pass|clave)$/iu.test(name) && isPlainPhrase(words, leastUnnamed))
        return clause.length;
      return all(isOdd(word) && /\d/u.test(word) && word.length >= 6 && !isAddress(word));
    case 'phrase':
      if (isQuoted) return word.length;
      if (!isLinked) return 0;
      return (isPhrase(clause) ? clause.length : phraseLength(value, name, how)) || all(isOdd(word));
    case 'word':
      if (isAddress(word)) return 0;
      if (!isLinked) return all(isOdd(word) && /\d/u.test(word) && /\p{L}/u.test(word) && word.length >= 6);
      if (isQuoted) return all(!isOrdinary(word) || wordsOf(word).length >= leastQuoted);
      if (isOdd(word)) {
        if (isOrdinary(word)) return 0;
        // "hunter2 guys" is a password and an address; more words are a phrase.
        return words.length > 2 && areContent(words.slice(1)) ? clause.length : word.length;
      }
      return words.length === 1 && value.more === '' ? all(areWords(word)) : phraseLength(value, name, how);
  }
}

/** Words of a phrase after a name with other meanings. */
const leastUnnamed = 3;
/** Quoted words that are a secret however ordinary they are. */
const leastQuoted = 4;

/** How much of a clause of plain words is a password and not a remark; in doubt it is one. */
function phraseLength({ clause, more }: Value, name: string, how: Link): number {
  const all = wordsOf(clause).filter((word) => !/^\d{1,8}$/u.test(word));
  const [first, second] = all;
  if (first === undefined || all.length > mostWords || !all.every(isWritten)) return 0;
  const last = all.at(-1) ?? first;
  // A predicate stands last in Korean.
  if (/\p{Script=Hangul}/u.test(last) && isOrdinary(last)) return 0;
  if (isGrammar(first)) {
    const begins = how === 'sign' ? sentenceBegin : firstPerson;
    const isSentence = all.length > 2 && begins.test(first) && isSentenceRest(all.slice(1));
    const isNamed = isDeterminer(first) && isPlainPhrase(all.slice(1), how === 'sign' ? 2 : 3);
    return isSentence || isNamed ? clause.length : 0;
  }
  if (isOrdinary(first)) return isPlainPhrase(all, 2) ? clause.length : 0;
  const isOpen = all.length > 1 && !areContent(all.slice(1));
  // "printed on the back", "getting long", "really long", "Bob's problem".
  if (how === 'is' && isOpen && /(?:ed|ing|ly|mente|ment|['’]s)$/iu.test(first)) return 0;
  if (how === 'is' && second !== undefined && /^(?:than|als|que|чем)$/iu.test(second)) return 0;
  const purpose = second === undefined ? undefined : forPurpose.exec(clause);
  if (purpose?.index === first.length) return areWords(first) ? first.length : 0;
  // "long" and "broken" are remarks wherever they stand.
  if (how === 'is' && all.length === 2 && isOrdinary(last) && !isGrammar(last)) return 0;
  const added = wordsOf(more).slice(1);
  const isPair =
    added.length > 0 &&
    added.length <= (how === 'sign' || /(?<!s)s$/iu.test(name) ? 3 : 1) &&
    areContent([...all, ...added]);
  return isPair ? clause.length + more.length : all.length === 1 && !areWords(first) ? 0 : clause.length;
}

const firstPerson = /^(?:i|ich|je|yo|eu|я)$/iu;
/** Sentences that are passwords, not remarks on one: "I love pizza", "la vie est belle". */
const sentenceBegin =
  /^(?:i|you|the|ich|du|der|die|das|je|tu|le|la|les|yo|tú|el|los|las|eu|o|a|os|as|я|ты)$/iu;

/** Whether words have content, and no remark on passwords. */
function isSentenceRest(words: readonly string[]): boolean {
  return words.every((word) => isGrammar(word) || !isOrdinary(word)) && !words.every(isGrammar);
}

const forPurpose = /\s(?:for|für|pour|para|для)\s/iu;

function wordsOf(text: string): readonly string[] {
  return text.match(/\S+/gu) ?? [];
}

function areContent(words: readonly string[]): boolean {
  return words.every((word) => isWritten(word) && !isOrdinary(word));
}

/** An article, pronoun, preposition or auxiliary. */
function isGrammar(word: string): boolean {
  return terms(word).every((term) => grammar.has(term));
}

/** Whether at least so many content words stand there, after nothing but remarks: "now open sesame". */
function isPlainPhrase(words: readonly string[], least: number): boolean {
  const content = words.findIndex((word) => !isOrdinary(word));
  const said = content === -1 ? [] : words.slice(content, content + mostWords);
  return said.length >= least && areContent(said) && !words.slice(0, content).some(isGrammar);
}

function isDeterminer(word: string): boolean {
  return isPossessive.test(word) || /^(?:an?|eine?|une?|los|las|uma?|o)$/iu.test(word);
}

function matched(form: RegExp, clause: string): number {
  return form.exec(clause)?.[0].length ?? 0;
}

/** With a digit, a sign, or a capital inside. */
function isOdd(word: string): boolean {
  if (word.length < 4 || /^(?:[@#<]|\d+-\p{L}+$)/u.test(word) || !/[\p{L}\p{N}]/u.test(word)) return false;
  return /\d|[^\s][!@#$%^&=~<>\\+?_]|\p{Ll}\p{Lu}/u.test(word);
}

/** Words without a remark on passwords. */
function areWords(clause: string): boolean {
  const words = clause.split(/\s+/u, mostWords + 1);
  if (/^[^\p{Script=Han}]$/u.test(clause)) return false;
  return words.length <= mostWords && words.every(isWritten) && !words.some(isOrdinary);
}

function isWritten(word: string): boolean {
  return /^(?:(?=.{1,60}$)[\p{L}\p{M}]{1,30}(?:['’._-][\p{L}\p{M}]{1,30}){0,9}|\p{Script=Han})$/u.test(word);
}

const mostWords = 24;

/** Several words, few of which are ordinary. */
function isPhrase(clause: string): boolean {
  const words = clause.split(/\s+/u);
  return words.length >= 3 && words.filter(isOrdinary).length * 3 <= words.length;
}

function isOrdinary(word: string): boolean {
  if (word.length > 60) return false;
  if (/^\p{Script=Hangul}+$/u.test(word) && predicateEnd.test(word)) return true;
  if (withoutWords.test(word)) return remarkInside.test(word) || word.length > longestUnspaced;
  return terms(word).every((term) => ordinary.has(term));
}

/** A longer run in a script without spaces is a sentence. */
const longestUnspaced = 16;
/** Remarks on passwords and sentence particles, in Chinese and Japanese. */
const remarkInside =
  /[错錯误誤忘什么麼多少哪谁誰对對没沒吗嗎呢的太样樣请請问問见見写寫改换換过過需须須为為被已违違]|不[对對是行能会會安]|[がをにへ]|から|まで|より|(?:[まで]す|でした|ません|ください|ない|なし|した|いる|ある|だった|った|たい|[のかね])$|^(?:これ|それ|あれ|ここ|そこ|どこ|いつ|もう|まだ)|[同無有簡複必秘変間短長弱強古新要何]/u;
const predicateEnd =
  /(?:니다|니까|[어아해세돼려져와예에]요|[었았했겠렸]어|[었았했한는됐]다|있어|없어|몰라|뭐야|뭐지|같아|짧아|길어)$/u;

function isAddress(word: string): boolean {
  return word.includes('://');
}

const grammar: ReadonlySet<string> = new Set([
  ...stopTerms,
  ...terms(`
    must should may might cannot dont doesnt isnt wasnt wont same too very only some something anything nothing none any every each all both more most much many such own other another than because
    since until while during before after without within through between under above below behind inside around either neither then there here today one ones let
    der die das den dem des ein eine einen einem einer kein keine mein meine meinem meiner dein deine deins sein seine ihr ihre unser unsere ich du er sie es wir mich dich mir dir ihm uns euch nicht
    nur zu sehr wie was wo wer wann warum und oder aber auf in im am an bei mit von vom für aus nach über unter hinter neben zwischen seit bis ohne gegen um ist war sind wird wurde werden
    hat haben hatte kann muss soll darf dasselbe derselbe
    le la les un une des du de à au aux ce cet cette ces mon ma mes ton ta tes tien tienne son sa ses notre votre leur je tu il elle on nous vous ils elles moi toi lui me te se ne pas plus que qui quoi où quand
    comment très trop dans sur sous avec sans pour par chez vers depuis avant après entre est était sont sera avait doit peut faut et ou mais même
    el los las uno unos unas mi mis tus su sus yo él ella nosotros nos lo no quién qué dónde cuándo cómo muy más en del al con sin por para sobre hasta desde es era son está están fue hay ha debe puede
    y o pero misma mismo
    os as um uma uns umas meu minha teu tua seu sua eu você ele ela não muito mais em na da do com sem ao é mesma mesmo
    тот та то те же тут там здесь под над через между без при это эта этот так как очень слишком только твой твоя мой моя наш ваш
  `),
]);

/** Remarks on passwords: how they are, what became of them, where to look. */
const ordinary: ReadonlySet<string> = new Set([
  ...grammar,
  ...terms(`
    printed written taped kept stored hidden encoded sitting hanging getting going coming probably basically apparently maybe really quite rather pretty almost half part besides due about
    still again always now last next week month year day yesterday tomorrow ago morning never ever once twice anymore two three four five word words thanks thank problem issue question thing step key answer reason point joke mess nightmare disaster
    look read write call text message dm ping username user email mail account required optional characters letters digits numbers long enough given birthday business name know tell told find need remember minute hour
    siehe schau frag leider ziemlich wirklich wahrscheinlich hinterlegt gestern morgen letzte woche jahr problem danke zurück aufgeschrieben gedruckt
    voir définir changer demande demander vraiment assez écrit écrite caché cachée collé noté imprimé hier demain merci probablement toujours
    ver mira pregunta pide bastante realmente escrita escrito guardada guardado ayer mañana gracias trabajar paciencia inválida
    veja pergunta bastante escrita guardada ontem amanhã obrigado obrigada curta longa errada
    смотри спроси увидишь позже потом вчера завтра спасибо важно записан написан утек утёк лежит хранится действительно довольно наверное обороте
    너무 아주 같은 같아 똑같은 짧은 긴 새 옛날 모름
  `),
  ...terms(`
    wrong incorrect correct right invalid valid expired expires old new same different strong weak good bad fine safe secure insecure unsafe secret private hidden easy hard simple
    complex complicated long short empty blank required optional needed missing lost forgotten gone stolen leaked compromised breached public known unknown unique random default
    changed updated reset set stored saved sent shared protected encrypted hashed masked redacted case sensitive working broken locked blocked again already always still now today
    must should may might cannot can't only some something anything nothing none null undefined tbd todo yes no ok okay sure see ask click check enter type use using try forgot
    below above inside everything everyone confidential temporary there available generated rejected accepted denied impossible important annoying terrible awful great likely nice shorter longer stronger weaker harder easier simpler
    wichtig egal nervig falsch richtig ungültig gültig abgelaufen alt neu gleich dasselbe anders stark schwach gut schlecht sicher unsicher geheim einfach schwer kompliziert lang kurz leer erforderlich nötig
    vergessen weg verloren gestohlen bekannt unbekannt geändert zurückgesetzt gespeichert gesperrt zu nicht kein keine noch schon immer wieder jetzt heute mein dein das der die ein eine
    sehr wie was wo wer ich du wir mir dir und oder aber
    incorrect correcte faux fausse erroné invalide valide expiré ancien nouveau même différent fort forte faible bon bonne mauvais sûr simple difficile compliqué trop court courte longue vide
    requis obligatoire oublié perdu volé connu inconnu changé modifié bloqué encore toujours maintenant pas plus mon ton le la les un une très où quoi qui je tu nous
    incorrecta incorrecto correcta correcto inválida válida caducada vieja nueva misma distinta fuerte débil buena mala segura fácil difícil demasiado larga corta vacía requerida obligatoria
    olvidada olvidado perdida robada conocida cambiada bloqueada muy mi tu su el los una uno que dónde quién cómo yo otra otro
    неверный неправильный правильный верный истек истёк старый новый тот другой сильный слабый хороший плохой надежный надёжный простой сложный слишком длинный короткий пустой нужен
    обязателен забыл забыла забыт потерял потерян украли известен неизвестен изменен изменён сменил заблокирован очень уже еще ещё всегда снова теперь сейчас такой нет да он она мой твой
  `),
]);

const possessives =
  'the|my|your|our|his|her|their|this|meine?|deine?|unsere?|euer|ihre?|das|der|die|le|la|les|mon|ma|ton|ta|votre|notre|el|mi|tu|su|nuestra|minha|sua|il|мой|моя|твой|ваш|наш';
const isPossessive = new RegExp(`^(?:${possessives})$`, 'iu');

/** A bare "code" is a secret's name only if nothing before it says which code. */
function isBare(text: string, index: number): boolean {
  const line =
    text
      .slice(Math.max(0, index - reach), index)
      .split('\n')
      .at(-1) ?? '';
  const before = lastWord(line.trimEnd());
  return before === '' || /[.,;:!?(>*-]$/u.test(before) || isPossessive.test(before);
}

function lastWord(text: string): string {
  return text.split(/\s/u).at(-1) ?? '';
}

/** From a secret to its name: what it is, whose, which one, or what it is used for. */
const linkBefore = new RegExp(
  String.raw`(?<=\s)(?:(?<is>is|was|are|ist|war|est|es|era|é|è|[–—-]|это)|as|als|comme|como|как)\s{1,2}(?:(?:${possessives})\s{1,2})?(?<which>(?:[\p{L}\p{N}-]{1,20}\s{1,2}){0,3})$|\s?(?<cjk>是|が|は)[我你您的私の]{0,4}$`,
  'iu',
);

/** "I use open sesame", as my password. */
const chosenAs =
  /(?<=(?<!\p{L})(?:use[ds]?|chose|picked|nehme|benutze|verwende|utilise|uso|использую)\s)[^\n.!?:;,]+$/iu;

/** The name must not continue, as in "password manager". */
const behindName = new RegExp(
  String.raw`^["'\x60*_~|)\]]{0,4}(?:\s{0,3}(?:$|[\n.,;:!?)–—-])|\s{1,3}(?:${aim}|in|to|and|but|so|now|here|und|et|y|и)\s|[^\s\p{L}])`,
  'iu',
);

/** "rosebud is my password", "123456 ist dein Code". */
function secretBefore(text: string, index: number, name: string, kind: Kind): Span | undefined {
  if (!behindName.test(text.slice(index + name.length, index + name.length + 20))) return undefined;
  const begin = Math.max(0, index - 160);
  const before = text.slice(begin, index);
  const found = linkBefore.exec(before);
  if (found === null || (kind === 'bare' && (found.groups?.['which'] ?? '') !== '')) return undefined;
  const said = before.slice(0, found.index).trimEnd();
  const chosen = chosenAs.exec(said)?.[0];
  if (kind === 'word' && chosen !== undefined && areContent(wordsOf(chosen)))
    return { start: begin + said.length - chosen.length, end: begin + said.length };
  const isSaid = found.groups?.['is'] !== undefined || found.groups?.['cjk'] !== undefined;
  const phrase = (said.split(/[\n.!?:;,]/u).at(-1) ?? '').trim();
  // "open sesame is my password", not "the biggest problem is my password".
  if ((kind === 'word' || kind === 'phrase') && isSaid && isPlainPhrase(wordsOf(phrase), 2))
    return { start: begin + said.length - phrase.length, end: begin + said.length };
  const from = begin + said.length - lastWord(said).length;
  const value = valueAt(text.slice(0, begin + said.length), from);
  // An ordinary word is a secret only at the beginning of a sentence.
  const sentence = text.slice(Math.max(0, from - reach), from).trimEnd();
  const isFirst = sentence === '' || /[\n.!?:;,]$/u.test(sentence) || text[from - 1] === '\n';
  const length = secretLength(kind, name, isSaid && (isFirst || isOdd(value.word)) ? 'is' : 'beside', value);
  return length === 0 ? undefined : { start: value.start, end: value.start + length };
}
