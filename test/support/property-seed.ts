import { configureGlobal } from 'fast-check';

/** `npm test` draws the same examples every time, so that it passes or fails for a reason; `npm run test:long` draws new ones. */
configureGlobal(process.env['PROPERTY_SEED'] === 'random' ? {} : { seed: 20_260_115 });
