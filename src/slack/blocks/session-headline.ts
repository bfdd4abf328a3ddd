import type { KnownBlock } from '@slack/types';
import { ageOf, stepOf } from '../../questions/progress.ts';
import type { Session } from '../../questions/session.ts';
import { isOver } from '../../questions/status.ts';
import { isBlank } from '../text.ts';
import { durationText, sessionTitle, statusWords } from '../words.ts';
import { section } from './parts.ts';

/** An age of seconds reads like a mistake. */
const WORTH_SAYING_MS = 10_000;

/** `🟢 Working · step 12 of 30 · for 5 min`, mrkdwn. */
function statusLine(session: Session, now: number): string {
	const { emoji, mrkdwn } = statusWords(session.status);
	const { step, maxSteps } = stepOf(session);
	const age = ageOf(session, now);
	const parts = [`${emoji} *${mrkdwn}*`, step === 0 ? 'no step yet' : `step ${step} of ${maxSteps}`];
	if (age !== null && age >= WORTH_SAYING_MS)
		parts.push(isOver(session.status) ? `took ${durationText(age)}` : `for ${durationText(age)}`);
	return parts.join(' · ');
}

/** Name, status, step and age in one block. */
export function sessionHeadline(session: Session, now: number): KnownBlock[] {
	const line = statusLine(session, now);
	return section(isBlank(session.name) ? line : `*${sessionTitle(session.name, session.sessionId)}*\n${line}`);
}
