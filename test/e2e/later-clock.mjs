/** Loaded into the bot's process before the bot, without anything to translate it: its clock is `LATER_MS` milliseconds ahead. */
const laterMs = Number(process.env['LATER_MS'] ?? 0);

globalThis.Date = new Proxy(Date, {
  construct: (real, values, made) =>
    Reflect.construct(real, values.length === 0 ? [real.now() + laterMs] : values, made),
  get: (real, name) => (name === 'now' ? () => real.now() + laterMs : Reflect.get(real, name)),
});
