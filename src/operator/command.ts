import { existsSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { codeOf, HandraiseError } from '../kernel/errors.ts';

/** What a command uses of its process. */
export interface CommandIo {
	readonly env: NodeJS.ProcessEnv;
	readonly stdin: Readable;
	readonly stdout: Writable;
	readonly stderr: Writable;
	once(signal: NodeJS.Signals, listener: () => void): unknown;
}

/** Resolves to the exit status. */
type Command = (argv: readonly string[], io: CommandIo) => Promise<number>;

/** What a command refuses before it changes anything. */
export const invalid = (message: string, code = 'config_invalid') => new HandraiseError(message, { code });

/** The `main` of a file. An error goes to standard error; the status is then 1, or 2 for a wrong use. */
export function command(work: Command, wordsOf: (error: unknown) => unknown = String): Command {
	return async (argv, io) => {
		try {
			return await work(argv, io);
		} catch (error) {
			io.stderr.write(`${error instanceof HandraiseError ? error.message : wordsOf(error)}\n`);
			return codeOf(error) === 'usage' ? 2 : 1;
		}
	};
}

/** Of an unexpected error whose message may hold what is stored. */
export const nameOf = (error: unknown) => `It failed (${(error as Error).name}).`;

const setStatus = (status: number) => {
	process.exitCode = status;
};

/** Runs a command when its file is the program. Node.js says so since 24.2; `undefined` before, where no test runs. */
export async function runCommand(file: { readonly main?: boolean }, main: Command, end = setStatus): Promise<void> {
	if (file.main !== false) end(await main(process.argv.slice(2), process));
}

/** Aborted by the first of these signals, which then does not end the process. The second one does. */
export function stoppedBy(io: CommandIo, ...signals: readonly NodeJS.Signals[]): AbortSignal {
	const stopping = new AbortController();
	for (const signal of signals) io.once(signal, () => stopping.abort());
	return stopping.signal;
}

/** Resolves when the reader of the output has taken it, and rejects when nobody reads any more. */
export function print(stdout: Writable, text: string): Promise<void> {
	// The promise tells it.
	if (stdout.listenerCount('error') === 0) stdout.on('error', () => {});
	return new Promise((done, failed) => stdout.write(text, (error) => (error ? failed(error) : done())));
}

/** Opening would make SQLite's file. @throws HandraiseError `config_invalid` when there is none */
export function needFile(databaseUrl: string | null, dataDir: string): void {
	if (databaseUrl === null && !existsSync(join(dataDir, 'handraise.db')))
		throw invalid(`There is no database in ${dataDir}: set DATA_DIR as Handraise has it. Nothing was changed.`);
}

/** For the audit: `handraise@host`. With sudo also who used it. */
export function whoRunsIt({ SUDO_USER }: NodeJS.ProcessEnv): string {
	let account = `uid ${process.getuid?.() ?? '?'}`;
	try {
		account = userInfo().username;
	} catch {
		// An account without a name, as in containers.
	}
	return `${SUDO_USER === undefined ? '' : `${SUDO_USER} as `}${account}@${hostname()}`.slice(0, 300);
}
