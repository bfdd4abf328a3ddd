import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { codeOf, StoreUnavailableError } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import { add, type Cipher, type Db, nameInSql, placeIn, placeInSql, SEALED_COLUMNS } from './database.ts';
import { createCipher, metaPlace, secretsCipher, secretsKeyName } from './encryption.ts';
import type { SqliteStoreDatabase } from './sqlite.ts';

/** Wipes within this time share a checkpoint. A wiped value must be gone from the files after a second. */
const WIPE_DELAY_MS = 500;
/** How long the checkpoint may fail until a log line reports it, and between two such lines. */
const BLOCKED_MS = 5_000;

const SECRET_COLUMNS = SEALED_COLUMNS.filter(({ isSecret }) => isSecret);

/** The name of a row of `meta`, with a random value, while the file has to be compacted. It stays after a kill too. */
export const COMPACTION_DUE = 'compaction_due';

/** For the transaction that removes what the files may no longer hold. Call `compact` after its commit. */
export async function markForCompaction(trx: Db): Promise<void> {
	const value = randomBytes(8).toString('hex');
	await add(trx, 'meta', { name: COMPACTION_DUE, value })
		.onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
		.execute();
}

/** `busy`: another program was reading; it is tried again. */
export type CheckpointOutcome = 'done' | 'busy' | 'failed';

export interface WipingOptions {
	readonly db: SqliteStoreDatabase;
	/** Encrypts the key of secrets, and everything else. */
	readonly master: Cipher;
	readonly log: Log;
	/** Called after every checkpoint that makes wiped secrets unreadable. */
	readonly onCheckpoint?: ((outcome: CheckpointOutcome, ms: number) => void) | undefined;
}

/**
 * Makes wiped secret values unreadable in the files of SQLite. `secure_delete` overwrites freed bytes, but pages that
 * SQLite splits or merges may keep copies of rows in unused parts (seen with 3.53), and the log keeps former states. So
 * secret values have a key of their own, in one row of `meta`, encrypted with the master key. Soon after a wipe, and at
 * every start, a new key overwrites it in place, the remaining secrets are encrypted with that, and the log is emptied:
 * no key decrypts the remains. On PostgreSQL this would gain nothing: dead rows, log and backups keep the former key.
 */
export async function startSecretWiping({ db, master, log, onCheckpoint = () => {} }: WipingOptions) {
	const keyName = secretsKeyName(master);
	/** The cipher of the stored secrets; null: there are none yet. */
	let current: Cipher | null = null;
	/** The key before. A value that was read just before a replacement may be decrypted just after it. */
	let replaced: Cipher | null = null;
	let isKeyDue = true;
	let isReplacing = false;
	/** The mark for which the file was compacted, until the log is empty too. */
	let compactedFor: string | null = null;
	let blockedSince: number | null = null;
	let timer: NodeJS.Timeout | null = null;
	let isClosed = false;

	const cipher: Cipher = {
		keyId: master.keyId,
		encrypt(text, place) {
			const own = isSecretPlace(place) ? current : master;
			if (own === null) throw new StoreUnavailableError('The key of secrets could not be written yet.');
			return own.encrypt(text, place);
		},
		decrypt(sealed, place) {
			if (!isSecretPlace(place)) return master.decrypt(sealed, place);
			return current?.decrypt(sealed, place) ?? replaced?.decrypt(sealed, place) ?? null;
		},
	};

	function replaceKey(database: DatabaseSync): void {
		const key = randomBytes(32);
		const next = createCipher(key);
		isReplacing = true;
		database.exec('begin immediate');
		try {
			reencrypt(database, key, next);
			database.exec('commit');
			replaced = current;
			current = next;
			isKeyDue = false;
		} finally {
			isReplacing = false;
			if (database.isTransaction) database.exec('rollback');
		}
	}

	/** Leaves values of an unknown master key. */
	function reencrypt(database: DatabaseSync, key: Buffer, next: Cipher): void {
		for (const secret of SECRET_COLUMNS) {
			const { table, column, keys } = secret;
			const update = database.prepare(`update ${table} set ${column} = ? where ${nameInSql(keys[0])} = ?`);
			const select = `select ${placeInSql(secret)}, ${column} as sealed from ${table} where ${column} is not null`;
			for (const row of database.prepare(select).all()) {
				const place = placeIn(secret, row);
				const text = cipher.decrypt(String(row.sealed), place);
				if (text !== null) update.run(next.encrypt(text, place), place.id);
			}
		}
		// The length is always the same, so SQLite overwrites the former value.
		database
			.prepare('insert into meta (name, value) values (?, ?) on conflict (name) do update set value = excluded.value')
			.run(keyName, master.encrypt(key.toString('base64'), metaPlace(keyName)));
	}

	/** Detects every write that wipes or replaces secrets of an answer. The draft store calls the function itself. */
	function listen(database: DatabaseSync): void {
		database.function('note_secret_wiped', () => {
			if (!isReplacing) {
				isKeyDue = true;
				schedule();
			}
			return null;
		});
		database.exec(`create temp trigger secret_wiped after update of secrets on main.answers
			when old.secrets is not null and new.secrets is not old.secrets begin select note_secret_wiped(); end`);
	}

	function schedule(): void {
		if (isClosed) return;
		timer ??= setTimeout(() => {
			timer = null;
			void wipe();
		}, WIPE_DELAY_MS).unref();
	}

	function compactFile(database: DatabaseSync): void {
		const mark = metaIn(database, COMPACTION_DUE);
		if (mark === undefined || mark === compactedFor) return;
		database.exec('vacuum');
		compactedFor = mark;
	}

	function forgetMark(database: DatabaseSync): void {
		// Another mark may have been written since.
		database.prepare('delete from meta where name = ? and value = ?').run(COMPACTION_DUE, compactedFor);
		compactedFor = null;
	}

	/** Whether the log is empty. Never throws. */
	async function wipe(): Promise<boolean> {
		let longestStepMs = 0;
		/** Each step has its own turn of the event loop, which is blocked for a shorter time. */
		const step = <T>(work: (database: DatabaseSync) => T) =>
			db.alone((database) => {
				const start = performance.now();
				try {
					return work(database);
				} finally {
					longestStepMs = Math.max(longestStepMs, performance.now() - start);
				}
			});
		try {
			if (isKeyDue) await step(replaceKey);
			await step(compactFile);
			const isEmpty = await step(emptyLog);
			noteOutcome(isEmpty ? 'done' : 'busy', longestStepMs);
			if (isEmpty && compactedFor !== null) await step(forgetMark);
			return isEmpty;
		} catch (error) {
			noteOutcome('failed', longestStepMs, codeOf(error));
			return false;
		}
	}

	function noteOutcome(outcome: CheckpointOutcome, ms: number, code?: string): void {
		onCheckpoint(outcome, ms);
		const now = performance.now();
		blockedSince = outcome === 'done' ? null : (blockedSince ?? now);
		if (blockedSince === null) return;
		schedule();
		if (now - blockedSince < BLOCKED_MS) return;
		blockedSince = now;
		log.warn(outcome === 'busy' ? 'wiped_secrets_in_log' : 'wipe_failed', { code });
	}

	await db.alone((database) => {
		current = secretsCipher(master, metaIn(database, keyName));
		listen(database);
	});
	await wipe();

	return {
		/** Uses the key of secrets for `SECRET_COLUMNS` and the master key for everything else. */
		cipher,
		/**
		 * Writes the whole file anew after `markForCompaction`, without unused parts of its pages, and empties the log,
		 * which blocks the event loop. Whether it is done: else another program reads the database, and it is tried again.
		 */
		compact: wipe,
		async close(): Promise<void> {
			isClosed = true;
			if (timer === null) return;
			clearTimeout(timer);
			await wipe();
		},
	};
}

function metaIn(database: DatabaseSync, name: string): string | undefined {
	const row = database.prepare('select value from meta where name = ?').get(name);
	return row === undefined ? undefined : String(row.value);
}

function isSecretPlace({ table, column }: Readonly<Record<'table' | 'column', string>>): boolean {
	return SECRET_COLUMNS.some((secret) => secret.table === table && secret.column === column);
}

/** Writes the log into the database and truncates it. Returns false at once when another program reads. */
function emptyLog(database: DatabaseSync): boolean {
	const { timeout } = database.prepare('pragma busy_timeout').get() as { timeout: number };
	database.exec('pragma busy_timeout = 0');
	try {
		return database.prepare('pragma wal_checkpoint(truncate)').get()?.busy === 0;
	} finally {
		database.exec(`pragma busy_timeout = ${timeout}`);
	}
}
