import { sql } from 'kysely';
import type { Db, StoreDatabase } from './database.ts';

/** SQL: whether a row is of the workspace to whose Slack this process writes. While that is unknown, no row is. */
export function isOurs({ workspace }: StoreDatabase, column = 'teamId') {
	return workspace === undefined ? sql<boolean>`true` : sql<boolean>`${sql.ref(column)} = ${workspace()}`;
}

/** How many live watches, unsent posts and unfinished answers of a workspace a database has. */
export type LiveWorkspace = { readonly teamId: string; readonly count: number };

/** Selects `LiveWorkspace`, also on the doctor's own connections, so without parameters. */
export const WORKSPACES_QUERY = `
	select team_id as "teamId", cast(count(*) as integer) as count from (
		select team_id from watches where ended_at is null
		union all select team_id from posts where state = 'planned'
		union all select team_id from answers where next_attempt_at is not null
	) as live group by team_id order by team_id`;

export async function liveWorkspaces(db: Db): Promise<readonly LiveWorkspace[]> {
	return (await sql.raw<LiveWorkspace>(WORKSPACES_QUERY).execute(db)).rows;
}
