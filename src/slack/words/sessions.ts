import { type AgentAction, statusKind } from '../../questions/session.ts';
import type { RefusedLink } from '../links.ts';
import { oneLine, oneLineMrkdwn, quotedName, quotedNameMrkdwn } from '../text.ts';
import { type Names, personMrkdwn } from './people.ts';
import { durationText, momentMrkdwn } from './times.ts';

/** The characters of ordinary ids. A link can carry any text as an id. */
const ID = /^[\w.-]+$/;
/** Slack shows 24 characters of a view's title. */
const TITLE_ID = 24 - 'Session '.length;

/** A session's id, between quotation marks if it does not look like an id. mrkdwn. */
export function sessionIdMrkdwn(sessionId: string): string {
	return ID.test(sessionId) ? oneLineMrkdwn(sessionId, 100) : quotedNameMrkdwn(sessionId, 100) || '(no id)';
}

/** `session *3f9a2c1d*`. mrkdwn. */
export function sessionName(sessionId: string): string {
	return `session *${sessionIdMrkdwn(sessionId)}*`;
}

/** `Session “Book a flight”`, or its id if it has no name. mrkdwn without emphasis. */
export function sessionTitle(name: string, sessionId: string): string {
	return `Session ${quotedNameMrkdwn(name, 150) || sessionIdMrkdwn(sessionId)}`;
}

/** The title of a view about a session. */
export function viewTitle(sessionId: string): string {
	const id = ID.test(sessionId) ? oneLine(sessionId, TITLE_ID) : quotedName(sessionId, TITLE_ID);
	return `Session ${id}`.trim();
}

export interface StatusWords {
	readonly emoji: string;
	/** mrkdwn. */
	readonly mrkdwn: string;
	/** For people who want to answer when no question is open; see `waitingWords`. mrkdwn. */
	readonly meaning: string;
}

const STATUSES = {
	active: ['🟢', 'Working', 'The agent is working and has no question right now.'],
	humanInput: ['✋', 'Waiting for a person', 'The agent waits for a person.'],
	inactive: ['⚪', 'Inactive', 'The agent is not running and has no question right now.'],
	paused: ['⏸️', 'Paused', 'The session is paused and has no question right now.'],
	stopped: ['⏹️', 'Stopped', 'The session was stopped. It takes no more answers.'],
	completed: ['✅', 'Completed', 'The agent is done. It takes no more answers.'],
	failed: ['❌', 'Failed', 'The session failed. It takes no more answers.'],
} as const;

/** A session's status for people. An unknown status is quoted. */
export function statusWords(status: string): StatusWords {
	const kind = statusKind(status);
	if (kind === 'unknown') {
		const mrkdwn = quotedNameMrkdwn(status, 60) || 'No status';
		return { emoji: '❔', mrkdwn, meaning: 'There is no question to answer right now.' };
	}
	const [emoji, mrkdwn, meaning] = STATUSES[kind];
	return { emoji, mrkdwn, meaning };
}

/** `step 12 of 30`; `no step yet` for step 0. */
export function stepWords({ step, maxSteps }: { readonly step: number; readonly maxSteps: number }): string {
	return step === 0 ? 'no step yet' : `step ${step} of ${maxSteps}`;
}

/** Who answered a question, and when they did (milliseconds since the epoch). */
export interface SettledBy {
	readonly userId: string;
	readonly at: number;
}

/** Why an agent waits for a person although no question is open. `newest`: the session's newest question. mrkdwn. */
export function waitingWords(
	newest: { readonly goneOn: boolean } | null,
	settledBy: SettledBy | null,
	names: Names,
): string {
	if (newest === null || newest.goneOn) {
		const asked =
			newest === null
				? 'The agent waits for a person, but it asked nothing'
				: 'The agent waits for a person. Its last question was answered, and it asked nothing new';
		return `${asked} that can be answered here. Look at its latest message, or at the session in the dashboard.`;
	}
	const by = settledBy === null ? '' : ` by ${personMrkdwn(settledBy.userId, names)} ${momentMrkdwn(settledBy.at)}`;
	return `The newest question has been answered${by}. The agent should go on soon.`;
}

export function stillWaitingWords(waitedMs: number): string {
	return `Still waiting for the session service… (${durationText(waitedMs)})`;
}

/** `clicked`, `opened “example.com”`, `saved “report.pdf”`; unknown actions by their name. mrkdwn. */
function actionWords(action: AgentAction): string {
	switch (action.kind) {
		case 'click':
			return 'clicked';
		case 'open': {
			const host = quotedNameMrkdwn(action.host, 80);
			return host === '' ? 'opened a page' : `opened ${host}`;
		}
		case 'done':
			return 'finished';
		case 'saveFile': {
			const file = quotedNameMrkdwn(action.filename, 80) || 'a file';
			return `${action.deleted ? 'deleted' : 'saved'} ${file}`;
		}
		case 'other':
			return quotedNameMrkdwn(action.name.replaceAll('_', ' '), 60) || 'did something';
	}
}

/** At most `most` actions on one line; repeated ones are counted. Empty when there are none. */
export function actionsLine(actions: readonly AgentAction[], most = 6): string {
	const counted: { words: string; count: number }[] = [];
	for (const action of actions.slice(0, 50)) {
		const words = actionWords(action);
		const last = counted.at(-1);
		if (last?.words === words) last.count += 1;
		else counted.push({ words, count: 1 });
	}
	const shown = counted.slice(0, most);
	const shownCount = shown.reduce((sum, { count }) => sum + count, 0);
	const parts = shown.map(({ words, count }) => (count === 1 ? words : `${words} ×${count}`));
	return joined(...parts, andMoreWords(actions.length - shownCount));
}

/** The parts that are not empty, on one line. */
export function joined(...parts: readonly string[]): string {
	return parts.filter((part) => part !== '').join(' · ');
}

/** `1 question`, `3 questions`. */
export function questionCountWords(count: number): string {
	return `${count} ${count === 1 ? 'question' : 'questions'}`;
}

/** `and 3 more`, with `what` behind it; empty when nothing is left out. */
export function andMoreWords(count: number, what = ''): string {
	return count > 0 ? `and ${count} more ${what}`.trim() : '';
}

/** Why links are not shown. */
const REFUSED_LINKS: Readonly<Record<RefusedLink, string>> = {
	privateNetwork: 'private network',
	notHttps: 'not https',
	userName: 'user name in the link',
	unusable: 'not a usable link',
};

/** `2 files: links not shown (private network)` */
export function refusedFilesWords(why: RefusedLink, count: number): string {
	return `${count === 1 ? '1 file: link' : `${count} files: links`} not shown (${REFUSED_LINKS[why]})`;
}

/** `Latest screenshot: link not shown (private network)` */
export function refusedScreenshotWords(why: RefusedLink): string {
	return `${SCREENSHOT_TITLE}: link not shown (${REFUSED_LINKS[why]})`;
}

export const SCREENSHOT_TITLE = 'Latest screenshot';
export const SCREENSHOT_TEXT = "The agent's latest screenshot";
export const NO_SCREENSHOT = 'There is no screenshot of this session.';
export const SCREENSHOT_NOT_LOADED = 'Slack could not load the screenshot; this opens it in the browser:';
export const LINKS_FOR_YOU =
	'Only you see this. The links work for seven days for anybody who has them, so do not share them.';

/** Above the files of a session. */
export function filesWords(count: number): string {
	if (count === 0) return 'This session has no files.';
	return count === 1 ? 'The file of this session' : `The ${count} files of this session`;
}
