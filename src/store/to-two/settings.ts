import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { parseOrNull } from '../../kernel/values.ts';

interface Flagged {
	readonly teamId: string;
	readonly channelId: string;
	readonly discreet: number;
	readonly buttons: number;
	readonly inChannel: number;
	readonly createdBy: string;
	readonly createdAt: number;
}

/**
 * Converts the flags of watches to settings of their channels. A flag of one live watch, or of *watch all*, counts for
 * the whole channel. Where nobody had saved settings, whoever gave the newest flag counts as having saved them.
 */
export async function flagsToSettings(db: Kysely<unknown>): Promise<void> {
	const { rows } = await sql<Flagged>`select * from (
			select team_id, channel_id, discreet, buttons, questions_in_channel as in_channel, created_by, created_at
				from watches where ended_at is null
			union all select team_id, channel_id, discreet, buttons, 1, created_by, created_at from discoveries) as flagged
		where discreet = 1 or buttons = 0 or in_channel = 0 order by created_at`.execute(db);
	for (const flagged of Map.groupBy(rows, (row) => `${row.teamId} ${row.channelId}`).values()) {
		const [{ teamId, channelId }] = flagged as [Flagged];
		const given = {
			...(flagged.some((row) => row.inChannel === 0) && { questionsInThread: true }),
			...(flagged.some((row) => row.discreet === 1) && { discreet: true }),
			...(flagged.some((row) => row.buttons === 0) && { buttons: false }),
		};
		const stored = await sql<{ settings: string }>`select settings from channel_settings
			where team_id = ${teamId} and channel_id = ${channelId}`.execute(db);
		const before = stored.rows[0] === undefined ? {} : parseOrNull(z.looseObject({}), stored.rows[0].settings);
		// With damaged settings, posts show the least in any case.
		if (before === null) continue;
		const { createdBy, createdAt } = flagged.at(-1) as Flagged;
		const settings = JSON.stringify({ ...before, ...given });
		await sql`insert into channel_settings (team_id, channel_id, settings, revision, changed_by, changed_at)
			values (${teamId}, ${channelId}, ${settings}, 1, ${createdBy}, ${createdAt})
			on conflict (team_id, channel_id) do update
				set settings = excluded.settings, revision = channel_settings.revision + 1`.execute(db);
	}
	await sql`update watches set mode = 'card' where mode in ('everything', 'questionsOnly')`.execute(db);
}
