import { describe, expect, it } from 'vitest';

import { hasSecret, maskSecrets, secretMark, secretValues } from '../../src/core/secrets.ts';

/** By language: what is said, and the plain words in it that are a password. */
const phrases: Readonly<Record<string, readonly (readonly [said: string, secret: string])[]>> = {
  English: [
    ['my wifi password: correct horse battery staple', 'correct horse battery staple'],
    ['the password is open sesame', 'open sesame'],
    ['The password for the guest wifi is purple monkey dishwasher.', 'purple monkey dishwasher'],
    ['password = salt and pepper', 'salt and pepper'],
    ['password: the quick brown fox', 'the quick brown fox'],
    ['My password is open the pod bay doors', 'open the pod bay doors'],
    ['the password is now new york giants', 'new york giants'],
    ['I changed my password to velvet thunder', 'velvet thunder'],
    ['open sesame is my password', 'open sesame'],
    ['correct horse battery staple is the wifi password', 'correct horse battery staple'],
    ['my password is rosebud for the wifi', 'rosebud'],
    ['my password is c0rrect horse battery staple', 'c0rrect horse battery staple'],
    ['the passphrase is open sesame', 'open sesame'],
    ['password: correct-horse-battery-staple-velvet-thunder', 'correct-horse-battery-staple-velvet-thunder'],
    ['password: correct.horse.battery.staple', 'correct.horse.battery.staple'],
    ['Password: "to be or not to be"', 'to be or not to be'],
    ['wifi pass: correct horse battery staple', 'correct horse battery staple'],
    ['My Wi-Fi password is: correct horse battery staple', 'correct horse battery staple'],
    ['the password’s open sesame', 'open sesame'],
    ['the pass word is open sesame', 'open sesame'],
    ['The password to the router is blue monday', 'blue monday'],
    ['my gmail password has been changed to blue monday', 'blue monday'],
    ['password changed to: blue monday', 'blue monday'],
    ['My passwords are open sesame and velvet thunder', 'open sesame and velvet thunder'],
    ['my netflix password is I love pizza', 'I love pizza'],
    ['master password = the rain in spain', 'the rain in spain'],
    ['my password is purple horse battery staple 42', 'purple horse battery staple 42'],
    ['Password is open sesame 😀', 'open sesame'],
    ['|| password: open sesame ||', 'open sesame'],
    ['the password I use is purple monkey', 'purple monkey'],
    ['the password you need will be purple monkey', 'purple monkey'],
    ['my password used to be purple monkey', 'purple monkey'],
    ['password now: purple monkey', 'purple monkey'],
    ['the password is just purple monkey', 'purple monkey'],
    ['the password is purple monkey (all lowercase)', 'purple monkey'],
    ['the wifi pass is purple monkey', 'purple monkey'],
    ['wifi key: purple monkey', 'purple monkey'],
    ['I use purple monkey as my password', 'purple monkey'],
    ['The password to my laptop is purple monkey', 'purple monkey'],
  ],
  German: [
    ['Das Passwort ist Sesam öffne dich', 'Sesam öffne dich'],
    ['mein WLAN-Passwort: richtig Pferd Batterie Klammer', 'richtig Pferd Batterie Klammer'],
    ['Das Kennwort lautet blauer Elefant im Nebel', 'blauer Elefant im Nebel'],
    ['Sesam öffne ist mein Passwort', 'Sesam öffne'],
    ['Passwort: Romeo und Julia', 'Romeo und Julia'],
    ['das Passwort fürs WLAN ist blauer Elefant', 'blauer Elefant'],
    ['das Passwort meines Laptops ist blauer Elefant', 'blauer Elefant'],
    ['der WLAN-Schlüssel ist blauer Elefant', 'blauer Elefant'],
    ['Mein Passwort heißt blauer Himmel', 'blauer Himmel'],
    ['mein Passwort ist Ich liebe dich', 'Ich liebe dich'],
  ],
  French: [
    ['le mot de passe est sésame ouvre-toi', 'sésame ouvre-toi'],
    ['mot de passe : cheval correct batterie agrafe', 'cheval correct batterie agrafe'],
    ['mon mot de passe du wifi : soleil et lune', 'soleil et lune'],
    ['le mdp c’est soleil levant', 'soleil levant'],
    ['mot de passe wifi: la vie est belle', 'la vie est belle'],
    ['le code wifi est soleil levant', 'soleil levant'],
    ['mon mot de passe Netflix est soleil levant', 'soleil levant'],
    ['mon mot de passe actuel est soleil levant', 'soleil levant'],
  ],
  Spanish: [
    ['la contraseña es ábrete sésamo', 'ábrete sésamo'],
    ['contraseña del wifi: caballo correcto batería grapa', 'caballo correcto batería grapa'],
    ['mi contraseña: sol y luna', 'sol y luna'],
    ['contraseña: la vida es bella', 'la vida es bella'],
    ['clave del wifi: caballo batería grapa', 'caballo batería grapa'],
    ['la clave del wifi es caballo azul', 'caballo azul'],
    ['mi contraseña nueva es caballo azul', 'caballo azul'],
  ],
  Portuguese: [
    ['a senha é abre-te sésamo', 'abre-te sésamo'],
    ['senha: cavalo certo bateria grampo', 'cavalo certo bateria grampo'],
    ['a senha do wifi é sol nascente', 'sol nascente'],
    ['a palavra-passe é sol nascente', 'sol nascente'],
    ['minha senha nova é sol nascente', 'sol nascente'],
  ],
  Russian: [
    ['пароль от вайфая: сезам откройся', 'сезам откройся'],
    ['мой пароль — правильная лошадь батарея скрепка', 'правильная лошадь батарея скрепка'],
    ['пароль: соль и перец', 'соль и перец'],
    ['пароль роутера: сезам откройся', 'сезам откройся'],
    ['пароль моего ноутбука — сезам откройся', 'сезам откройся'],
    ['мой пароль сезам', 'сезам'],
    ['мой пароль сезам откройся', 'сезам откройся'],
    ['мой пароль: я люблю тебя', 'я люблю тебя'],
  ],
  Chinese: [
    ['密码是芝麻开门', '芝麻开门'],
    ['密码就是芝麻开门', '芝麻开门'],
    ['密码：天王盖地虎宝塔镇河妖', '天王盖地虎宝塔镇河妖'],
  ],
  Japanese: [
    ['パスワードは開けゴマです', '開けゴマ'],
    ['パスワード：ひらけごま', 'ひらけごま'],
  ],
  Korean: [
    ['비밀번호는 열려라 참깨', '열려라 참깨'],
    ['와이파이 비번은 열려라 참깨', '열려라 참깨'],
    ['비밀번호: 푸른 바다 고래입니다', '푸른 바다 고래'],
  ],
};

/** What is said of passwords without telling one. */
const remarks: Readonly<Record<string, readonly string[]>> = {
  English: [
    'the password is wrong', 'my password is too short', 'my password is the same as yours', 'password: see the vault', 'the password is not working again',
    'the password is in the vault', 'the password is on the back of the router', 'the password is printed on the sticker', 'my password is really long', 'the password is probably expired',
    'my password is what I told you', 'the password is a joke', 'the password is a complete mess', 'password: the same as before', 'password: ask Bob', 'Password: must contain at least 8 characters',
    'the password is the one we used last year', 'the password is my birthday', 'the password is the name of my dog', 'my password was stolen last week', 'the password is getting old',
    'the password is rotated every month', 'the password is correct now', 'my password is 8 characters long', 'is the password still the same?', 'the biggest problem is my password', 'this is my password',
    'the password is no longer valid', 'the password is kept in the safe', 'my password is safe with me', 'password: not required', 'The login: with Google', 'password reset is broken',
    'the password is Bob’s problem', 'the password is Bob’s birthday', 'the password is given at the door', 'the password’s length is 12', 'the password’s expired', 'my password was changed by Bob',
    'password: I will tell you tomorrow', 'I changed my password to something better', 'my password is valid 30 minutes', 'password: you can find it on the fridge',
    'the password is due to change', 'my password was reset by the admin', 'the password you gave me is wrong', 'the password will be sent by mail', 'the password used to be shorter',
    'the password is just too short', 'the wifi code is on the fridge', 'the wifi key is missing', 'I use my birthday as my password', 'I use Bitwarden as my password manager', 'I use it as my password',
    'the password is too short (min. 8)',
  ],
  German: [
    'das Passwort ist falsch', 'mein Passwort ist zu kurz', 'das Passwort ist dasselbe wie deins', 'Passwort: siehe Tresor', 'das Passwort ist im Tresor', 'das Passwort ist auf der Rückseite',
    'mein Passwort ist leider abgelaufen', 'das Passwort ist seit gestern gesperrt', 'das Passwort ist ziemlich lang', 'das Passwort ist der Name meines Hundes', 'das Passwort ist hinterlegt',
    'das Passwort fürs WLAN ist im Tresor', 'das Passwort der Firma ist abgelaufen',
    'das Passwort ist wichtig', 'ich habe mein Passwort vergessen',
  ],
  French: [
    'le mot de passe est faux', 'mon mot de passe est trop court', 'le mot de passe est le même que le tien', 'mot de passe : voir le coffre', 'le mot de passe est sur le frigo',
    'le mot de passe est dans le coffre', 'le mot de passe est difficile à retenir', 'le mot de passe est écrit sur la box', 'mon mot de passe est vraiment long', 'mot de passe oublié',
  ],
  Spanish: [
    'la contraseña es incorrecta', 'mi contraseña es demasiado corta', 'la contraseña es la misma que la tuya', 'contraseña: ver la caja fuerte', 'la contraseña es muy larga',
    'la contraseña es el nombre de mi perro', 'la clave es la paciencia', 'la clave es trabajar mucho',
  ],
  Portuguese: ['a senha é muito curta', 'a senha é a mesma que a tua', 'a senha é inválida'],
  Russian: [
    'пароль неверный', 'мой пароль устарел', 'мой пароль украден', 'мой пароль опять не подходит', 'мой пароль утёк', 'мой пароль знает Боб', 'мой пароль от почты устарел', 'мой пароль слишком короткий', 'пароль — тот же, что у тебя', 'пароль: смотри в сейфе', 'пароль — на обороте роутера', 'пароль это очень важно', 'пароль будет позже', 'пароль роутера: смотри на наклейке', 'пароль почты - на обороте',
  ],
  Chinese: ['密码是什么', '密码是错的', '密码是一样的', '密码是我的生日', '密码：请问管理员', '密码太短了'],
  Japanese: ['パスワードは短すぎます', 'パスワードは同じです', 'パスワードは金庫にあります', 'パスワードは何ですか', 'パスワードはわからない', 'パスワードはいつもの'],
  Korean: ['비밀번호는 너무 짧아요', '비밀번호는 잊어버렸어요', '비밀번호는 금고에 있어요', '비밀번호는 틀렸습니다', '비밀번호는 뭐예요', '비번은 몰라', '비번 까먹었어'],
}; // prettier-ignore

describe.each(Object.entries(phrases))('passwords of plain words in %s [K14]', (_language, examples) => {
  it.each(examples)('%j is masked as a whole', (said, secret) => {
    const masked = maskSecrets(said);
    expect(masked).toContain(secretMark);
    for (const word of secret.match(/\p{L}{4,}|\p{Script=Han}+/gu) ?? [])
      expect(masked.replaceAll(/wifi|wi-fi/giu, '')).not.toContain(word);
    expect(masked).not.toContain(secret);
    expect(masked.length - secretMark.length).toBeLessThanOrEqual(said.length - secret.length);
    expect(secretValues(said)).toContain(secret);
  });
});

describe.each(Object.entries(remarks))('remarks on passwords in %s [K14]', (_language, examples) => {
  it.each(examples)('%j is kept as it is', (said) => {
    expect(maskSecrets(said)).toBe(said);
    expect(hasSecret(said)).toBe(false);
  });
});

it('a phrase that was given as a secret is masked in other case and spacing too', () => {
  const values = new Set(secretValues('my wifi password: correct horse battery staple'));
  expect(maskSecrets('"Correct Horse  Battery Staple" is a good one', values)).toBe(
    `"${secretMark}" is a good one`,
  );
});
