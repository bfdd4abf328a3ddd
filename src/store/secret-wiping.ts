import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { codeOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { StoreUnavailableError } from './database.ts';
import { type Cipher, type CipherPlace, createCipher, parseEncryptionKey } from './encryption.ts';
import type { SqliteStoreDatabase } from './sqlite.ts';
import { mapSqliteError } from './sqlite-file.ts';

/** Several wipes share one checkpoint; nothing of a wiped value is to be left after a second. */
const SOON_MS = 500;
/** How long nothing may come of it before the log says so, and again after as long. */
const BLOCKED_MS = 5_000;
/** Of the row of `meta` that says that no remains of the time before secrets had a key of their own are left. */
const SWEPT = 'secrets_swept';

/** `busy`: another program was reading, so that it is tried again. */
export type CheckpointOutcome = 'done' | 'busy' | 'failed';

export interface SecretWiping {
	/** As the master, but secret values of answers, and drafts, which may become secret, have a key of their own. */
	readonly cipher: Cipher;
	/** Ends it, once what is due is done. To be called before the database is closed. */
	close(): Promise<void>;
}

/**
 * Makes wiped secret values unreadable in the files of SQLite. `secure_delete` overwrites what is freed, but a page that
 * SQLite splits or merges may keep copies of rows in its unused part (seen with SQLite 3.53), and the log keeps every
 * former state of a page. So secret values are encrypted with a key of their own, which stands in one row of `meta`,
 * encrypted with the master key. Soon after a wipe, and at every start, that row is overwritten in its place by a new key,
 * with which the secrets still needed are encrypted again; then the log is emptied. What is left of the former values
 * anywhere opens with no key any more. PostgreSQL's dead rows, log and backups would keep the former key too: nothing
 * is gained there.
 */
export async function startSecretWiping({
	db,
	master,
	log,
	onCheckpoint = () => {},
}: {
	db: SqliteStoreDatabase;
	/** With the key of the database. */
	master: Cipher;
	log: Log;
	onCheckpoint?: ((outcome: CheckpointOutcome, ms: number) => void) | undefined;
}): Promise<SecretWiping> {
	const keyName = `secrets_key:${master.keyId}`;
	const keyPlace: CipherPlace = { table: 'meta', id: keyName, column: 'value' };
	/** The newest first, at most two: what was read just before a replacement may be decrypted just after it. */
	let ciphers: readonly Cipher[] = [];
	let isKeyDue = true;
	let isReplacing = false;
	let isSweepDue = true;
	let blockedSince: number | null = null;
	let timer: NodeJS.Timeout | null = null;
	let isClosed = false;

	const cipher: Cipher = {
		keyId: master.keyId,
		encrypt: (text, place) => (isSecret(place) ? newest() : master).encrypt(text, place),
		decrypt(sealed, place) {
			if (!isSecret(place)) return master.decrypt(sealed, place);
			for (const one of [...ciphers, master]) {
				const text = one.decrypt(sealed, place);
				if (text !== null) return text;
			}
			return null;
		},
	};

	function newest(): Cipher {
		const [first] = ciphers;
		if (first === undefined) throw new StoreUnavailableError('Secrets have no key yet.');
		return first;
	}

	function loadKey(database: DatabaseSync): void {
		const row = database.prepare('select value from meta where name = ?').get(keyName);
		const text = row === undefined ? null : master.decrypt(String(row.value), keyPlace);
		if (text !== null) ciphers = [createCipher(parseEncryptionKey(text, keyName))];
	}

	/** Returns how many secrets no known key opens: they were written with another master key. */
	function replaceKey(database: DatabaseSync): number {
		const key = randomBytes(32);
		const next = createCipher(key);
		isReplacing = true;
		try {
			const unreadable = inTransaction(database, () => moveTo(database, key, next));
			ciphers = [next, ...ciphers.slice(0, 1)];
			isKeyDue = false;
			return unreadable;
		} finally {
			isReplacing = false;
		}
	}

	function moveTo(database: DatabaseSync, key: Buffer, next: Cipher): number {
		let unreadable = 0;
		const change = database.prepare('update answers set secrets = ? where id = ?');
		for (const { id, secrets } of database.prepare('select id, secrets from answers where secrets is not null').all()) {
			const place: CipherPlace = { table: 'answers', id: String(id), column: 'secrets' };
			const text = cipher.decrypt(String(secrets), place);
			if (text === null) unreadable++;
			else change.run(next.encrypt(text, place), String(id));
		}
		const changeDraft = database.prepare('update drafts set content = ? where form_id = ?');
		for (const { form_id: id, content } of database.prepare('select form_id, content from drafts').all()) {
			const place: CipherPlace = { table: 'drafts', id: String(id), column: 'content' };
			const text = cipher.decrypt(String(content), place);
			if (text !== null) changeDraft.run(next.encrypt(text, place), String(id));
		}
		// Always of the same length, so that SQLite writes it over the former one.
		database
			.prepare('insert into meta (name, value) values (?, ?) on conflict (name) do update set value = excluded.value')
			.run(keyName, master.encrypt(key.toString('base64'), keyPlace));
		return unreadable;
	}

	/** Once for a database: what former versions left is encrypted with the master key, which stays. */
	function sweep(database: DatabaseSync, unreadable: number): void {
		isSweepDue = false;
		if (database.prepare('select 1 from meta where name = ?').get(SWEPT) !== undefined) return;
		try {
			database.exec('vacuum');
			// They are in the way of being done with it: once their key is back, they leave remains too.
			if (unreadable === 0) database.prepare("insert into meta (name, value) values (?, '1')").run(SWEPT);
		} catch (error) {
			log.warn(
				{ code: codeOf(mapSqliteError(error)) },
				'remains of secrets that a former version wiped are still in handraise.db: rewriting it failed ' +
					'(it needs its size in memory and again on the disk). The next start tries again.',
			);
		}
	}

	/** Catches every write that wipes or replaces a secret of an answer; who takes one out of drafts says so. */
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
		}, SOON_MS).unref();
	}

	/** Never throws. */
	async function wipe(): Promise<void> {
		let held = 0;
		/** In two turns of the event loop, so that neither holds it for as long as both. */
		const step = <T>(work: (database: DatabaseSync) => T) =>
			db.alone((database) => {
				const start = performance.now();
				try {
					return work(database);
				} finally {
					held = Math.max(held, performance.now() - start);
				}
			});
		try {
			if (isKeyDue) {
				const unreadable = await step(replaceKey);
				if (isSweepDue) await step((database) => sweep(database, unreadable));
			}
			noteOutcome((await step(emptyLog)) ? 'done' : 'busy', held, 'wiped_secrets_in_log');
		} catch (error) {
			noteOutcome('failed', held, codeOf(error));
		}
	}

	function noteOutcome(outcome: CheckpointOutcome, ms: number, code: string): void {
		onCheckpoint(outcome, ms);
		if (outcome === 'done') {
			blockedSince = null;
			return;
		}
		schedule();
		const now = performance.now();
		blockedSince ??= now;
		if (now - blockedSince < BLOCKED_MS) return;
		blockedSince = now;
		const why =
			outcome === 'busy'
				? 'another program keeps the database open for reading'
				: 'the database or its log could not be written';
		log.warn({ code }, `wiped secrets are still in the files of the database: ${why}; trying again`);
	}

	await db.alone((database) => {
		loadKey(database);
		listen(database);
	});
	await wipe();

	return {
		cipher,
		async close() {
			isClosed = true;
			if (timer === null) return;
			clearTimeout(timer);
			await wipe();
		},
	};
}

function inTransaction<T>(database: DatabaseSync, work: () => T): T {
	database.exec('begin immediate');
	try {
		const result = work();
		database.exec('commit');
		return result;
	} catch (error) {
		if (database.isTransaction) database.exec('rollback');
		throw error;
	}
}

function isSecret({ table, column }: CipherPlace): boolean {
	return table === 'drafts' || (table === 'answers' && column === 'secrets');
}

/** Writes the log into the database and cuts it to nothing; false when somebody reads, for whom nothing waits. */
function emptyLog(database: DatabaseSync): boolean {
	const { timeout } = database.prepare('pragma busy_timeout').get() as { timeout: number };
	database.exec('pragma busy_timeout = 0');
	try {
		return database.prepare('pragma wal_checkpoint(truncate)').get()?.busy === 0;
	} finally {
		database.exec(`pragma busy_timeout = ${timeout}`);
	}
}
