import type { KnownBlock } from '@slack/types';
import type { Session } from '../../questions/session.ts';
import { oneLineMrkdwn } from '../text.ts';
import { statusWords } from '../words.ts';
import { context, section } from './parts.ts';
import { sessionName } from './receipt.ts';
import { statusLine } from './session-headline.ts';

/** A session in two blocks, without any link: for cards in channels. */
export function sessionSummaryBlocks(session: Session, now: number): KnownBlock[] {
	const name = oneLineMrkdwn(session.name, 150);
	return [
		...section(name === '' ? `Session *${oneLineMrkdwn(session.sessionId, 100)}*` : `*${name}*`),
		...context(statusLine(session, now), name === '' ? '' : sessionName(session.sessionId)),
	];
}

/** The same for the `text` of a message. */
export function sessionSummaryText(session: Session): string {
	const name = oneLineMrkdwn(session.name, 150) || `Session ${oneLineMrkdwn(session.sessionId, 100)}`;
	return `${name}: ${statusWords(session.status).mrkdwn}`;
}
