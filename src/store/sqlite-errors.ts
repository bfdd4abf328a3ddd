import { HandraiseError } from '../errors.ts';
import { StoreUnavailableError } from './errors.ts';

/** Primary result codes (sqlite.org/rescode.html) that say something about the machine, not about our statement. */
const UNAVAILABLE: ReadonlyMap<number, string> = new Map([
	[5, 'the database is locked by another program'],
	[6, 'a table is locked'],
	[7, 'out of memory'],
	[8, 'the database cannot be written'],
	[10, 'disk I/O error'],
	[11, 'the database file is damaged'],
	[13, 'the disk is full'],
	[14, 'the database file cannot be opened'],
	[15, 'the locking protocol failed'],
	[26, 'the file is not a database'],
]);

const BUSY = 5;

function primaryCode(error: unknown): number | null {
	const code = (error as { code?: unknown; errcode?: unknown } | null)?.code;
	const errcode = (error as { errcode?: unknown } | null)?.errcode;
	return code === 'ERR_SQLITE_ERROR' && typeof errcode === 'number' ? errcode & 0xff : null;
}

export function isSqliteBusy(error: unknown): boolean {
	return primaryCode(error) === BUSY;
}

/** What the machine is to blame for becomes a `StoreUnavailableError`; anything else stays what it is. */
export function mapSqliteError(error: unknown): unknown {
	if (error instanceof HandraiseError) return error;
	const code = primaryCode(error);
	const reason = code === null ? undefined : UNAVAILABLE.get(code);
	if (reason === undefined) return error;
	return new StoreUnavailableError(`SQLite: ${reason} (result code ${code}).`, { cause: error });
}
