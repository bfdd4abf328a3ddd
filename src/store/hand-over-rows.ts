import type { HandOver } from '../inbox/hand-over.ts';
import type { Row } from './tables.ts';

export function readHandOver(row: Row<'hand_overs'>): HandOver {
	return {
		id: row.id,
		teamId: row.team_id,
		session: { service: row.service, sessionId: row.session_id },
		fingerprint: row.fingerprint,
		watchId: row.watch_id,
		channelId: row.channel_id,
		from: row.from_user_id,
		to: row.to_user_id,
		count: row.count,
		handedOverAt: row.handed_over_at,
		givenBackAt: row.given_back_at,
	};
}

export function handOverRow(handOver: HandOver): Row<'hand_overs'> {
	return {
		id: handOver.id,
		team_id: handOver.teamId,
		service: handOver.session.service,
		session_id: handOver.session.sessionId,
		fingerprint: handOver.fingerprint,
		watch_id: handOver.watchId,
		channel_id: handOver.channelId,
		from_user_id: handOver.from,
		to_user_id: handOver.to,
		count: handOver.count,
		handed_over_at: handOver.handedOverAt,
		given_back_at: handOver.givenBackAt,
	};
}
