import { createRecordingLog, open } from './support.ts';

/**
 * A process that opens the store in the directory given, says so in one line and stays until it is killed. Says the
 * error's code instead when it cannot.
 */
const [dataDir = ''] = process.argv.slice(2);
try {
	await open({ dataDir, log: createRecordingLog() });
	process.stdout.write('open\n');
	setInterval(() => {}, 60_000);
} catch (error) {
	process.stdout.write(`${(error as { code?: string }).code ?? String(error)}\n`);
}
