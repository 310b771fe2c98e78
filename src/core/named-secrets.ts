import { stopTerms } from './stop-words.ts';
import { terms } from './text.ts';

/**
 * What people call a secret, by what the secret looks like: `word` any password; `odd` a password that does not read like an ordinary word, after names
 * that mean other things too; `key` long, with a digit; `code` and `pin` digits; `bare` the same after a mere "code"; `phrase` several words;
 * `account` a long number.
 */
const names = {
  phrase: String.raw`(?<!\p{L})(?:pass[ -]?phrase|(?:seed|recovery|mnemonic|backup|secret)[ -]?phrase|mnemonic|phrase (?:secrète|de récupération)|frase (?:semilla|de recuperación)|wiederherstellungsphrase|(?:секретная|сид)[ -]?фраза)(?!\p{L})|シードフレーズ|助[记記][词詞]`,
  code: String.raw`(?<!\p{L})(?:(?:one|single)[ -]?(?:time|use)[ -]?(?:code|pass(?:code|word)|pin)|(?:verification|security|login|sign[ -]?in|access|sms|auth(?:entication|enticator)?|confirmation|backup|recovery|unlock|door|entry|gate|alarm|2fa|mfa|otp|pairing)[ -]?codes?|(?:bestätigungs|sicherheits|zugangs|einmal|tür|anmelde|verifizierungs|freischalt)-?(?:code|passwort|kennwort)|code (?:de (?:vérification|sécurité|confirmation|validation|connexion|secours)|secret|sms|d['’]accès)|código (?:de (?:verificación|seguridad|acceso|confirmación)|sms|secreto)|код (?:подтверждения|из смс|доступа|безопасности|входа)|смс-?код|t?otp|2fa|mfa|tan)(?!\p{L})|[验驗][证證][码碼]|認証コード|確認コード|ワンタイムパスワード|인증번호`,
  pin: String.raw`(?<!\p{L})(?:pins?(?:[ -]?(?:code|nummer|number))?|geheimzahl|code pin|código pin|пин(?:-?код)?|cvv2?|cvc2?)(?!\p{L})|暗証番号`,
  key: String.raw`(?<!\p{L})(?:(?:api|app|client|master|signing|secret|private|access|encryption|licen[cs]e|ssh|wpa2?|wi-?fi|network|recovery|auth(?:entication|orization)?|bearer|bot|refresh|session)[ _-]?(?:access[ _-]?|secret[ _-]?)?(?:key|token|secret|schlüssel)|tokens?|bearer|secret|zugriffstoken|clé (?:api|secrète|d['’]api)|(?:clave|llave) (?:api|secreta|de api|privada)|(?:api|секретный|приватный)[ -]?ключ|ключ api|токен)(?!\p{L})|api ?[密金][钥鑰]|密[钥鑰]|令牌|api ?キー|シークレット|トークン`,
  account: String.raw`(?<!\p{L})(?:(?:bank )?account (?:number|no\.?|nr\.?)|routing number|sort code|kontonummer|numéro de compte|número de cuenta|номер (?:счета|счёта|карты)|ssn|social security number|iban|(?:credit |debit )?card number)(?!\p{L})|口座番号|银行卡号`,
  word: String.raw`(?:passw(?:or)?ds?|pass[ -]?code|passwort|kennwort|contraseña|contrasena)(?!\p{L})|(?<!\p{L})(?:pwd?|mdp|mot de passe|senha|парол[ьяею])(?!\p{L})|密[码碼]|口令|パスワード|비밀번호`,
  odd: String.raw`(?<!\p{L})(?:pass|clave|credentials?|zugangsdaten|login|ключ)(?!\p{L})`,
  bare: String.raw`(?<!\p{L})(?:code|código|код)(?!\p{L})|コード`,
} as const;

type Kind = keyof typeof names;
const isKind = (name: string): name is Kind => name in names;
const kinds = Object.keys(names).filter(isKind);
const named = new RegExp(kinds.map((kind) => `(?<${kind}>${names[kind]})`).join('|'), 'giu');

/** How a name leads to its secret: by a sign, by a verb that says what it is, or by standing before it. */
type Link = 'sign' | 'is' | 'beside';

const is = String.raw`(?:is|was|are|ist|war|lautet|est|es|era|é|è|это|будет)(?![\p{L}\p{N}])|は|が|是|[为為]|는|은`;
/** Before what a secret is for. */
const aim = 'for|of|on|at|für|vom|von|zum|zur|beim|im|am|de|du|des|del|pour|para|от|для|к|на|в';
/** From behind a name to its secret: what closes the name, what it is for, and the link. */
const link = new RegExp(
  String.raw`["'\x60*_~|)\]]{0,4}(?:(?:\s{0,2}\([^()\n]{0,40}\))?(?:\s(?:${aim})\s[^\n:=.,;!?▒]{1,50}?)?(?:\s{0,3}(?<sign>=>|->|[:=：＝→]{1,2})|\s{0,3}(?<is>${is})|\s{1,3}(?<dash>[–—-])(?=\s)|\s{1,3}(?<to>to|zu|auf|à|a|на)(?=\s))|(?=[\s\p{Script=Han}\p{N}]))\s{0,3}`,
  'iuy',
);

/** A part of a text, in UTF-16 units; `end` is behind its last. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where a text gives the secret together with its name [K14], in seven languages: "my password is rosebud", "123456 ist dein Code", "пароль: …". The name stays. */
export function namedSecrets(text: string): readonly Span[] {
  const spans: Span[] = [];
  named.lastIndex = 0;
  let count = 0;
  for (let match = named.exec(text); match !== null; match = named.exec(text)) {
    const { 0: name, index, groups } = match;
    count += 1;
    // Nobody writes so; looked at one by one, they would hold everybody up [L4].
    if (count > mostNames) return [...spans, { start: index, end: text.length }];
    const kind = kinds.find((each) => groups?.[each] !== undefined);
    if (kind === undefined) continue;
    const before = secretBefore(text, index, name, kind);
    if (before !== undefined) spans.push(before);
    const after = secretAfter(text, index, name, kind);
    if (after === undefined) continue;
    spans.push(after);
    // What stands in the secret is no name of another one.
    named.lastIndex = Math.max(named.lastIndex, after.end);
  }
  return spans;
}

/** Names of secrets in one text; what comes after so many counts as one. */
const mostNames = 200;
/** Characters that are looked through for a secret and its clause. */
const reach = 200;

function secretAfter(text: string, index: number, name: string, kind: Kind): Span | undefined {
  link.lastIndex = index + name.length;
  const found = link.exec(text)?.groups;
  if (found === undefined) return undefined;
  const isSet =
    found['to'] !== undefined &&
    /\b(?:set|changed?|reset|updated?|geändert|setze?)\b/iu.test(text.slice(Math.max(0, index - 40), index));
  const how: Link =
    found['sign'] !== undefined
      ? 'sign'
      : (found['is'] ?? found['dash']) !== undefined || isSet
        ? 'is'
        : 'beside';
  if (kind === 'bare' && (how === 'beside' || !isBare(text, index))) return undefined;
  // "pin 2024" may be somebody's wish to pin something.
  if (how === 'beside' && name === 'pin') return undefined;
  const value = valueAt(text, link.lastIndex);
  const length = secretLength(kind, how, value);
  if (length === 0) return undefined;
  const end = value.start + length;
  // What goes on beyond all that was looked at is a part of it.
  const rest = end < link.lastIndex + reach - 1 ? '' : (/^[^\s▒]+/u.exec(text.slice(end))?.[0] ?? '');
  return { start: value.start, end: end + rest.length };
}

/** What might be a secret. */
interface Value {
  readonly start: number;
  readonly word: string;
  /** From the word to the end of its clause. */
  readonly clause: string;
  readonly isQuoted: boolean;
}

const quotes: Readonly<Record<string, string>> = {
  '"': '"', "'": "'", '`': '`', '```': '```', '“': '”', '„': '“', '«': '»', '「': '」', '『': '』', '||': '||', '**': '**',
}; // prettier-ignore
const openingQuote = /^(?:```|\|\||\*\*|["'`“„«「『])/u;
const trailing = /[.,;:!?)\]}"'’”»。、，！？」*|]/u;
const withoutWords = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** After these another clause begins, or the same goes on about something else. */
const connectors =
  /\s(?:and|but|or|so|because|und|aber|oder|et|mais|ou|y|pero|o|и|но|а|или|btw|pls|please|[-–—(][^\s]{0,1})(?=\s|$)/iu;
const politeEnds = /^(?:です|でした|だよ|だ|입니다|이에요)/u;

function valueAt(text: string, start: number): Value {
  const line = text.slice(start, start + reach).split(/[\n▒]/u)[0] ?? '';
  const opening = openingQuote.exec(line)?.[0] ?? '';
  const from = start + opening.length;
  const said = line.slice(opening.length);
  const close = opening === '' ? -1 : said.indexOf(quotes[opening] ?? opening);
  if (close > 0) {
    const word = said.slice(0, close);
    return { start: from, word, clause: word, isQuoted: true };
  }
  const token = /^[^\s\u2068\u2069]+/u.exec(said)?.[0] ?? '';
  const foreign = token.search(withoutWords);
  let end = foreign > 0 ? foreign : token.length;
  while (end > 0 && trailing.test(token.charAt(end - 1))) end -= 1;
  const after = said.slice(end).replace(politeEnds, '');
  const rest = /^[^.,;:!?)…。、，！？]*/u.exec(after)?.[0].split(connectors)[0] ?? '';
  const word = token.slice(0, end);
  return { start: from, word, clause: word + rest.trimEnd(), isQuoted: false };
}

/** How much from the value's beginning is the secret; 0 where it is none. */
function secretLength(kind: Kind, how: Link, value: Value): number {
  const { word, clause, isQuoted } = value;
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
      return all(isOdd(word) && /\d/u.test(word) && word.length >= 6 && !isAddress(word));
    case 'phrase':
      if (isQuoted) return word.length;
      return isLinked && isPhrase(clause) ? clause.length : all(isLinked && isOdd(word));
    case 'word':
      if (isAddress(word)) return 0;
      if (!isLinked) return all(isOdd(word) && /\d/u.test(word) && /\p{L}/u.test(word) && word.length >= 6);
      if (isQuoted || isOdd(word)) return all(!isOrdinary(word));
      if (clause === word) return all(areWords(word));
      return how === 'sign' && areWords(clause) ? clause.length : 0;
  }
}

function matched(form: RegExp, clause: string): number {
  return form.exec(clause)?.[0].length ?? 0;
}

/** Whether a word is not written as words are: with a digit, a sign, or a capital inside. */
function isOdd(word: string): boolean {
  if (word.length < 4 || /^(?:[@#<]|\d+-\p{L}+$)/u.test(word) || !/[\p{L}\p{N}]/u.test(word)) return false;
  return /\d|[^\s][!@#$%^&=~<>\\+?_]|\p{Ll}\p{Lu}/u.test(word);
}

/** Words, none of which says how a password is or what is done with it. */
function areWords(clause: string): boolean {
  const words = clause.split(/\s+/u, mostWords + 1);
  return words.length <= mostWords && words.every(isWritten) && !words.some(isOrdinary);
}

function isWritten(word: string): boolean {
  return /^(?:[\p{L}\p{M}'’-]{2,30}|\p{Script=Han})$/u.test(word);
}

/** Words of the longest phrases. */
const mostWords = 24;

/** Several words, few of which are ordinary. */
function isPhrase(clause: string): boolean {
  const words = clause.split(/\s+/u);
  return words.length >= 3 && words.filter(isOrdinary).length * 3 <= words.length;
}

function isOrdinary(word: string): boolean {
  if (word.length > 40) return false;
  if (withoutWords.test(word))
    return (
      /\p{Script=Hiragana}|[错錯误誤忘什么麼多少哪谁誰对對不没沒吗嗎呢的]/u.test(word) || word.length > 8
    );
  return terms(word).every((term) => ordinary.has(term));
}

function isAddress(word: string): boolean {
  return word.includes('://');
}

/** What is said of passwords: how they are, and what became of them. */
const ordinary: ReadonlySet<string> = new Set([
  ...stopTerms,
  ...terms(`
    wrong incorrect correct right invalid valid expired expires old new same different strong weak good bad fine safe secure insecure unsafe secret private hidden easy hard simple
    complex complicated long short empty blank required optional needed missing lost forgotten gone stolen leaked compromised breached public known unknown unique random default
    changed updated reset set stored saved sent shared protected encrypted hashed masked redacted case sensitive working broken locked blocked again already always still now today
    must should may might cannot can't only some something anything nothing none null undefined tbd todo yes no ok okay sure see ask click check enter type use using try forgot
    below above inside everything everyone confidential temporary there available generated rejected accepted denied impossible important annoying terrible awful great likely
    falsch richtig ungültig gültig abgelaufen alt neu gleich dasselbe anders stark schwach gut schlecht sicher unsicher geheim einfach schwer kompliziert lang kurz leer erforderlich nötig
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

/** A bare "code" is one that opens something only where nothing before it says which code it is. */
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

/** From a secret to its name: what it is, whose, and which one; or what it is used as. */
const linkBefore = new RegExp(
  String.raw`(?<=\s)(?:(?<is>is|was|are|ist|war|est|es|era|é|è|[–—-]|это)|as|als|comme|como|как)\s{1,2}(?:(?:${possessives})\s{1,2})?(?<which>(?:[\p{L}\p{N}-]{1,20}\s{1,2}){0,3})$|\s?(?<cjk>是|が|は)[我你您的私の]{0,4}$`,
  'iu',
);

/** Behind a name that is no part of a longer one, such as "password manager". */
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
  const from = begin + said.length - lastWord(said).length;
  const value = valueAt(text.slice(0, begin + said.length), from);
  // An ordinary word is one only where a sentence begins with it.
  const sentence = text.slice(Math.max(0, from - reach), from).trimEnd();
  const isFirst = sentence === '' || /[\n.!?:;,]$/u.test(sentence) || text[from - 1] === '\n';
  const isSaid = found.groups?.['is'] !== undefined || found.groups?.['cjk'] !== undefined;
  const length = secretLength(kind, isSaid && (isFirst || isOdd(value.word)) ? 'is' : 'beside', value);
  return length === 0 ? undefined : { start: value.start, end: value.start + length };
}
