// Owns `shared_states` and `meta`, with other files of this folder: what replicas share, and letters to the program.
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Clock } from '../kernel/clock.ts';
import { createMemoryState, type SharedState } from '../kernel/memory.ts';
import { removeInBatches } from './batches.ts';
import { add, addNew, type Cipher, change, type Db, from, type Row, remove, type StoreDatabase } from './database.ts';
import { lookAt } from './due.ts';
import { metaPlace } from './encryption.ts';

/**
 * How the names of letters begin: rows with a request to the program, or its reply. Each is encrypted for its name
 * alone.
 */
const LETTERS = { ask: 'person:ask:', reply: 'person:reply:' } as const;

/** The letters of one request. The program replies in the row of the request. */
export function createLetters(db: StoreDatabase, cipher: Cipher, id: string) {
	const [name, replied] = [`${LETTERS.ask}${id}`, `${LETTERS.reply}${id}`];

	/** Removes a letter and resolves to its text; undefined: it is gone, or somebody works on it. */
	const taken = (name: string) =>
		db.writeOne(async (trx) => {
			const free = from(trx, 'shared_states', { name }).select('name').forUpdate().skipLocked();
			return (await remove(trx, 'shared_states', { name: free }).returning('state').executeTakeFirst())?.state;
		});

	return {
		ask(text: string, changedAt: number) {
			const state = cipher.encrypt(text, metaPlace(name));
			return db.writeOne((trx) => add(trx, 'shared_states', { name, state, changedAt }).execute());
		},
		/** Undefined: there is none yet. Null: it cannot be read. */
		async takeReply() {
			const reply = await taken(replied);
			return reply && cipher.decrypt(reply, metaPlace(replied));
		},
		/** False: somebody works on it, or it is gone. */
		takeBack: async () => (await taken(name)) !== undefined,
	};
}

/** When the oldest letter was written that `takeAsked` takes or removes; null: there is none. */
export const nextLetter = (db: StoreDatabase, before: number) =>
	lookAt(
		db,
		sql`(select min(changed_at) from shared_states where name like ${`${LETTERS.ask}%`}
			or (changed_at < ${before} and name like 'person:%'))`,
	);

/**
 * Locks and returns the newest request; null: there is none that this key opens. An older one of another key blocks
 * nothing. Removes letters from before `before`, for which nobody waits any more.
 */
export async function takeAsked(trx: Db, cipher: Cipher, before: number) {
	const old = remove(trx, 'shared_states').where('changedAt', '<', before);
	await old.where('name', 'like', 'person:%').execute();
	const asks = from(trx, 'shared_states').where('name', 'like', `${LETTERS.ask}%`).selectAll();
	const newest = asks.orderBy('changedAt', 'desc').limit(1);
	const letter = await newest.forUpdate().skipLocked().executeTakeFirst();
	const asked = letter && cipher.decrypt(letter.state, metaPlace(letter.name));
	return letter === undefined || asked == null ? null : { letter, asked };
}

/** Puts the reply in place of a request. Null: it has none. */
export function replyTo(trx: Db, { name }: Row<'shared_states'>, reply: string | null, cipher: Cipher) {
	if (reply === null) return remove(trx, 'shared_states', { name }).execute();
	const replied = name.replace(LETTERS.ask, LETTERS.reply);
	const state = cipher.encrypt(reply, metaPlace(replied));
	return change(trx, 'shared_states', { name }, { name: replied, state }).execute();
}

/** Removes what nobody has changed since `before`. */
export const removeOldStates = (db: StoreDatabase, before: number) =>
	removeInBatches(db, 'shared_states', sql<boolean>`changed_at < ${before}`);

const NAME_SALT = { name: 'name_salt' };

/** The salt of people's names in the audit, made when it is first asked for. */
export async function nameSalt(trx: Db): Promise<string> {
	await addNew(trx, 'meta', { ...NAME_SALT, value: randomBytes(16).toString('hex') }).execute();
	return (await from(trx, 'meta', NAME_SALT).select('value').executeTakeFirstOrThrow()).value;
}

/** With another salt the names in lines so far mean nobody. */
export const removeNameSalt = (trx: Db) => remove(trx, 'meta', NAME_SALT).execute();

type WaitingChange<S> = Omit<PromiseWithResolvers<unknown>, 'promise'> & {
	change(state: S | null): { state: S; result: unknown };
};

/** Makes states that processes share: rows on PostgreSQL, in memory for the only process on SQLite. */
export function sharedStatesOf(store: { db: StoreDatabase; clock: Clock }) {
	const isShared = store.db.dialect === 'postgres';
	return <S>(name: string) => (isShared ? createSharedState<S>(store, name) : createMemoryState<S>(store.clock));
}

/**
 * A state that replicas share. One statement takes all changes that wait, unless another replica has changed the state
 * since this one last saw it: then it is read and changed anew.
 */
export function createSharedState<S>({ db, clock }: { db: StoreDatabase; clock: Clock }, name: string): SharedState<S> {
	let waiting: WaitingChange<S>[] = [];
	let isRunning = false;
	/** The state as last seen, as JSON; null: there was none. */
	let seen: string | null = null;

	const newest = async () =>
		(await from(db.read, 'shared_states', { name }).select('state').executeTakeFirst())?.state ?? null;

	/** False: it was not as last seen. */
	const replace = (state: string) =>
		db.writeOne(async (trx) => {
			const written = { state, changedAt: clock.now() };
			if (seen === null) {
				const { numInsertedOrUpdatedRows } = await addNew(trx, 'shared_states', {
					name,
					...written,
				}).executeTakeFirst();
				return numInsertedOrUpdatedRows === 1n;
			}
			// A crash may lose the latest counts, soon outdated.
			const unsynced = sql`(select set_config('synchronous_commit', 'off', true))`.as('unsynced');
			const { numUpdatedRows } = await change(trx, 'shared_states', { name, state: seen }, written)
				.$if(db.dialect === 'postgres', (query) => query.from(unsynced) as typeof query)
				.executeTakeFirst();
			return numUpdatedRows === 1n;
		});

	async function apply(changes: readonly WaitingChange<S>[]): Promise<unknown[]> {
		for (;;) {
			// No schema check: only this program writes the state, and it is outdated after minutes.
			const before = seen === null ? null : (JSON.parse(seen) as S);
			let state: S | null = before;
			const results = changes.map((one) => {
				const changed = one.change(state);
				({ state } = changed);
				return changed.result;
			});
			const isUnchanged = state === null || state === before;
			const next = isUnchanged ? seen : JSON.stringify(state);
			if (!isUnchanged && (await replace(next as string))) {
				seen = next;
				return results;
			}
			const found = await newest();
			if (isUnchanged && found === seen) return results;
			seen = found;
		}
	}

	async function run(): Promise<void> {
		isRunning = true;
		while (waiting.length > 0) {
			const changes = waiting;
			waiting = [];
			try {
				const results = await apply(changes);
				for (const [index, { resolve }] of changes.entries()) resolve(results[index]);
			} catch (error) {
				for (const { reject } of changes) reject(error);
			}
		}
		isRunning = false;
	}

	return {
		update<R>(change: (state: S | null) => { state: S; result: R }) {
			const { promise, resolve, reject } = Promise.withResolvers<R>();
			waiting.push({ change, resolve: resolve as (result: unknown) => void, reject });
			if (!isRunning) void run();
			return promise;
		},
	};
}
