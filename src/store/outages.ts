import type { Kysely } from 'kysely';
import type { NewAnnouncement } from '../watches/announcements.ts';
import { type Dialect, lockRows } from './database.ts';
import type { Cipher } from './encryption.ts';
import { dropPending } from './question-posts.ts';
import type { Tables } from './tables.ts';
import { queueAnnouncements } from './watch-writes.ts';

export interface OutageUpdate {
	/** The service's base address. */
	readonly service: string;
	readonly now: number;
	readonly down: boolean;
	/** When the first read failed, clock milliseconds. */
	readonly since: number;
	/** The service is not down if any replica has read something since. */
	readonly unlessReadSince: number;
}

/** The transaction of `WatchStore.noteOutage`. It locks the outage's row, so that only one replica tells the channels. */
export async function noteOutage(
	trx: Kysely<Tables>,
	dialect: Dialect,
	cipher: Cipher,
	{ service, now, down, since, unlessReadSince }: OutageUpdate,
): Promise<boolean> {
	await trx
		.insertInto('service_outages')
		.values({ service, down_since: null })
		.onConflict((conflict) => conflict.column('service').doNothing())
		.execute();
	const { down_since: downSince } = await trx
		.selectFrom('service_outages')
		.selectAll()
		.where('service', '=', service)
		.$call(lockRows(dialect))
		.executeTakeFirstOrThrow();
	if (down) {
		if (downSince !== null || (await wasReadSince(trx, service, unlessReadSince))) return false;
		const begin = Math.floor(since);
		await trx
			.updateTable('service_outages')
			.set({ down_since: begin })
			.where('service', '=', service)
			.where('down_since', 'is', null)
			.execute();
		await queueAnnouncements(trx, cipher, await downNotices(trx, service, begin), now);
		return true;
	}
	if (downSince === null) return false;
	await trx
		.updateTable('service_outages')
		.set({ down_since: null })
		.where('service', '=', service)
		.where('down_since', '=', downSince)
		.execute();
	await queueBackNotices(trx, cipher, { service, since: downSince }, now);
	return true;
}

async function wasReadSince(trx: Kysely<Tables>, service: string, since: number): Promise<boolean> {
	const read = await trx
		.selectFrom('watched_sessions')
		.select('session_id')
		.where('service', '=', service)
		.where('last_read_at', '>', since)
		.limit(1)
		.executeTakeFirst();
	return read !== undefined;
}

async function downNotices(trx: Kysely<Tables>, service: string, since: number): Promise<NewAnnouncement[]> {
	const channels = await trx
		.selectFrom('watches')
		.select(['team_id', 'channel_id'])
		.distinct()
		.where('service', '=', service)
		.where('ended_at', 'is', null)
		.union(trx.selectFrom('discoveries').select(['team_id', 'channel_id']).where('service', '=', service))
		.execute();
	return channels.map(({ team_id, channel_id }) => ({
		target: { kind: 'channel', teamId: team_id, channelId: channel_id },
		key: noticeKey('down', service, since),
		content: { kind: 'serviceDown', since },
	}));
}

/** A channel that was not told of the outage yet is told of neither the outage nor its end. */
async function queueBackNotices(
	trx: Kysely<Tables>,
	cipher: Cipher,
	{ service, since }: { service: string; since: number },
	now: number,
): Promise<void> {
	const key = noticeKey('down', service, since);
	await dropPending(trx)
		.where('unique_key', '=', key)
		.where('kind', '=', 'serviceDown')
		.where('sending_since', 'is', null)
		.execute();
	const toldChannels = await trx
		.selectFrom('announcements')
		.select(['team_id', 'place_id'])
		.where('unique_key', '=', key)
		.where('kind', '=', 'serviceDown')
		.where('state', 'in', ['posted', 'pending'])
		.execute();
	const notices = toldChannels.map(
		({ team_id, place_id }): NewAnnouncement => ({
			target: { kind: 'channel', teamId: team_id, channelId: place_id },
			key: noticeKey('back', service, since),
			content: { kind: 'serviceBack', since, downMs: Math.max(0, now - since) },
		}),
	);
	await queueAnnouncements(trx, cipher, notices, now);
}

function noticeKey(event: 'down' | 'back', service: string, since: number): string {
	return `${event}:${since}:${service}`;
}
