/** Bytes that wait for a slow reader. */
const MOST_WAITING = 1_000_000;

/** Writes to standard output. Resolves when its reader has taken it, and rejects when nobody reads any more. */
export const print = (text: string) =>
	new Promise<void>((done, failed) => process.stdout.write(text, (error) => (error ? failed(error) : done())));

/** For `createLog` beside `print`: never waits for a slow reader, as pino does. Drops lines when many wait. */
export function openLogOutput() {
	// `print` tells whoever needs to know.
	process.stdout.on('error', () => {});
	return { write: (line: string) => void (process.stdout.writableLength < MOST_WAITING && process.stdout.write(line)) };
}
