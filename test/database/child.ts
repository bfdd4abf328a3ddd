import { createRecordingLog, open } from './support.ts';

/**
 * A process that opens the store in the given directory, prints one line and runs until it is killed. Prints the error's
 * code when opening fails.
 */
const [dataDir = ''] = process.argv.slice(2);
try {
	await open({ dataDir, log: createRecordingLog() });
	process.stdout.write('open\n');
	setInterval(() => {}, 60_000);
} catch (error) {
	process.stdout.write(`${(error as { code?: string }).code ?? String(error)}\n`);
}
