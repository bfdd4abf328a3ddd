import { statusKind } from '../../questions/status.ts';
import { oneLine, oneLineMrkdwn } from '../text.ts';

export interface StatusWords {
	readonly emoji: string;
	/** mrkdwn. */
	readonly mrkdwn: string;
	/** For plain text. */
	readonly text: string;
	/** What that means for somebody who came to answer, when no question is open. mrkdwn. */
	readonly meaning: string;
}

const known = {
	active: ['🟢', 'Working', 'The agent is working and has no question right now.'],
	humanInput: ['✋', 'Waiting for a person', 'The question has been answered. The agent should go on soon.'],
	inactive: ['⚪', 'Inactive', 'The agent is not running and has no question right now.'],
	paused: ['⏸️', 'Paused', 'The session is paused and has no question right now.'],
	stopped: ['⏹️', 'Stopped', 'The session was stopped. It takes no more answers.'],
	completed: ['✅', 'Completed', 'The agent is done. It takes no more answers.'],
	failed: ['❌', 'Failed', 'The session failed. It takes no more answers.'],
} as const;

/** A session's status for people. One that nobody has seen yet is shown as it is. */
export function statusWords(status: string): StatusWords {
	const kind = statusKind(status);
	if (kind === 'unknown') {
		return {
			emoji: '❔',
			mrkdwn: oneLineMrkdwn(status, 60) || 'No status',
			text: oneLine(status, 60) || 'No status',
			meaning: 'There is no question to answer right now.',
		};
	}
	const [emoji, text, meaning] = known[kind];
	return { emoji, mrkdwn: text, text, meaning };
}
