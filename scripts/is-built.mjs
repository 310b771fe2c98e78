import { existsSync } from 'node:fs';

if (!existsSync(new URL('../dist/main.js', import.meta.url))) {
  console.error('Nothing is built here yet: run npm ci, which installs the packages and builds the bot');
  process.exit(1);
}
