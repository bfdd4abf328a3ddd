import { createInterface } from 'node:readline';
import type { StoreUnavailableError } from '../../src/kernel/errors.ts';
import { createRecordingLog, open, submission } from './support.ts';

/**
 * A process that opens the store in the given directory, prints one line and runs until it is killed. Prints the error's
 * code when opening fails. For each line on its input it accepts an answer with that id, and prints what became of it.
 */
const [dataDir = ''] = process.argv.slice(2);
try {
	const { answers } = await open({ dataDir, log: createRecordingLog() });
	process.stdout.write('open\n');
	setInterval(() => {}, 60_000);
	for await (const id of createInterface({ input: process.stdin })) {
		const { kind } = await answers.accept(submission({ id })).catch((error: StoreUnavailableError) => {
			return { kind: error.commitUnknown ? 'perhaps stored' : 'not stored' };
		});
		process.stdout.write(`${kind}\n`);
	}
} catch (error) {
	process.stdout.write(`${(error as { code?: string }).code ?? String(error)}\n`);
}
