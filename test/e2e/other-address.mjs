/** Loaded into a process before the program: what it asks of the vendor goes to `VENDOR_DOUBLE`. */
globalThis.fetch = new Proxy(fetch, {
  apply: (real, _, [url, init]) =>
    real(url.replace('https://api.anthropic.com', process.env['VENDOR_DOUBLE']), init),
});
