import { resolve } from 'node:path';
import type { AnswerStore, ClaimStore, DraftStore } from '../answers/ports.ts';
import { type Clock, systemClock } from '../clock.ts';
import { HandraiseError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { WatchStore } from '../watches/ports.ts';
import { retryUnreadable } from './announcement-store.ts';
import { createAnswerStore } from './answer-store.ts';
import { createClaimStore, createDraftStore } from './answering-store.ts';
import type { Dialect, StoreDatabase } from './database.ts';
import { createDatabaseClock, type DatabaseClock } from './database-clock.ts';
import {
	type Cipher,
	createCipher,
	type KeySetting,
	keyOf,
	loadOrMakeKeyFile,
	readKeySetting,
	sealKeyCheck,
	sealsKeyCheck,
} from './encryption.ts';
import { migrate } from './migrate.ts';
import { MIGRATING, openPostgres } from './postgres.ts';
import { type CheckpointOutcome, type SecretWiping, startSecretWiping } from './secret-wiping.ts';
import { openSqlite } from './sqlite.ts';
import { WITHOUT_LEASE } from './tables.ts';
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
	readonly dialect: Dialect;
	/** The time by which everything stored is compared: the database's where replicas share one. */
	readonly clock: Clock;
	/** Rejects with `StoreUnavailableError` when the database does not answer. */
	ping(): Promise<void>;
	close(): Promise<void>;
}

/**
 * Opens the database and brings its schema up to date. Throws `StoreUnavailableError`, or an
 * error with the code `database_in_use`, `database_newer`, `database_unsuitable`, `encryption_key_missing` or
 * `encryption_key_invalid`.
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
		throw new HandraiseError(
			'DATABASE_URL needs ENCRYPTION_KEY, the same for all replicas. Make one with `openssl rand -base64 32` and keep a copy.',
			{ code: 'encryption_key_missing' },
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
		if (!(await keyMatches(db, cipher))) {
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
			dialect: db.dialect,
			clock,
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

/**
 * Frees what the process before this one had in hand when it was killed: on SQLite, whose lock this process has, nobody
 * else can hold a lease. Without this an answer would wait after a crash until its lease has run out. On PostgreSQL the
 * holder may be a living replica.
 */
async function freeOrphanedLeases(db: StoreDatabase): Promise<void> {
	if (db.dialect !== 'sqlite') return;
	await db.write(async (trx) => {
		for (const table of ['answers', 'watched_sessions', 'watches', 'announcements'] as const) {
			await trx.updateTable(table).set(WITHOUT_LEASE).where('lease_token', 'is not', null).execute();
		}
	});
}

/** True when `cipher` has the key that this database was first opened with; leaves a check value in a new database. */
async function keyMatches(db: StoreDatabase, cipher: Cipher): Promise<boolean> {
	const value = await db.write(async (trx) => {
		await trx
			.insertInto('meta')
			.values({ name: 'key_check', value: sealKeyCheck(cipher) })
			.onConflict((conflict) => conflict.column('name').doNothing())
			.execute();
		return (await trx.selectFrom('meta').select('value').where('name', '=', 'key_check').executeTakeFirstOrThrow())
			.value;
	});
	return sealsKeyCheck(value, cipher);
}

/**
 * The salt with which a passphrase becomes this database's key, made by a migration; null for a database that had its key
 * before there were salts.
 */
async function readKeySalt(db: StoreDatabase): Promise<string | null> {
	const row = await db.read.selectFrom('meta').select('value').where('name', '=', 'key_salt').executeTakeFirst();
	return row?.value ?? null;
}
