import { HandraiseError } from '../errors.ts';

/** Disk full, I/O error, database away or too slow: the same call may work later. */
export class StoreUnavailableError extends HandraiseError {
	override readonly code = 'store_unavailable';
	override readonly retryable = true;
	/** Whether it may have been committed all the same: the connection was lost, or the answer did not come in time. */
	readonly commitUnknown: boolean;

	constructor(message: string, options: { cause?: unknown; commitUnknown?: boolean } = {}) {
		super(message, 'cause' in options ? { cause: options.cause } : {});
		this.commitUnknown = options.commitUnknown ?? false;
	}
}

/** Another process works on this SQLite file. */
export class DatabaseInUseError extends HandraiseError {
	override readonly code = 'database_in_use';
	override readonly retryable = false;
}

/** A newer version of Handraise has migrated this database. */
export class DatabaseNewerError extends HandraiseError {
	override readonly code = 'database_newer';
	override readonly retryable = false;
}

/** The database cannot give what durability needs (WAL, full sync, foreign keys), for example on a network file system. */
export class DatabaseUnsuitableError extends HandraiseError {
	override readonly code = 'database_unsuitable';
	override readonly retryable = false;
}

/** PostgreSQL needs `ENCRYPTION_KEY`: replicas could not read each other's values with a key of their own. */
export class EncryptionKeyMissingError extends HandraiseError {
	override readonly code = 'encryption_key_missing';
	override readonly retryable = false;
}

/** The key is not 32 bytes as hexadecimal or base64. */
export class EncryptionKeyInvalidError extends HandraiseError {
	override readonly code = 'encryption_key_invalid';
	override readonly retryable = false;
}
