import type { ModalView } from '@slack/types';
import { type Kysely, sql } from 'kysely';
import {
	type CipherPlace,
	nameInSql,
	placeIn,
	SEALED_COLUMNS,
	type StoreDatabase,
} from '../../src/database/database.ts';
import { readKeys } from '../../src/database/encryption.ts';
import { openKeyRing } from '../../src/database/key-ring.ts';
import { secretsCipher, secretsKeyName } from '../../src/database/secret-wiping.ts';
import { snapshotOf } from '../../src/questions/session-snapshot.ts';
import type { Store } from '../../src/stores.ts';
import { addWatch, assistant, session } from '../features/watch/support.ts';
import { openAt } from './migrating-process.ts';
import { ANN, accepted, BOB, item, LEASE, lease, SERVICE, submission, T0, valuesOf, windowsDue } from './support.ts';

/** Texts of which each is in another encrypted column. */
export const TEXTS = {
	'answers.content': 'blue as the sky',
	'answers.secrets': 'hunter2-of-ann',
	'answers.other': 'red as a rose',
	'drafts.content': 'typed and not sent',
	'windows.view': 'shown in a window',
	'watched_sessions.view': 'the colour of the card',
	'questions.content': 'the colour of the card',
	'questions.handOverNote': 'a note for the holder',
	'waiting_sessions.name': 'the name of a session',
	'people.facts': 'the name of a person',
} as const;

const asks = session({
	sessionId: 's1',
	status: 'humanInput',
	messages: [assistant(TEXTS['watched_sessions.view'], 'Colour')],
});
const view = snapshotOf(asks, T0);
const WINDOW = { type: 'modal', callback_id: TEXTS['windows.view'], blocks: [] } as unknown as ModalView;

/** Stores a value in every encrypted column. Returns what reads all of them back, as JSON. */
export async function storeValues(store: Store) {
	const secret = item(TEXTS['answers.secrets'], { secret: true });
	const held = submission({ sessionId: 's2', items: [item(TEXTS['answers.content']), secret] });
	await accepted(store, held);
	const refused = await accepted(store, submission({ sessionId: 's3', person: BOB }));
	const other = { person: ANN, values: [TEXTS['answers.other']], at: T0, answerId: null, same: false };
	const patch = { state: 'conflicted', other, nextAttemptAt: null } as const;
	await store.answers.update(await lease(store, refused.id), LEASE.token, patch, { now: T0, release: true });
	const { question, person } = held;
	const typed = { formId: 'form', person, question, shownHash: null, updatedAt: T0, fingerprint: 'f' };
	await store.drafts.save({ ...typed, values: { 0: TEXTS['drafts.content'] } });
	await store.windows.shown('V1', { ...person, ...question, fingerprint: 'f', shownHash: 'h', hash: '1' }, WINDOW, T0);
	const watch = await addWatch(store.watches, { view });
	const handed = { teamId: 'T1', session: watch.session, fingerprint: view.question?.fingerprint ?? '', id: 'H1' };
	const people = { watchId: watch.id, channelId: 'C1', from: 'U-ANN', to: 'U-BOB', replaces: null };
	await store.handOvers.handOver({ ...handed, ...people, note: TEXTS['questions.handOverNote'] }, T0);
	const listed = { sessionId: 's9', name: TEXTS['waiting_sessions.name'], updatedAt: null };
	await store.discoveries.replaceWaiting(SERVICE, [listed], { now: T0, isFollowing: false, isCut: false });

	await store.people.told(ANN.teamId, new Map([[ANN.userId, { at: T0, name: TEXTS['people.facts'] }]]));

	return async (from: Store): Promise<string> => {
		const conflicted = await from.answers.get(refused.id);
		await windowsDue(from, question, T0);
		const windows = await from.windows.takeDue(LEASE, 5, T0);
		await from.windows.release([LEASE.token]);
		const shown = (await from.watches.shownOf([watch.id])).get(watch.id);
		return JSON.stringify([
			valuesOf(await from.answers.get(held.id)),
			conflicted?.content.kind === 'readable' ? conflicted.content.other : conflicted?.content.kind,
			(await from.drafts.get('form'))?.values,
			windows.map((window) => window.view),
			[shown?.view, shown?.question?.asked, shown?.question?.note],
			await from.discoveries.waiting(SERVICE),
			[...(await from.people.of(ANN.teamId, [ANN.userId])).values()],
		]);
	};
}

/** The ids of the keys that encrypted the stored values, by column. */
export async function keyIdsOf({ db }: Store): Promise<Record<string, readonly string[]>> {
	const found = SEALED_COLUMNS.map(async ({ table, column }) => {
		const rows = (await db.read.selectFrom(table).selectAll().execute()) as unknown as Record<string, string | null>[];
		const sealed = rows.flatMap((row) => row[column] ?? []);
		return [`${table}.${nameInSql(column)}`, [...new Set(sealed.map((value) => value.split('.')[1] ?? ''))]];
	});
	return Object.fromEntries(await Promise.all(found));
}

const BOUND = SEALED_COLUMNS.filter(({ bound }) => bound !== undefined);

/** The rows with a value that is bound to more than its place. */
async function boundRows({ read }: Pick<StoreDatabase, 'read'>) {
	const found = BOUND.map(async (column) => {
		const all = (read as unknown as Kysely<Record<string, StoredRow>>).selectFrom(column.table).selectAll();
		return (await all.execute()).flatMap((row) => {
			const sealed = row[column.column] ?? null;
			return sealed === null ? [] : [{ column, row, sealed }];
		});
	});
	return (await Promise.all(found)).flat();
}
type StoredRow = Readonly<Record<string, string | null>>;

/** The versions of these values: `1.`, `2.`. */
export async function versionsOf({ db }: Pick<Store, 'db'>): Promise<readonly string[]> {
	return [...new Set((await boundRows(db)).map(({ sealed }) => sealed.slice(0, 2)))].sort();
}

/**
 * Makes of a database that no program uses one of 1.0.0, whose values name their place alone. Returns what puts these values,
 * and what is needed to open them, into it later. `place` as for `openAt`.
 */
export async function asVersion1(place: string, key: string): Promise<() => Promise<void>> {
	const db = openAt(place);
	const ring = await openKeyRing(db, readKeys(key), false);
	const name = secretsKeyName(ring);
	const meta = await db.read.selectFrom('meta').selectAll().where('name', '=', name).execute();
	const secrets = secretsCipher(ring, meta[0]?.value);
	const check = {
		name: 'key_check',
		value: ring.encrypt('handraise', { table: 'meta', id: 'key_check', column: 'value' }),
	};
	const changes = (await boundRows(db)).map(({ column, row, sealed }) => {
		const { table, id, column: own } = placeIn(column, row);
		const cipher = column.isSecret && secrets !== null ? secrets : ring;
		const text = cipher.decrypt(sealed, placeIn(column, row));
		if (text === null) throw new Error(`${table}.${own} of ${id} cannot be read`);
		const old = cipher.encrypt(text, { table, id, column: own } as CipherPlace);
		return sql`update ${sql.table(table)} set ${sql.ref(own)} = ${old} where ${sql.ref(column.keys[0])} = ${id}`;
	});
	const write = (into: StoreDatabase, rows: readonly { name: string; value: string }[]) =>
		into.write(async (trx) => {
			for (const one of changes) await one.execute(trx);
			for (const { name, value } of rows) await sql`update meta set value = ${value} where name = ${name}`.execute(trx);
		});
	await write(db, [check]);
	await db.close();
	return async () => {
		const again = openAt(place);
		await write(again, meta);
		await again.close();
	};
}
