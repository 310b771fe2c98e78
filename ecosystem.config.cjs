/** pm2: `npm ci`, which builds, then `pm2 start ecosystem.config.cjs`. */
module.exports = {
  apps: [
    {
      name: 'discoclaw',
      script: 'dist/main.js',
      // Megabytes for what has just come into being: with more, the process keeps more of the machine's memory, and nothing is faster.
      node_args: '--max-semi-space-size=4',
      cwd: __dirname,
      // The bot tells pm2 when it is connected, and needs at most 10 seconds to finish when told to stop.
      wait_ready: true,
      listen_timeout: 60_000,
      kill_timeout: 12_000,
      max_restarts: 10,
      exp_backoff_restart_delay: 500,
      // A bad configuration does not get better by starting again.
      stop_exit_codes: [78],
    },
  ],
};
