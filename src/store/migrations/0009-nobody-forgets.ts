import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import type { Migration } from '../migrate.ts';

/** Reminders of open questions, settings of channels, snoozes and hand-overs. */
export const nobodyForgets: Migration = {
	number: 9,
	name: 'nobody-forgets',
	async up(db) {
		const { schema } = db;
		await schema
			.createTable('ladders')
			.addColumn('watch_id', 'text', (column) => column.primaryKey())
			.addColumn('team_id', 'text', (column) => column.notNull())
			.addColumn('channel_id', 'text', (column) => column.notNull())
			.addColumn('service', 'text', (column) => column.notNull())
			.addColumn('session_id', 'text', (column) => column.notNull())
			.addColumn('fingerprint', 'text', (column) => column.notNull())
			.addColumn('post_ts', 'text', (column) => column.notNull())
			.addColumn('posted_at', 'bigint', (column) => column.notNull())
			.addColumn('reminded_at', 'bigint')
			.addColumn('escalation_count', 'integer', (column) => column.notNull().defaultTo(0))
			.addColumn('last_rung_at', 'bigint')
			.addColumn('is_ringing', 'integer', (column) => column.notNull().defaultTo(0))
			.addColumn('rung_due_at', 'bigint')
			.addColumn('held_by', 'text')
			.addColumn('due_at', 'bigint')
			.addColumn('change_count', 'integer', (column) => column.notNull().defaultTo(0))
			.addColumn('lease_token', 'text')
			.addColumn('leased_until', 'bigint')
			.execute();
		await sql`create index ladders_due on ladders (service, due_at) where due_at is not null`.execute(db);
		await sql`create index ladders_session on ladders (service, session_id)`.execute(db);
		await sql`create index ladders_channel on ladders (team_id, channel_id)`.execute(db);
		await schema
			.createTable('channel_settings')
			.addColumn('team_id', 'text', (column) => column.notNull())
			.addColumn('channel_id', 'text', (column) => column.notNull())
			.addColumn('settings', 'text', (column) => column.notNull())
			.addColumn('revision', 'integer', (column) => column.notNull())
			.addColumn('changed_by', 'text', (column) => column.notNull())
			.addColumn('changed_at', 'bigint', (column) => column.notNull())
			.addPrimaryKeyConstraint('channel_settings_key', ['team_id', 'channel_id'])
			.execute();
		await schema
			.createTable('snoozes')
			.addColumn('team_id', 'text', (column) => column.notNull())
			.addColumn('user_id', 'text', (column) => column.notNull())
			.addColumn('service', 'text', (column) => column.notNull())
			.addColumn('session_id', 'text', (column) => column.notNull())
			.addColumn('fingerprint', 'text', (column) => column.notNull())
			.addColumn('until', 'bigint', (column) => column.notNull())
			.addPrimaryKeyConstraint('snoozes_key', ['team_id', 'user_id', 'service', 'session_id'])
			.execute();
		await schema
			.createTable('hand_overs')
			.addColumn('team_id', 'text', (column) => column.notNull())
			.addColumn('service', 'text', (column) => column.notNull())
			.addColumn('session_id', 'text', (column) => column.notNull())
			.addColumn('fingerprint', 'text', (column) => column.notNull())
			.addColumn('watch_id', 'text', (column) => column.notNull())
			.addColumn('channel_id', 'text', (column) => column.notNull())
			.addColumn('from_user_id', 'text', (column) => column.notNull())
			.addColumn('to_user_id', 'text', (column) => column.notNull())
			// Names the direct message about it.
			.addColumn('id', 'text', (column) => column.notNull())
			.addColumn('count', 'integer', (column) => column.notNull())
			.addColumn('handed_over_at', 'bigint', (column) => column.notNull())
			.addColumn('given_back_at', 'bigint')
			.addPrimaryKeyConstraint('hand_overs_key', ['service', 'session_id', 'team_id'])
			.execute();
		await sql`create index hand_overs_watch on hand_overs (watch_id)`.execute(db);
		await climbOpenQuestions(db as Kysely<FormerTables>);
	},
};

/** Of the tables before this migration, what it reads. */
interface FormerTables {
	watches: {
		id: string;
		team_id: string;
		channel_id: string;
		service: string;
		session_id: string;
		digest: string | null;
		ended_at: number | null;
	};
	announcements: {
		watch_id: string | null;
		kind: string;
		state: string;
		number: number;
		posted_ts: string | null;
		created_at: number;
	};
	ladders: {
		watch_id: string;
		team_id: string;
		channel_id: string;
		service: string;
		session_id: string;
		fingerprint: string;
		post_ts: string;
		posted_at: number;
		due_at: number;
	};
}

const formerDigest = z.object({
	question: z.object({ fingerprint: z.string(), open: z.array(z.number()).min(1) }),
});

/** Questions that are open now are reminded of too. Their times count from their posts. */
async function climbOpenQuestions(db: Kysely<FormerTables>): Promise<void> {
	const watches = await db.selectFrom('watches').selectAll().where('ended_at', 'is', null).execute();
	for (const { id, team_id, channel_id, service, session_id, digest } of watches) {
		const parsed = parseDigest(digest);
		if (parsed === null) continue;
		const post = await db
			.selectFrom('announcements')
			.select(['posted_ts', 'created_at'])
			.where('watch_id', '=', id)
			.where('kind', '=', 'question')
			.where('state', '=', 'posted')
			.orderBy('number', 'desc')
			.limit(1)
			.executeTakeFirst();
		if (post?.posted_ts == null) continue;
		const { fingerprint } = parsed.question;
		const at = { posted_at: post.created_at, due_at: post.created_at };
		await db
			.insertInto('ladders')
			.values({ watch_id: id, team_id, channel_id, service, session_id, fingerprint, post_ts: post.posted_ts, ...at })
			.execute();
	}
}

function parseDigest(text: string | null) {
	try {
		return formerDigest.safeParse(JSON.parse(text ?? 'null')).data ?? null;
	} catch {
		return null;
	}
}
