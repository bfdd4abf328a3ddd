import { statusKind } from '../../questions/status.ts';
import { quotedName, quotedNameMrkdwn } from '../text.ts';
import { type Names, personMrkdwn } from './people.ts';
import { momentMrkdwn } from './times.ts';

export interface StatusWords {
	readonly emoji: string;
	/** mrkdwn. */
	readonly mrkdwn: string;
	/** For plain text. */
	readonly text: string;
	/** What that means for somebody who came to answer, when no question is open; see `waitingWords`. mrkdwn. */
	readonly meaning: string;
}

const known = {
	active: ['🟢', 'Working', 'The agent is working and has no question right now.'],
	humanInput: ['✋', 'Waiting for a person', 'The agent waits for a person.'],
	inactive: ['⚪', 'Inactive', 'The agent is not running and has no question right now.'],
	paused: ['⏸️', 'Paused', 'The session is paused and has no question right now.'],
	stopped: ['⏹️', 'Stopped', 'The session was stopped. It takes no more answers.'],
	completed: ['✅', 'Completed', 'The agent is done. It takes no more answers.'],
	failed: ['❌', 'Failed', 'The session failed. It takes no more answers.'],
} as const;

/** A session's status for people. One that nobody has seen yet is quoted. */
export function statusWords(status: string): StatusWords {
	const kind = statusKind(status);
	if (kind === 'unknown') {
		return {
			emoji: '❔',
			mrkdwn: quotedNameMrkdwn(status, 60) || 'No status',
			text: quotedName(status, 60) || 'No status',
			meaning: 'There is no question to answer right now.',
		};
	}
	const [emoji, text, meaning] = known[kind];
	return { emoji, mrkdwn: text, text, meaning };
}

/** Who answered a question, and when they did (milliseconds since the epoch). */
export interface SettledBy {
	readonly userId: string;
	readonly at: number;
}

/**
 * What an agent that waits for a person waits for when no question is open. mrkdwn.
 * @param newest the newest question of the session, null when it never asked one
 * @param settledBy whose answer to it arrived, if it is known
 */
export function waitingWords(
	newest: { readonly goneOn: boolean } | null,
	settledBy: SettledBy | null,
	names: Names,
): string {
	if (newest === null) return `The agent waits for a person, but it asked ${ELSEWHERE}`;
	if (newest.goneOn) {
		return `The agent waits for a person, but since its last question was answered it asked ${ELSEWHERE}`;
	}
	const by = settledBy === null ? '' : ` by ${personMrkdwn(settledBy.userId, names)} ${momentMrkdwn(settledBy.at)}`;
	return `The newest question has been answered${by}. The agent should go on soon.`;
}

const ELSEWHERE = 'nothing that can be answered here. Look at its latest message, and at the session in the dashboard.';
