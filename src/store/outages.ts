import type { Kysely } from 'kysely';
import type { NewAnnouncement } from '../watches/announcements.ts';
import { change, from } from './database.ts';
import type { Cipher } from './encryption.ts';
import { dropPending } from './question-posts.ts';
import { channelOf, type Tables } from './tables.ts';
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
	cipher: Cipher,
	{ service, now, down, since, unlessReadSince }: OutageUpdate,
): Promise<boolean> {
	await trx
		.insertInto('service_outages')
		.values({ service, down_since: null })
		.onConflict((conflict) => conflict.column('service').doNothing())
		.execute();
	const outage = from(trx, 'service_outages', { service }).selectAll().forUpdate();
	const { down_since: downSince } = await outage.executeTakeFirstOrThrow();
	if (down) {
		if (downSince !== null || (await wasReadSince(trx, service, unlessReadSince))) return false;
		const begin = Math.floor(since);
		await change(trx, 'service_outages', { service, down_since: null }).set({ down_since: begin }).execute();
		await queueAnnouncements(trx, cipher, await downNotices(trx, service, begin), now);
		return true;
	}
	if (downSince === null) return false;
	await change(trx, 'service_outages', { service, down_since: downSince }).set({ down_since: null }).execute();
	await queueBackNotices(trx, cipher, { service, since: downSince }, now);
	return true;
}

async function wasReadSince(trx: Kysely<Tables>, service: string, since: number): Promise<boolean> {
	const later = from(trx, 'watched_sessions', { service }).select('session_id').where('last_read_at', '>', since);
	return (await later.limit(1).executeTakeFirst()) !== undefined;
}

async function downNotices(trx: Kysely<Tables>, service: string, since: number): Promise<NewAnnouncement[]> {
	const keys = ['team_id', 'channel_id'] as const;
	const watching = from(trx, 'watches', { service, ended_at: null }).select(keys);
	// A union has each channel once.
	const channels = await watching.union(from(trx, 'discoveries', { service }).select(keys)).execute();
	return channels.map((row) => ({
		target: { kind: 'channel', ...channelOf(row) },
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
	const notice = { unique_key: key, kind: 'serviceDown' };
	await dropPending(trx, { ...notice, sending_since: null });
	const told = from(trx, 'announcements', { ...notice, state: ['posted', 'pending'] });
	const channels = await told.select(['team_id', 'place_id as channel_id']).execute();
	const notices = channels.map(
		(row): NewAnnouncement => ({
			target: { kind: 'channel', ...channelOf(row) },
			key: noticeKey('back', service, since),
			content: { kind: 'serviceBack', since, downMs: Math.max(0, now - since) },
		}),
	);
	await queueAnnouncements(trx, cipher, notices, now);
}

function noticeKey(event: 'down' | 'back', service: string, since: number): string {
	return `${event}:${since}:${service}`;
}
