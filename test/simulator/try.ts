import { appendFileSync, existsSync, readFileSync } from 'node:fs';

import pLimit from 'p-limit';

import { plantedFaults } from './planted-faults.ts';
import { runWithFault } from './test-run.ts';

// try.ts OUT [name=file,file …]   default: all with a test that OUT does not have
const [out = '', ...wishes] = process.argv.slice(2);
const known = new Set(
  existsSync(out)
    ? readFileSync(out, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
        .map(({ name, files, key }) => `${name} ${files.join()} ${key}`)
    : [],
);
const tasks =
  wishes.length > 0
    ? wishes.flatMap((wish) => {
        const [name, files = ''] = wish.split('=');
        const fault = plantedFaults.find((each) => each.name === name);
        if (fault === undefined) throw new Error(`no ${name}`);
        return [{ fault, files: files === '' ? [fault.test ?? ''] : files.split(',') }];
      })
    : plantedFaults.flatMap((fault) => (fault.test === undefined ? [] : [{ fault, files: [fault.test] }]));
const limit = pLimit(2);
await Promise.all(
  tasks.map(({ fault, files }) =>
    limit(async () => {
      const key = `${fault.find}=>${fault.put}`;
      if (known.has(`${fault.name} ${files.join()} ${key}`)) return;
      try {
        const { failed, seconds } = await runWithFault(fault, files);
        appendFileSync(out, `${JSON.stringify({ name: fault.name, files, failed, seconds, key })}\n`);
        console.log(failed.length > 0 ? 'found  ' : 'UNFOUND', fault.name, seconds, failed.join());
      } catch (error) {
        console.log('ERROR', fault.name, error);
      }
    }),
  ),
);
