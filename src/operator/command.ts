import { existsSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { codeOf, HandraiseError } from '../kernel/basics.ts';

/** What a command refuses before it changes anything. */
export const invalid = (message: string, code = 'config_invalid') => new HandraiseError(message, { code });

/** Runs a command of operators. Its error goes to standard error; the exit code is then 1, or 2 for a wrong use. */
export async function runCommand(main: () => Promise<void>): Promise<void> {
	await main().catch((error: unknown) => {
		process.stderr.write(`${error instanceof HandraiseError ? error.message : String(error)}\n`);
		process.exitCode = codeOf(error) === 'usage' ? 2 : 1;
	});
}

/** Opening would make SQLite's file. @throws HandraiseError `config_invalid` when there is none */
export function needFile(databaseUrl: string | null, dataDir: string): void {
	if (databaseUrl === null && !existsSync(join(dataDir, 'handraise.db')))
		throw invalid(`There is no database in ${dataDir}: set DATA_DIR as Handraise has it. Nothing was changed.`);
}

/** For the audit: `handraise@host`. With sudo also who used it. */
export function whoRunsIt(): string {
	const { SUDO_USER } = process.env;
	let account = `uid ${process.getuid?.() ?? '?'}`;
	try {
		account = userInfo().username;
	} catch {
		// An account without a name, as in containers.
	}
	return `${SUDO_USER === undefined ? '' : `${SUDO_USER} as `}${account}@${hostname()}`.slice(0, 300);
}
