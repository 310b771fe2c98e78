/** Loaded into a bot's process before the bot: tells its parent, when asked, what the process has used. */
process.on('message', (message) => {
  if (message === 'cpu') process.send?.(process.cpuUsage());
  if (message !== 'heap') return;
  globalThis.gc?.();
  process.send?.(process.memoryUsage().heapUsed);
});
// It keeps no process alive.
process.channel?.unref();
