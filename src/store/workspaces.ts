import { sql } from 'kysely';
import type { Log } from '../log.ts';
import type { StoreDatabase } from './database.ts';

/** How many live watches, unsent posts and unfinished answers of a workspace a database has. */
export type LiveWorkspace = { readonly teamId: string; readonly count: number };

/** Selects them, also on the doctor's own connections, so without parameters. */
export const WORKSPACES_QUERY = `
	select team_id as "teamId", cast(count(*) as integer) as count from (
		select team_id from watches where ended_at is null
		union all select team_id from announcements where state = 'pending'
		union all select team_id from answers where next_attempt_at is not null
	) as live group by team_id order by team_id`;

/** Logs in one line which rows of the database are left alone because they are not of the workspace `teamId`. */
export async function warnOfOthers(db: StoreDatabase, teamId: string, log: Log): Promise<void> {
	const { rows } = await sql<LiveWorkspace>`${sql.raw(WORKSPACES_QUERY)}`.execute(db.read);
	const others = rows.filter((row) => row.teamId !== teamId);
	if (others.length > 0) log.warn({ workspace: teamId, others }, LEFT_ALONE);
}

const LEFT_ALONE =
	'watches, posts and answers in the database are of another workspace and are left alone; if no other Handraise uses this database, SLACK_BOT_TOKEN is of the wrong workspace';
