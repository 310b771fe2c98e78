/**
 * Runs before anything else of the build and of the bot, at the beginning of whose `dist/main.js` it stands: an old Node.js is told as such,
 * and not by the first thing that it does not know [O6]. So everything here, and there, is what the first versions with modules read.
 */
const [wantedMajor, wantedMinor] = [20, 19];
const found = process.versions.node;
const [major, minor] = found.split('.').map(Number);
if (major < wantedMajor || (major === wantedMajor && minor < wantedMinor)) {
  console.error(
    `Discoclaw needs Node.js ${wantedMajor}.${wantedMinor} or newer, and this is ${found}: install a newer one from https://nodejs.org and run npm ci again`,
  );
  process.exit(78);
}
