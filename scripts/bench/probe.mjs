/** Loaded into a bot's process before the bot: tells its parent, when asked, what the process has had of the processor. */
process.on('message', () => process.send?.(process.cpuUsage()));
// It keeps no process alive.
process.channel?.unref();
