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

/** The error of a command that refuses its arguments or settings. */
export const invalid = (message: string, code = 'config_invalid') => new HandraiseError(message, { code });

/**
 * The `main` of a file. An error goes to standard error; the status is then 1, or 2 for a wrong use. The work goes on
 * when nobody reads the output any more (`… | head -1`): only `print` says so.
 */
export function command(work: Command, wordsOf: (error: unknown) => unknown = String): Command {
	return async (argv, io) => {
		// Without a listener, Node.js ends the process in the middle of the work.
		for (const stream of [io.stdout, io.stderr]) stream.on('error', () => {});
		try {
			return await work(argv, io);
		} catch (error) {
			io.stderr.write(`${error instanceof HandraiseError ? error.message : wordsOf(error)}\n`);
			return codeOf(error) === 'usage' ? 2 : 1;
		}
	};
}

/** Words for an unexpected error without its message, which may hold what is stored. */
export const nameOf = (error: unknown) => `It failed (${(error as Error).name}).`;

const setStatus = (status: number) => {
	process.exitCode = status;
};

/** Runs a command when its file is the program. Before Node.js 24.2, `file.main` is undefined and the command runs. */
export async function runCommand(file: { readonly main?: boolean }, main: Command, end = setStatus): Promise<void> {
	if (file.main !== false) end(await main(process.argv.slice(2), process));
}

/** Aborted by the first of these signals, which then does not end the process. The second one does. */
export function stoppedBy(io: CommandIo, ...signals: readonly NodeJS.Signals[]): AbortSignal {
	const stopping = new AbortController();
	for (const signal of signals) io.once(signal, () => stopping.abort());
	return stopping.signal;
}

/** Resolves when the text is written. Rejects when it cannot be: with `EPIPE` when nobody reads any more. */
export function print(stdout: Writable, text: string): Promise<void> {
	return new Promise((done, failed) => stdout.write(text, (error) => (error ? failed(error) : done())));
}

/** Checks that SQLite's file exists, because opening would create it. @throws HandraiseError `config_invalid` */
export function needFile(databaseUrl: string | null, dataDir: string): void {
	if (databaseUrl === null && !existsSync(join(dataDir, 'handraise.db')))
		throw invalid(`There is no database in ${dataDir}: set DATA_DIR as Handraise has it. Nothing was changed.`);
}

/** The account and the machine for the audit: `handraise@host`, with sudo `ann as handraise@host`. */
export function whoRunsIt({ SUDO_USER }: NodeJS.ProcessEnv): string {
	let account = `uid ${process.getuid?.() ?? '?'}`;
	try {
		account = userInfo().username;
	} catch {
		// An account without a name, as in containers.
	}
	return `${SUDO_USER === undefined ? '' : `${SUDO_USER} as `}${account}@${hostname()}`.slice(0, 300);
}
