import { resolve } from 'node:path';
import { createAnswerStore } from './delivery/answer-store.ts';
import { createDraftStore } from './delivery/draft-store.ts';
import { type Clock, systemClock } from './kernel/clock.ts';
import { createHandOverStore } from './people/hand-over/hand-over-store.ts';
import { createInboxStore } from './screens/inbox-store.ts';
import { createChannelSettingsStore } from './sessions/channel-settings-store.ts';
import { createDiscoveryStore } from './sessions/discovery-store.ts';
import { createRecordingStore } from './sessions/recording-store.ts';
import { createWatchStore } from './sessions/watch-store.ts';
import { createAuditStore, recordRestore } from './store/audit.ts';
import { auditLineOf } from './store/audit-reader.ts';
import type { StoreDatabase } from './store/database.ts';
import { freeOrphanedLeases } from './store/due.ts';
import { readKeys } from './store/encryption.ts';
import { loadOrMakeKeyFile } from './store/key-file.ts';
import { type KeyOptions, openKeys } from './store/keys.ts';
import { type MigrationContext, migrate, whyReplaced } from './store/migrate.ts';
import { createPeopleStore } from './store/people-store.ts';
import { OF_COMMAND, openPostgres } from './store/postgres.ts';
import type { PoolOptions } from './store/postgres-address.ts';
import { addressFor } from './store/service-address.ts';
import { sharedStatesOf } from './store/shared-states.ts';
import { openSqlite } from './store/sqlite.ts';
import { createStoreClock, repairTimes, type StoreClock } from './store/store-clock.ts';
import { createSessionStore } from './store/watched-sessions.ts';
import { liveWorkspaces } from './store/workspaces.ts';
import { createMarkStore } from './surfaces/mark-store.ts';
import { createPostStore, retryWaiting } from './surfaces/post-store.ts';
import { createReminderStore } from './surfaces/reminder-store.ts';
import { createViewStore } from './surfaces/view-store.ts';

export interface StoreOptions extends Pick<KeyOptions, 'log' | 'onCheckpoint'> {
	/** `postgres://…`. Absent or null: SQLite. */
	readonly databaseUrl?: string | null | undefined;
	/** Absent (tests): the defaults. */
	readonly pool?: PoolOptions | undefined;
	/** The directory of SQLite's file and the key file, created if needed. Not used with `databaseUrl`. */
	readonly dataDir: string;
	/** 32 bytes as base64 or hexadecimal, or a passphrase. Absent (SQLite only): the key file in `dataDir`. */
	readonly encryptionKey?: string | null | undefined;
	/** Former keys, one a line, to notice that `npm run rekey` was forgotten. */
	readonly formerKeys?: string | null | undefined;
	/** The session service's address. Absent (tests, commands): it is not checked. */
	readonly serviceUrl?: string | undefined;
	/** The workspace whose rows are given out. Null: none yet. Absent (tests): all. */
	readonly workspace?: StoreDatabase['workspace'];
	/** For tests. Default: the time of the database on PostgreSQL, of the machine on SQLite. */
	readonly clock?: Clock | undefined;
}

export type Store = Awaited<ReturnType<typeof openStore>>;

/**
 * Opens the database and applies pending migrations. Throws `StoreUnavailableError`, or with the code
 * `database_in_use`, `database_newer`, `database_older`, `database_unsuitable`, `encryption_key_invalid`,
 * `rekey_needed` or `service_moved`.
 */
export async function openStore(options: StoreOptions) {
	const { databaseUrl, pool, dataDir, encryptionKey, formerKeys, workspace, clock: ownClock, log } = options;
	const keysGiven = encryptionKey == null ? null : readKeys(encryptionKey, formerKeys);
	if (typeof keysGiven?.own === 'string') log.warn('passphrase_as_key');
	const sqlite = databaseUrl == null ? openSqlite(dataDir) : null;
	const { promise: replaced, resolve: onReplaced } = Promise.withResolvers<void>();
	let storeClock: StoreClock | null = null;
	let keys: Awaited<ReturnType<typeof openKeys>> | null = null;
	const keyCheck = () => keys?.check ?? null;
	const opened = sqlite ?? openPostgres(databaseUrl ?? '', log, { pool, onReplaced });
	const db = { ...opened, workspace, keyCheck, onReplaced };
	db.onCommit(({ events }) => {
		for (const event of events) log.info(auditLineOf(event), 'audit');
	});
	const closing = new AbortController();
	async function close(): Promise<void> {
		closing.abort();
		storeClock?.close();
		await keys?.close();
		await db.close();
	}
	try {
		if (ownClock === undefined) storeClock = await createStoreClock(db, systemClock, log);
		const clock = ownClock ?? storeClock ?? systemClock;
		await (databaseUrl == null ? migrate(db, { clock, log }) : migratePostgres(databaseUrl, { clock, log }));
		// Only now: with SQLite open, this process holds the lock on the data directory.
		const given = keysGiven ?? { own: loadOrMakeKeyFile(resolve(dataDir)), formers: [] };
		const { serviceUrl: givenUrl } = options;
		const serviceUrl = givenUrl === undefined ? '' : await addressFor(db, givenUrl, log);
		keys = await openKeys({ ...given, db, sqlite, log, onCheckpoint: options.onCheckpoint });
		const { cipher, compact } = keys;
		await recordRestore(db, clock.now());
		await freeOrphanedLeases(db);
		await repairTimes(db, clock.now());
		await retryWaiting(db);
		db.keepLooking(clock, closing.signal).catch(() => undefined);
		return {
			audit: createAuditStore({ db }),
			answers: createAnswerStore({ db, cipher, log, checksTime: storeClock !== null && sqlite === null }),
			drafts: createDraftStore({ db, cipher }),
			watches: createWatchStore({ db, cipher }),
			sessions: createSessionStore({ db, cipher }),
			reads: createRecordingStore({ db, cipher }),
			discoveries: createDiscoveryStore({ db, cipher }),
			posts: createPostStore({ db, cipher, log }),
			marks: createMarkStore({ db }),
			views: createViewStore({ db, cipher }),
			inboxes: createInboxStore({ db, cipher, log }),
			handOvers: createHandOverStore({ db, cipher }),
			reminders: createReminderStore({ db, log }),
			people: createPeopleStore({ db, cipher }),
			channelSettings: createChannelSettingsStore({ db, log }),
			/** Warns if the database has rows of other workspaces, which are left alone. */
			async warnOfOthers(ownWorkspace: string): Promise<void> {
				const others = (await liveWorkspaces(db.read)).filter(({ teamId }) => teamId !== ownWorkspace);
				if (others.length > 0) log.warn('other_workspaces', { workspace: ownWorkspace, others });
			},
			/** The shared state with this name. */
			sharedStateOf: sharedStatesOf({ db, clock }),
			/** The service's address as rows have it; empty: it was not given. */
			serviceUrl,
			db,
			cipher,
			/** Whether the given keys are those of the database. */
			keysFit: keys.isFitting,
			compact,
			/** The clock of all stored times. */
			clock,
			/** Resolves when the schema or the key was changed, so the program has to stop, to the name of the log line. */
			replaced: replaced.then(() => whyReplaced(db)),
			close,
		};
	} catch (error) {
		await close();
		throw error;
	}
}

/** Migrates over a connection of its own, with a longer time-out. */
export async function migratePostgres(databaseUrl: string, context: MigrationContext): Promise<void> {
	const db = openPostgres(databaseUrl, context.log, { pool: OF_COMMAND });
	try {
		await migrate(db, context);
	} finally {
		await db.close();
	}
}
