import { randomUUID } from 'node:crypto';
import type * as RowsModule from '../../src/delivery/rows-store.ts';
import { snapshotOf } from '../../src/domain/session-snapshot.ts';
import type * as DatabaseModule from '../../src/store/database.ts';
import type { Store } from '../../src/stores.ts';
import { NO_LIMITS } from '../../test/sessions/support.ts';
import { item, submission } from '../../test/store/support.ts';
import { firstFound } from '../../test/support/found.ts';
import { gatedResponse } from '../../test/support/sessions.ts';
import { reportSession } from '../figures/sessions.ts';

/** What the measured program has of these modules. */
export interface Modules {
	readonly database: typeof DatabaseModule;
	readonly rows: typeof RowsModule;
}

export interface Sizes {
	readonly answers: number;
	readonly questions: number;
	readonly posts: number;
	readonly watches: number;
	/** Watches that have not ended. */
	readonly live: number;
	/** Answers in one session. */
	readonly session: number;
	/** Posts that are due. */
	readonly due: number;
}

export const SERVICE = 'https://service.example';
export const TEAM = 'T0ACME';
export const PEOPLE = 2_000;
const CHANNELS = 500;
/** The session with many answers. */
export const BIG = 'big';
const DAY_MS = 86_400_000;
/** Of these answers, somebody else's was first. */
const SECOND = 5_000;
const OPEN_QUESTIONS = 300;
const AT_ONCE = 500;

/** The session that asks, as it is read. */
export function sessionAsking(sessionId: string) {
	const session = gatedResponse({ session: reportSession() }, sessionId);
	if (session === null) throw new Error('the sample session cannot be read');
	return session;
}

/**
 * Fills an empty database: few rows by the program, the others as copies of them in one statement for each table. A copy cannot be
 * decrypted, so what the measured work decrypts is encrypted here: the answers in one session, and who was first.
 */
export async function fill(store: Store, { database, rows }: Modules, sizes: Sizes, now: number): Promise<void> {
	const { sql } = database;
	const run = (statement: string) => store.db.write((trx) => sql.raw(statement).execute(trx));
	const copy = (table: string, count: number, values: Readonly<Record<string, string>>) =>
		store.db.write(async (trx) => {
			const { rows: found } = await sql<object>`select * from ${sql.table(table)} limit 1`.execute(trx);
			const columns = Object.keys(found[0] ?? {}).map(database.nameInSql);
			const of = columns.map((column) => values[column] ?? `copied.${column}`);
			const copying = `insert into ${table} (${columns.join(', ')})
				with recursive n(i) as (select cast(1 as bigint) union all select n.i + 1 from n where n.i < ${count})
				select ${of.join(', ')} from (select * from ${table} limit 1) as copied, n`;
			await sql.raw(copying).execute(trx);
		});

	await template(store, now);
	const isLive = `n.i <= ${sizes.live}`;
	await copy('watched_sessions', sizes.watches, {
		session_id: `'s' || n.i`,
		next_read_at: `case when ${isLive} then ${now} + n.i * 60 end`,
		read_by: `${now} + n.i * 60`,
		last_read_at: `${now} - 1000`,
	});
	await copy('watches', sizes.watches, {
		id: `'w' || n.i`,
		channel_id: `'C' || (n.i % ${CHANNELS})`,
		session_id: `'s' || n.i`,
		created_by: `'U' || (n.i % ${PEOPLE})`,
		ended_at: `case when ${isLive} then null else ${now} - n.i * ${Math.floor((7 * DAY_MS) / sizes.watches)} end`,
		ended_reason: `case when ${isLive} then null else 'noChange' end`,
	});
	const ofSession = `'s' || (1 + n.i % ${sizes.watches})`;
	const isOpen = `n.i > ${sizes.questions} - ${sizes.watches} and n.i % ${sizes.watches} < ${OPEN_QUESTIONS}`;
	const askedAt = `${now} - ${7 * DAY_MS} + (n.i * ${Math.floor((7 * DAY_MS) / sizes.questions)})`;
	await copy('questions', sizes.questions, {
		id: `'q' || n.i`,
		session_id: ofSession,
		number: `n.i + 10`,
		asked_at: askedAt,
		settled_at: `case when ${isOpen} then null else ${askedAt} + (n.i * 7919) % 600000 end`,
		settled_how: `case when ${isOpen} then null when n.i % 10 < 7 then 'answered' else 'closed' end`,
	});
	const isDue = `n.i % ${Math.max(1, Math.floor(sizes.posts / sizes.due))} = 0`;
	await copy('posts', sizes.posts, {
		id: `'p' || n.i`,
		stream: `'watch:w' || (1 + n.i % ${sizes.watches})`,
		number: `n.i + 10`,
		unique_key: `'k' || n.i`,
		place_id: `'C' || ((1 + n.i % ${sizes.watches}) % ${CHANNELS})`,
		watch_id: `'w' || (1 + n.i % ${sizes.watches})`,
		session_id: ofSession,
		question_id: `'q' || n.i`,
		kind: `'question'`,
		content: `'{"kind":"question","changed":false}'`,
		state: `case when ${isDue} then 'shown' else 'closed' end`,
		due_at: `case when ${isDue} then ${now} - n.i end`,
		urgency: '1',
		ts: `'17' || n.i`,
		created_at: `${now} - ${7 * DAY_MS} + (n.i * ${Math.floor((7 * DAY_MS) / sizes.posts)})`,
		shown_at: `${now} - ${7 * DAY_MS} + (n.i * ${Math.floor((7 * DAY_MS) / sizes.posts)})`,
	});
	const acceptedAt = `${now} - ${180 * DAY_MS} + (n.i * ${Math.floor((180 * DAY_MS) / sizes.answers)})`;
	await copy('answers', sizes.answers - sizes.session, {
		id: `'a' || n.i`,
		submission_key: `'a' || n.i`,
		user_id: `'U' || (n.i % ${PEOPLE})`,
		session_id: ofSession,
		message_index: 'n.i',
		state: `case when n.i % 20 = 0 then 'conflicted' when n.i % 7 = 0 then 'delivered' else 'resumed' end`,
		agent_outcome: `'unseen'`,
		accepted_at: acceptedAt,
		delivered_at: `case when n.i % 20 = 0 then null else ${acceptedAt} end`,
		ended_at: acceptedAt,
		next_attempt_at: 'null',
	});
	await run(`update posts set remind_since = created_at where kind = 'question' and exists (select 1 from questions
		where questions.id = posts.question_id and settled_at is null)`);
	await run(`insert into posts (id, stream, number, unique_key, team_id, place_id, kind, content, state, created_at, due_at,
		waits_as) select distinct 'r:' || channel_id, 'channel:' || team_id || ':' || channel_id, 1, 'reminder', team_id,
			channel_id, 'reminder', '{"kind":"reminder","entries":[]}', 'planned', ${now}, ${now} + 60000, 'held'
			from watches where ended_at is null`);
	await answersOfBig(store, { database, rows }, sizes.session, now);
	await whoWasFirst(store, { database, rows });
	if (store.db.dialect === 'postgres') await sql`analyze`.execute(store.db.read);
}

/** A row of each table, of the program. */
async function template(store: Store, now: number): Promise<void> {
	const session = { service: SERVICE, sessionId: BIG };
	const place = { teamId: TEAM, channelId: 'C0' };
	const id = randomUUID();
	const snapshot = snapshotOf(sessionAsking(BIG), now);
	await store.watches.add({
		id,
		...place,
		session,
		createdBy: 'U0',
		createdAt: now,
		card: { target: { kind: 'watch', watchId: id, ...place }, key: 'card', content: { kind: 'card' } },
		snapshot,
		found: firstFound(snapshot),
		limits: NO_LIMITS,
	});
	const posted = { state: 'shown', dueAt: null, ts: '17.1', shownAt: now };
	await store.db.writeOne((trx) => trx.updateTable('posts').set(posted).execute());
	await store.answers.accept(answerOf('template', 1, now));
	const over = { state: 'resumed', nextAttemptAt: null, deliveredAt: now - 1, endedAt: now - 1 };
	await store.db.writeOne((trx) => trx.updateTable('answers').set(over).execute());
}

function answerOf(id: string, messageIndex: number, acceptedAt: number, fingerprint = 'another') {
	return submission({
		id,
		submissionKey: id,
		person: { teamId: TEAM, userId: `U${messageIndex % PEOPLE}` },
		question: { service: SERVICE, sessionId: BIG, messageIndex },
		fingerprint,
		items: [item('As it stands on the cover, please')],
		acceptedAt,
	});
}

/** Half of them are to what the agent asks now. */
async function answersOfBig(store: Store, { rows }: Modules, count: number, now: number): Promise<void> {
	const asked = sessionAsking(BIG).messages.find(({ humanInput }) => humanInput.length > 0);
	const arrived = { state: 'resumed', agentOutcome: 'resumed', nextAttemptAt: null };
	for (let from = 0; from < count; from += AT_ONCE) {
		const values = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, index) => {
			const number = from + index + 1;
			const at = now - (count - number) * 1_000;
			const answer = answerOf(`big${number}`, number + 1_000, at, number % 2 === 0 ? asked?.fingerprint : undefined);
			const timeline = [
				{ state: 'accepted', at },
				{ state: 'delivered', at, arrival: number },
			];
			const before = { status: 'humanInput', assistantCount: number, sameCount: 0, stepsSince: 0, sameBefore: number };
			const ended = {
				deliveredAt: at,
				endedAt: at,
				timeline: JSON.stringify(timeline),
				beforePut: JSON.stringify(before),
			};
			return { ...rows.newRow(answer, store.cipher), ...arrived, ...ended };
		});
		await store.db.write((trx) => trx.insertInto('answers').values(values).execute());
	}
}

async function whoWasFirst(store: Store, { database, rows }: Modules): Promise<void> {
	const { db, cipher } = store;
	const second = db.read.selectFrom('answers').selectAll().where('state', '=', 'conflicted').limit(SECOND);
	const found = await second.execute();
	await db.write(async (trx) => {
		for (const [index, row] of found.entries()) {
			const person = { teamId: TEAM, userId: `U${index % PEOPLE}` };
			const first = { answerId: null, person, values: ['their words'], at: 1, same: false };
			await database
				.change(trx, 'answers', { id: row.id }, { other: rows.otherColumn.seal(first, row, cipher) })
				.execute();
		}
	});
}
