import { writeFileSync } from 'node:fs';

import { generatedFiles } from './documentation.ts';

/** Writes what is generated from the code. */
for (const [path, text] of generatedFiles()) writeFileSync(new URL(`../${path}`, import.meta.url), text);
