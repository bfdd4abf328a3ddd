// Owns `service_outages`: that the session service is down, and the notices of it in channels.
import { add, channelOf, from, isFound, remove, type Tx } from '../store/database.ts';
import type { ChannelKey } from '../store/watch.ts';
import { dropPlanned, planPosts } from '../surfaces/plan-store.ts';
import type { PostContent } from '../surfaces/post.ts';

/** `since`: when the first read failed. The service is up if any replica read something since `unlessReadSince`. */
export type OutageUpdate = Readonly<{
	service: string;
	now: number;
	down: boolean;
	since: number;
	unlessReadSince: number;
	code: string;
}>;

/** The transaction of `noteOutage` in `recording-store.ts`. */
export async function noteOutage(
	tx: Tx,
	{ service, down, since, unlessReadSince, code }: OutageUpdate,
): Promise<boolean> {
	const { trx, now } = tx;
	if (down) {
		const known = from(trx, 'service_outages', { service }).select('service').forUpdate();
		const later = from(trx, 'watched_sessions', { service }).select('sessionId');
		if ((await isFound(known)) || (await isFound(later.where('lastReadAt', '>', unlessReadSince)))) return false;
		const begin = Math.floor(since);
		await add(trx, 'service_outages', { service, downSince: begin }).execute();
		const keys = ['teamId', 'channelId'] as const;
		const watching = from(trx, 'watches', { service, endedAt: null }).select(keys);
		// A union drops repeated channels.
		const channels = await watching.union(from(trx, 'discoveries', { service }).select(keys)).execute();
		await planNotices(tx, channels, `down:${begin}:${service}`, { kind: 'serviceDown', since: begin, code });
		return true;
	}
	const ended = await remove(trx, 'service_outages', { service }).returningAll().executeTakeFirst();
	if (ended === undefined) return false;
	const begin = ended.downSince;
	// A channel that was not told of the outage yet is told neither that nor its end.
	const notice = { uniqueKey: `down:${begin}:${service}`, kind: 'serviceDown' };
	await dropPlanned(trx, { ...notice, sendingSince: null });
	const told = from(trx, 'posts', { ...notice, state: ['planned', 'closed'] });
	const channels = await told.select(['teamId', 'placeId as channelId']).execute();
	const back = { kind: 'serviceBack', since: begin, downMs: Math.max(0, now - begin) } as const;
	await planNotices(tx, channels, `back:${begin}:${service}`, back);
	return true;
}

function planNotices(tx: Tx, channels: readonly ChannelKey[], key: string, content: PostContent) {
	const notices = channels.map((row) => ({ target: { kind: 'channel', ...channelOf(row) } as const, key, content }));
	return planPosts(tx, notices);
}
