import { resolve } from 'node:path';
import type { AnswerStore, ClaimStore, DraftStore } from '../answers/ports.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { WatchStore } from '../watches/ports.ts';
import { createAnswerStore } from './answer-store.ts';
import { type Cipher, createCipher } from './cipher.ts';
import { createClaimStore } from './claim-store.ts';
import type { Dialect, StoreDatabase } from './database.ts';
import { createDatabaseClock, type DatabaseClock } from './database-clock.ts';
import { createDraftStore } from './draft-store.ts';
import { type KeySetting, keyOf, loadOrMakeKeyFile, readKeySetting } from './encryption-key.ts';
import { EncryptionKeyMissingError } from './errors.ts';
import { keyMatches, readKeySalt } from './key-check.ts';
import { migrate } from './migrate.ts';
import { freeOrphanedLeases } from './orphaned-leases.ts';
import { MIGRATING, openPostgres } from './postgres.ts';
import { type CheckpointOutcome, type SecretWiping, startSecretWiping } from './secret-wiping.ts';
import { openSqlite } from './sqlite.ts';
import { retryUnreadable } from './unreadable.ts';
import { createWatchStore } from './watch-store.ts';

export interface StoreOptions {
	/** `postgres://…`; absent or null: the embedded SQLite. */
	readonly databaseUrl?: string | null | undefined;
	/** Where SQLite's file and the key file live. Made when needed. Not used with `databaseUrl`. */
	readonly dataDir: string;
	/** 32 bytes as base64 or hexadecimal, or a passphrase. Needed with `databaseUrl`, else a key file is made in `dataDir`. */
	readonly encryptionKey?: string | null | undefined;
	/** For tests; by default the database's time on PostgreSQL, the machine's on SQLite. */
	readonly clock?: Clock | undefined;
	/** Hears of every checkpoint that makes wiped secrets unreadable (SQLite). */
	readonly onCheckpoint?: ((outcome: CheckpointOutcome, ms: number) => void) | undefined;
	readonly log: Log;
}

export interface Store {
	readonly answers: AnswerStore;
	readonly drafts: DraftStore;
	readonly claims: ClaimStore;
	readonly watches: WatchStore;
	/** For stores that live elsewhere in this folder. */
	readonly db: StoreDatabase;
	readonly cipher: Cipher;
	readonly dialect: Dialect;
	/** The time by which everything stored is compared: the database's where replicas share one. */
	readonly clock: Clock;
	/** False when the database was first opened with another key: what it holds encrypted cannot be read. */
	readonly keyMatches: boolean;
	/** Rejects with `StoreUnavailableError` when the database does not answer. */
	ping(): Promise<void>;
	close(): Promise<void>;
}

/**
 * Opens the database and brings its schema up to date. Throws `DatabaseInUseError`, `DatabaseNewerError`,
 * `DatabaseUnsuitableError`, `EncryptionKeyMissingError`, `EncryptionKeyInvalidError` or `StoreUnavailableError`.
 */
export async function openStore({
	databaseUrl,
	dataDir,
	encryptionKey,
	clock: ownClock,
	onCheckpoint,
	log,
}: StoreOptions): Promise<Store> {
	const given = encryptionKey == null ? null : readKeySetting(encryptionKey);
	if (given?.kind === 'passphrase') {
		log.warn({}, 'ENCRYPTION_KEY is a passphrase; 32 random bytes are better: openssl rand -base64 32');
	}
	if (databaseUrl != null && given === null) {
		throw new EncryptionKeyMissingError(
			'DATABASE_URL needs ENCRYPTION_KEY, the same for all replicas. Make one with `openssl rand -base64 32` and keep a copy.',
		);
	}
	const sqlite = databaseUrl == null ? openSqlite(dataDir) : null;
	const db = sqlite ?? openPostgres(databaseUrl ?? '', log);
	let measured: DatabaseClock | null = null;
	let wiping: SecretWiping | null = null;
	try {
		if (ownClock === undefined && databaseUrl != null) {
			measured = await createDatabaseClock({ db, local: systemClock, log });
		}
		const clock = ownClock ?? measured ?? systemClock;
		// Only now: the lock on the data directory is ours.
		const setting: KeySetting = given ?? { kind: 'key', key: loadOrMakeKeyFile(resolve(dataDir)) };
		if (databaseUrl == null) await migrate(db, { clock, log });
		else await migratePostgres(databaseUrl, { clock, log });
		const master = createCipher(keyOf(setting, await readKeySalt(db)));
		if (sqlite !== null) wiping = await startSecretWiping({ db: sqlite, master, log, onCheckpoint });
		const cipher = wiping?.cipher ?? master;
		await freeOrphanedLeases(db);
		await retryUnreadable(db);
		const matches = await keyMatches(db, cipher);
		if (!matches) {
			log.warn(
				{ code: 'encryption_key_mismatch' },
				'This is not the key the database was made with: answers and drafts kept until now cannot be read. ' +
					'Stop, restore the former ENCRYPTION_KEY (or DATA_DIR/encryption.key), and start again.',
			);
		}
		return {
			answers: createAnswerStore({ db, cipher, log, checksTime: measured !== null }),
			drafts: createDraftStore({ db, cipher }),
			claims: createClaimStore({ db }),
			watches: createWatchStore({ db, cipher, log }),
			db,
			cipher,
			dialect: db.dialect,
			clock,
			keyMatches: matches,
			ping: () => db.ping(),
			async close() {
				measured?.close();
				await wiping?.close();
				await db.close();
			},
		};
	} catch (error) {
		measured?.close();
		await wiping?.close();
		await db.close();
		throw error;
	}
}

async function migratePostgres(databaseUrl: string, context: { clock: Clock; log: Log }): Promise<void> {
	const db = openPostgres(databaseUrl, context.log, MIGRATING);
	try {
		await migrate(db, context);
	} finally {
		await db.close();
	}
}
