import { sql } from 'kysely';
import { type Clock, type Log, repeat, uptimeOf } from '../core/basics.ts';
import { change, placeIn, placeInSql, SEALED_COLUMNS, type SealedColumn, type StoreDatabase } from './database.ts';
import { type KeyRing, prefixOf } from './encryption.ts';
import { cellsOf } from './shared-states.ts';

/** Rows that are read at once, and the pause after them: people come first. */
const SCANNED_AT_ONCE = 100;
const PAUSE_MS = 10;
/** On SQLite they share a commit; on PostgreSQL each is a transaction with a connection of its own. */
const WRITTEN_AT_ONCE = { sqlite: 50, postgres: 2 } as const;
/** When another replica may go on, after the one that encrypts has shown no progress. */
const LEASE_MS = 6_000;
/** How often other replicas look, and how long to wait after a failure. */
const LOOK_MS = 3_000;
/** On SQLite something else has to be done before the end. */
const UNFINISHED_MS = 1_000;
/** Replicas that still wrote with a former key may have done so since. */
const AGAIN_MS = 5 * 60_000;

type StoredRow = Readonly<Record<string, unknown>> & { readonly sealed: string | null };
const keyIdOf = (sealed: string) => sealed.split('.')[1] ?? '';

interface Options {
	readonly db: StoreDatabase;
	readonly ring: KeyRing;
	readonly clock: Clock;
	readonly log: Log;
	readonly onFormerValues: (count: number) => void;
	/** Values of these keys were found, and are encrypted again now. */
	readonly found: (keyIds: ReadonlySet<string>) => Promise<void>;
	/**
	 * No value needs a former key. False: something else does still, so it is called again. `endsOld`: nor will one of
	 * version 1 be found that a given key opens.
	 */
	readonly finish: (endsOld: boolean) => Promise<boolean>;
	/** Learns whether values of version 1 are still read: another replica may have ended that. */
	readonly follow: () => Promise<void>;
}

/**
 * Encrypts again, with the newest key, what a former one encrypted and what is of version 1: in small steps, each value
 * only if nobody has changed it or what it is bound to. It finds its work in the stored values, so it goes on after a
 * stop. On SQLite the values with a key of their own are those of `secret-wiping.ts`. One replica at a time does it.
 */
export function createReencryption({ db, ring, clock, log, onFormerValues, found, finish, follow }: Options) {
	const columns = SEALED_COLUMNS.filter((column) => db.dialect === 'postgres' || !column.isSecret);
	// Which replica encrypts, and until when no other one does.
	const cell = cellsOf({ db, clock })<{ holder: string; until: number; left: number | null }>(`keys:${ring.keyId}`);
	const keyIds = ring.all.map(({ keyId }) => keyId);
	const isOldOfOther = (sealed: string) => /^1\.\w{8}\./.test(sealed) && !keyIds.includes(keyIdOf(sealed));
	const own = crypto.randomUUID();
	const stopping = new AbortController();
	let loop: Promise<void> | null = null;
	let left: number | null = null;
	let heldAt = Number.NEGATIVE_INFINITY;
	let unreadableBefore = 0;

	/** Shows progress to other replicas. False when another one encrypts. */
	async function hold(forMs: number): Promise<boolean> {
		heldAt = uptimeOf(clock);
		const shared = await cell.update((before) => {
			const now = clock.now();
			if (before !== null && before.holder !== own && before.until > now) return { state: before, result: before };
			const state = { holder: own, until: now + forMs, left: left ?? before?.left ?? null };
			return { state, result: state };
		});
		onFormerValues(shared.left ?? Number.NaN);
		return shared.holder === own;
	}

	/**
	 * Calls `work` with the values to encrypt. Resolves to how many no key opens, and whether none of those is of a key
	 * that may come later; to null when another replica goes on.
	 */
	async function visit(work: (values: readonly Value[]) => Promise<unknown>) {
		let unreadable = 0;
		let isWhole = true;
		for (const column of columns) {
			for (let after: readonly string[] | null = []; after !== null; ) {
				const rows = await readAfter(column, after);
				const sealed = rows.filter((row) => row.sealed !== null);
				const values = sealed.flatMap((row) => valueIn(column, row) ?? []);
				unreadable += sealed.length - values.length;
				isWhole &&= !sealed.some((row) => isOldOfOther(row.sealed ?? ''));
				await work(values);
				onFormerValues(left ?? Number.NaN);
				const last = rows.length < SCANNED_AT_ONCE ? undefined : rows.at(-1);
				after = last === undefined ? null : column.keys.map((key) => String(last[key]));
				if (uptimeOf(clock) - heldAt > LEASE_MS / 3 && !(await hold(LEASE_MS))) return null;
				await clock.sleep(PAUSE_MS, stopping.signal);
			}
		}
		return { unreadable, isWhole };
	}

	/** The next rows of a table in the order of their keys. `sealed` is null for what needs no other key. */
	async function readAfter(sealed: SealedColumn, after: readonly string[]) {
		const { table, column, keys } = sealed;
		const [key, value] = [sql.join(keys.map((name) => sql.ref(name))), sql.ref(column)];
		const prefix = prefixOf(ring.keyId, sealed);
		const { rows } = await sql<StoredRow>`
			select ${sql.raw(placeInSql(sealed))},
				case when substr(${value}, 1, ${sql.lit(prefix.length)}) <> ${prefix} then ${value} end as sealed
			from ${sql.table(table)} ${after.length === 0 ? sql`` : sql`where (${key}) > (${sql.join(after)})`}
			order by ${key} limit ${sql.lit(SCANNED_AT_ONCE)}`.execute(db.read);
		return rows;
	}

	type Value = NonNullable<ReturnType<typeof valueIn>>;

	function valueIn(column: SealedColumn, { sealed, ...where }: StoredRow) {
		const place = placeIn(column, where);
		const text = sealed === null ? null : ring.decrypt(sealed, place);
		return sealed === null || text === null ? null : { where, sealed, text, place };
	}

	async function encryptAgain({ where, sealed, text, place }: Value): Promise<void> {
		const { table, column } = place;
		// What a person has written meanwhile stays.
		const unchanged = { ...where, [column]: sealed };
		const written = { [column]: ring.encrypt(text, place) };
		await db.writeOne((trx) => change(trx, table as 'drafts', unchanged, written).execute());
	}

	/** Returns the milliseconds until the next turn. */
	async function turn(): Promise<number> {
		const isHolding = await hold(LEASE_MS);
		// Before anything is read: what another replica does not read any more must not be bound here.
		await follow();
		if (!isHolding || isOver()) return pauseFor(LOOK_MS);
		let needed = 0;
		const used = new Set<string>();
		const seen = await visit(async (values) => {
			needed += values.length;
			for (const { sealed } of values) used.add(keyIdOf(sealed));
		});
		if (seen === null) return LOOK_MS;
		const { unreadable, isWhole } = seen;
		if (unreadable > unreadableBefore) log.warn('values_unreadable', { count: unreadable });
		unreadableBefore = unreadable;
		if (needed === 0) return end(isWhole);
		left = needed;
		onFormerValues(left);
		log.info({ count: needed }, 'stored values are encrypted again with ENCRYPTION_KEY');
		await found(used);
		await visit(async (values) => {
			const width = WRITTEN_AT_ONCE[db.dialect];
			for (let start = 0; start < values.length; start += width)
				await Promise.all(values.slice(start, start + width).map(encryptAgain));
			// 0 only when a look has found none.
			left = Math.max(1, (left ?? 0) - values.length);
		});
		// The next turn looks whether any is left.
		return PAUSE_MS;
	}

	async function end(isWhole: boolean): Promise<number> {
		// On PostgreSQL a replica of 1.0.0 may have written until it stopped, seconds after the migration.
		if (!(await finish(isWhole && (db.dialect === 'sqlite' || left === 0)))) return UNFINISHED_MS;
		const isNews = left !== 0 && ring.all.length > 1;
		left = 0;
		await hold(AGAIN_MS);
		if (isNews) log.info({}, DONE[db.dialect]);
		return pauseFor(AGAIN_MS);
	}

	/** Without a former key it ends, once nothing of version 1 is read. */
	const isOver = () => ring.all.length === 1 && !ring.opensOld();

	function pauseFor(ms: number): number {
		if (isOver()) stopping.abort();
		return ms;
	}

	async function run(): Promise<void> {
		const onFailure = (code: string) => log.warn('reencryption_failed', { code });
		await repeat(clock.sleep, stopping.signal, turn, { retryMs: LOOK_MS, onFailure });
		// Another replica goes on at once.
		await hold(0).catch(() => undefined);
	}

	return {
		start(): void {
			loop ??= run();
		},
		async stop(): Promise<void> {
			stopping.abort();
			await loop;
		},
	};
}

export const DONE = {
	sqlite:
		'no stored value needs a former key any more, and no file holds one: remove ENCRYPTION_KEY_FORMER. Backups ' +
		'still need it',
	postgres:
		'no stored value needs a former key now. If `npm run doctor` still says so after the last replica was ' +
		'restarted without ENCRYPTION_KEY_WRITE=former, remove ENCRYPTION_KEY_FORMER from all. Backups, and dead ' +
		'rows until VACUUM, still need it',
} as const;
