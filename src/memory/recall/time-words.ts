const asking =
  /\b(?:when|how long|(?:what|which) (?:date|day|week|month|year|time))\b|когда|сколько времени|как долго/iu;

const telling = new RegExp(
  [
    '\\b(?:yesterday|today|tonight|tomorrow|ago|last|next|recently|week|weekend|month|year|morning|evening',
    'summer|winter|spring|autumn|fall|since|(?:mon|tues|wednes|thurs|fri|satur|sun)day',
    'january|february|march|april|june|july|august|september|october|november|december|(?:19|20)\\d{2})s?\\b',
    'вчера|сегодня|завтра|назад|прошл|следующ|недел|месяц',
  ].join('|'),
  'iu',
);

/** Whether a query asks for a time. */
export function asksWhen(query: string): boolean {
  return asking.test(query);
}

/** Whether a text tells a time: who asks when something was is helped by "last week". */
export function tellsWhen(text: string): boolean {
  return telling.test(text);
}
