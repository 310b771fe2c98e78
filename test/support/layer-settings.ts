/** How layers are set in tests, unless a test cares: as a configuration without variables sets them, but for what is off by default. */
export const shortTermSettings = { enabled: true, maxEntries: 20, maxAgeHours: 6, injectMaxChars: 1000 };
export const rollingSettings = { enabled: true, model: 'haiku', everyTurns: 5, maxChars: 2000 };
export const durableSettings = { enabled: true, maxItems: 200, injectMaxChars: 2000 };
export const notebookSettings = {
  profileMaxChars: 4000,
  memoryMaxChars: 4000,
  overviewMaxChars: 1500,
  indexMaxChars: 1000,
};
