// Owns `audit_events` and `refusals`: what people, agents and operators did, without texts and values.
import { loggedId } from '../core/basics.ts';
import { changesOf, type Db, type Insertable, isPostgres, type Row, sql, type Tables } from './database.ts';

/** Stable words. Those of an answer are its states where it has one: what `/session history` tells. */
// biome-ignore format: a list of words
export const AUDIT_ACTIONS = [
	'asked', 'answered', 'edited', 'undone', 'discarded', 'delivered', 'resumed', 'taken', 'overwritten', 'conflicted',
	'failed', 'refused', 'sentAgain', 'handedOver', 'givenBack', 'watched', 'unwatched', 'settingsChanged',
	'keyChanged', 'personExported', 'personForgotten', 'restored',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** An `actor` that is no person. */
export const PROGRAM = 'program';
export const OPERATOR_ACTOR = 'operator';

export type AuditRow = Row<'audit_events'>;
export type AuditEvent = Pick<AuditRow, 'at'> & { readonly action: AuditAction } & Partial<
		Omit<AuditRow, 'number' | 'transactionId' | 'request'>
	>;

/** Records in a transaction what it does. All events of a transaction are one statement at its end. */
export function recordEvents(trx: Db, ...events: readonly AuditEvent[]): void {
	const changes = changesOf(trx);
	if (changes === undefined || (isPostgres(trx) && !trx.isTransaction))
		throw new Error('an event is recorded in the transaction of what it tells');
	changes.events.push(...events);
}

/** Puts `name` in the place of a person in what this transaction has recorded: their rows are looked through before. */
export function renameRecorded(trx: Db, userId: string, name: string): void {
	const events = changesOf(trx)?.events ?? [];
	const renamed = (value: string | null = null) => (value === userId ? name : value);
	for (const [index, event] of events.entries())
		events[index] = { ...event, actor: renamed(event.actor), about: renamed(event.about) };
}

/** All rows have the same columns, so that a statement is prepared once. */
const NOTHING = {
	actor: null,
	operator: null,
	about: null,
	channelId: null,
	answerId: null,
	fingerprint: null,
	outcome: null,
	count: 1,
};

/** Runs the work of a transaction, and adds the events that it recorded. */
export async function withEvents<T>(trx: Db, work: (trx: Db) => Promise<T>): Promise<T> {
	const value = await work(trx);
	const { events = [], request = null } = changesOf(trx) ?? {};
	if (events.length === 0) return value;
	const rows = events.map((event, index) => ({
		...NOTHING,
		...event,
		// A person may have typed it.
		sessionId: event.sessionId == null ? null : loggedId(event.sessionId),
		request,
		...(isPostgres(trx)
			? { transactionId: sql<number>`pg_current_xact_id()::text::bigint` }
			: {
					transactionId: 0,
					number: sql<number>`(select coalesce(max(number), 0) from audit_events) + ${index + 1}`,
				}),
	}));
	await trx
		.insertInto('audit_events')
		.values(rows as Insertable<Tables['audit_events']>[])
		.execute();
	return value;
}
