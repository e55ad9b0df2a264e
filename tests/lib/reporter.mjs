// A reporter for `node --test`: failures in full, everything else as one closing line. BRAID_SUITE names the suite.
import { inspect } from 'node:util';

export default async function* report(source) {
  let passed = 0;
  let failed = 0;
  let skipped = 0;
  for await (const { type, data } of source) {
    // A file is a test to Node 18; a suite is one to all. Only what is written as a test counts.
    const isContainer = data?.name?.endsWith('.mjs') || data?.details?.type === 'suite';
    if (type === 'test:pass' && !isContainer) data.skip === undefined ? ++passed : ++skipped;
    if (type === 'test:fail' && !(isContainer && data.details.error?.failureType === 'subtestsFailed')) {
      ++failed;
      const error = data.details.error;
      yield `FAILED ${data.file ?? ''} ${data.name}\n${inspect(error?.cause ?? error, { depth: 6 })}\n\n`;
    }
    if (type === 'test:stderr' || type === 'test:stdout') yield data.message;
  }
  yield `${process.env.BRAID_SUITE ?? 'tests'}: ${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}\n`;
}
