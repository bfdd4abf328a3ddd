/** How the questions of a session ended lately in one channel. */
export interface Endings {
	/** How many ended, or got another text, without an answer in the last `COUNTED_MS`. */
	readonly unansweredCount: number;
	/** When the newest of them ended, clock milliseconds. */
	readonly unansweredAt: number;
	/** Whether the newest question that ended was answered: what an agent asks after an answer always notifies. */
	readonly isNewestAnswered: boolean;
	/** Whether our answer to the open question arrived. A fast agent may ask something else before a read shows that. */
	readonly isAnswered: boolean;
}

export const NO_ENDINGS: Endings = { unansweredCount: 0, unansweredAt: 0, isNewestAnswered: false, isAnswered: false };
export const COUNTED_MS = 10 * 60_000;
/** From this many on, a session gets one post for all its questions. */
const SWITCHING_FROM = 6;
/** A question of such a session that stays for this long is posted by itself. */
export const REST_MS = 60_000;
/** The least time between two updates of such a post, and of the session's card. */
export const SHOWN_EVERY_MS = 10_000;
/** The key of an announcement that tells that a question ended, or got another text, without an answer begins with this. */
export const UNANSWERED = 'unanswered:';

/** The endings after one more. `isAnswered`: as a read shows it. */
export function withEnding(endings: Endings, isAnswered: boolean, at: number): Endings {
	if (isAnswered || endings.isAnswered) return { ...endings, isNewestAnswered: true };
	const unansweredCount = endings.unansweredCount + 1;
	return { ...endings, unansweredCount, unansweredAt: at, isNewestAnswered: false };
}

/** Whether the session changes its question so often that the next one notifies only when it has rested. */
export function isSwitching({ unansweredCount, isNewestAnswered }: Endings): boolean {
	return unansweredCount >= SWITCHING_FROM && !isNewestAnswered;
}
