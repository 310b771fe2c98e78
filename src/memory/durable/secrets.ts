const namedSecret =
  /\b(?:pass(?:word|phrase|code|wd)|passwort|kennwort|mot de passe|contraseña|credentials?|cvv|cvc|iban|(?:pin|otp|2fa) (?:code|number|is)|(?:api|secret|private|access|recovery|ssh)[ _-]?(?:key|token|code|phrase)|seed phrase|auth(?:orization)? token|bearer token|social security)\b|парол|пин-?код|密码|密碼|パスワード|비밀번호/iu;

/** Tokens as common services make them: OpenAI and Anthropic, GitHub, GitLab, Slack, AWS, Google, npm, JWT, PEM, Discord. */
const knownToken =
  /\bsk-[\w-]{16,}|\bgh[opsur]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abeoprs]-[\w-]{10,}|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\bnpm_\w{30,}|(?<![\w-])(?:[\w-]{0,40}-)?eyJ[\w-]{8,}\.[\w-]{8,}|-----BEGIN |[\w-]{23,28}\.[\w-]{6,7}\.[\w-]{27,}/u;

const accountNumber = /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b/u;
const digitRun = /\d(?:[ -]?\d){12,18}/gu;

/** Whether a text looks like it holds a password, token, card or account number, which extraction never stores [A2]. */
export function looksSecret(text: string): boolean {
  return (
    namedSecret.test(text) ||
    knownToken.test(text) ||
    accountNumber.test(text) ||
    (text.match(digitRun) ?? []).some(isCardNumber) ||
    text.split(/\s+/u).some(looksRandom)
  );
}

/** The check digit that card numbers end in (Luhn). */
function isCardNumber(written: string): boolean {
  const digits = Array.from(written.replace(/\D/gu, ''), Number).toReversed();
  const sum = digits.reduce((total, digit, index) => {
    const weighted = index % 2 === 0 ? digit : digit * 2;
    return total + (weighted > 9 ? weighted - 9 : weighted);
  }, 0);
  return sum % 10 === 0;
}

/** A long word that mixes small letters, capitals and several digits, and is no address. */
function looksRandom(word: string): boolean {
  return (
    word.length >= 16 &&
    !word.includes('://') &&
    /[a-z]/u.test(word) &&
    /[A-Z]/u.test(word) &&
    (word.match(/\d/gu) ?? []).length >= 3
  );
}
