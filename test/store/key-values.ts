import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModalView } from '@slack/types';
import { sql } from 'kysely';
import { snapshotOf } from '../../src/domain/session-snapshot.ts';
import { nameInSql, placeIn, placeInSql, SEALED_COLUMNS } from '../../src/store/database.ts';
import { createCipher, parseEncryptionKey, prefixOf } from '../../src/store/encryption.ts';
import { markDue } from '../../src/store/marks.ts';
import type { Store } from '../../src/stores.ts';
import { addWatch, assistant, session } from '../sessions/support.ts';
import { onCopy, readableRemains } from './remains.ts';
import {
	ANN,
	accepted,
	BOB,
	CONNECTIONS,
	formShown,
	inTurns,
	item,
	LEASE,
	lease,
	rowsOf,
	SERVICE,
	submission,
	T0,
	valuesOf,
} from './support.ts';

/** Texts of which each is in another encrypted column. */
export const TEXTS = {
	'answers.content': 'blue as the sky',
	'answers.secrets': 'hunter2-of-ann',
	'answers.other': 'red as a rose',
	'drafts.content': 'typed and not sent',
	'views.view': 'shown in a window',
	'watched_sessions.snapshot': 'the colour of the card',
	'questions.content': 'the colour of the card',
	'questions.handOverNote': 'a note for the holder',
	'waiting_sessions.name': 'the name of a session',
	'people.facts': 'the name of a person',
} as const;

const asks = session({
	sessionId: 's1',
	status: 'humanInput',
	messages: [assistant(TEXTS['watched_sessions.snapshot'], 'Colour')],
});
const snapshot = snapshotOf(asks, T0);
/** After Slack has shown the acknowledgements. */
const LATER = T0 + 60_000;
const WINDOW = { type: 'modal', callback_id: TEXTS['views.view'], blocks: [] } as unknown as ModalView;

/** Stores a value in every encrypted column. Returns what reads all of them back, as JSON. */
export async function storeValues(store: Store) {
	const secret = item(TEXTS['answers.secrets'], { secret: true });
	const held = submission({ sessionId: 's2', items: [item(TEXTS['answers.content']), secret] });
	await accepted(store, held);
	const refused = await accepted(store, submission({ sessionId: 's3', person: BOB }));
	const other = { person: ANN, values: [TEXTS['answers.other']], at: T0, answerId: null, same: false };
	const patch = { state: 'conflicted', other, nextAttemptAt: null } as const;
	await store.answers.update(await lease(store, refused.id), LEASE.token, patch, { now: T0 });
	await store.answers.release([{ id: refused.id, token: LEASE.token }]);
	const { question, person } = held;
	const typed = { formId: 'form', person, question, shownHash: null, updatedAt: T0, fingerprint: 'f' };
	await store.drafts.save({ ...typed, values: { 0: TEXTS['drafts.content'] } });
	await formShown(store, { id: 'V1', question, view: WINDOW }, T0);
	const watch = await addWatch(store.watches, { snapshot });
	const handed = { teamId: 'T1', session: watch.session, fingerprint: snapshot.question?.fingerprint ?? '', id: 'H1' };
	const people = { watchId: watch.id, channelId: 'C1', from: 'U-ANN', to: 'U-BOB', replaces: null };
	await store.handOvers.handOver({ ...handed, ...people, note: TEXTS['questions.handOverNote'] }, T0);
	const listed = { sessionId: 's9', name: TEXTS['waiting_sessions.name'], updatedAt: null };
	await store.discoveries.replaceWaiting(SERVICE, [listed], { now: T0, isFollowing: false, isCut: false });

	await store.people.told(ANN.teamId, new Map([[ANN.userId, { at: T0, name: TEXTS['people.facts'] }]]));

	return async (from: Store): Promise<string> => {
		const conflicted = await from.answers.get(refused.id);
		await from.db.write((trx) => markDue({ trx, now: LATER }, question));
		await from.marks.spread(LATER);
		const windows = await from.views.takeDue(LEASE, 5, { now: LATER, least: 'now' });
		await from.views.release([LEASE.token]);
		const shown = (await from.watches.shownOf([watch.id])).get(watch.id);
		return JSON.stringify([
			valuesOf(await from.answers.get(held.id)),
			conflicted?.content.kind === 'readable' ? conflicted.content.other : conflicted?.content.kind,
			(await from.drafts.get('form'))?.values,
			windows.map((window) => from.views.formOf(window)),
			[shown?.snapshot, shown?.question?.asked, shown?.question?.note],
			await from.discoveries.waiting(SERVICE),
			[...(await from.people.of(ANN.teamId, [ANN.userId])).values()],
		]);
	};
}

/** The ids of the keys that encrypted the stored values, by column. */
export async function keyIdsOf({ db }: Store): Promise<Record<string, readonly string[]>> {
	const found = SEALED_COLUMNS.map(async ({ table, column }) => {
		const rows = (await rowsOf({ db }, table)) as unknown as Record<string, string | null>[];
		const sealed = rows.flatMap((row) => row[column] ?? []);
		return [`${table}.${nameInSql(column)}`, [...new Set(sealed.map((value) => value.split('.')[1] ?? ''))]];
	});
	return Object.fromEntries(await Promise.all(found));
}

/** Every text that is stored encrypted, with its column; `cannot be read` for one that its place does not open. */
export async function textsOf({ db, cipher }: Pick<Store, 'db' | 'cipher'>): Promise<readonly string[]> {
	const found = SEALED_COLUMNS.map(async (column) => {
		const value = sql.ref(column.column);
		const { rows } = await sql<Record<string, unknown>>`select ${sql.raw(placeInSql(column))}, ${value} as sealed
			from ${sql.table(column.table)} where ${value} is not null`.execute(db.read);
		return rows.map((row) => {
			const text = cipher.decrypt(String(row.sealed), placeIn(column, row)) ?? 'cannot be read';
			return `${column.table}.${column.column}: ${text}`;
		});
	});
	return (await Promise.all(found)).flat().toSorted();
}

/** Stores answers, each with another text. */
export async function storeAnswers(store: Store, count: number) {
	const given = Array.from({ length: count }, (_, index) =>
		submission({ sessionId: `s${index}`, items: [item(`value-of-${index}.`)] }),
	);
	await inTurns(given, CONNECTIONS, (one) => accepted(store, one));
	const read = (from: Store) =>
		inTurns(given, CONNECTIONS, async ({ id }) => String(valuesOf(await from.answers.get(id))));
	return { given, read, texts: given.map((_, index) => `value-of-${index}.`) };
}

export const NEW = Buffer.alloc(32, 9).toString('base64');
export const cipherOf = (key: string) => createCipher(parseEncryptionKey(key));

/** Which of the texts, and a ciphertext of this key for each file with one. */
export const filesHold = (directory: string, texts: readonly string[], key: string): string[] =>
	onCopy(directory, (copy) => {
		const entries = readdirSync(copy, { withFileTypes: true }).filter((entry) => !entry.isSocket());
		const files = entries.map(({ name }) => readFileSync(join(copy, name), 'latin1'));
		const ciphertexts = files.filter((file) => file.includes(prefixOf(cipherOf(key).keyId))).map(() => 'a ciphertext');
		return [...readableRemains(copy, parseEncryptionKey(key), texts), ...ciphertexts];
	});
