import {
	type Answer,
	type AnswerItem,
	type AnswerState,
	isBlocking,
	isSettled,
	type OtherAnswer,
	type TimelineEntry,
} from '../answers/answer.ts';
import type { AnswerPatch } from '../answers/ports.ts';
import { type AnswerRow, readTimeline, readTold, sealOther } from './answer-rows.ts';
import type { Cipher } from './cipher.ts';
import { WITHOUT_LEASE } from './columns.ts';

/** Columns to write. */
export type RowChange = Partial<AnswerRow>;

/**
 * What entering `next` writes besides the state itself: the timeline, the time of the end, and, once nothing will be
 * sent any more, the wiping of secret values in the same write.
 */
export function enterState(row: AnswerRow, next: AnswerState, now: number): RowChange {
	const settled = isSettled(next);
	return {
		state: next,
		timeline: JSON.stringify(appendState(readTimeline(row), next, now)),
		ended_at: settled ? (row.ended_at ?? now) : null,
		...(settled && { secrets: null }),
	};
}

/**
 * A change between `accepted` and `delivering` is noted once until another state comes, or an answer that is tried again
 * for a day would grow without bound.
 */
function appendState(timeline: readonly TimelineEntry[], next: AnswerState, at: number): readonly TimelineEntry[] {
	if (timeline.at(-1)?.state === next) return timeline;
	if (isBlocking(next)) {
		for (let index = timeline.length - 1; index >= 0; index--) {
			const entry = timeline[index];
			if (entry === undefined || !isBlocking(entry.state)) break;
			if (entry.state === next) return timeline;
		}
	}
	return [...timeline, { state: next, at }];
}

/** The columns of a worker's patch. */
export function patchRow(row: AnswerRow, patch: AnswerPatch, now: number, cipher: Cipher): RowChange {
	return {
		...(patch.state !== undefined && patch.state !== row.state && enterState(row, patch.state, now)),
		...(patch.attempts !== undefined && { attempts: patch.attempts }),
		// A wish that came meanwhile stays due.
		...(patch.nextAttemptAt !== undefined &&
			(row.restart_asked_at === null || patch.restartAskedAt !== undefined) && {
				next_attempt_at: patch.nextAttemptAt,
			}),
		...(patch.putStartedAt !== undefined && { put_started_at: patch.putStartedAt }),
		...(patch.before !== undefined && { before_put: patch.before === null ? null : JSON.stringify(patch.before) }),
		...(patch.deliveredAt !== undefined && { delivered_at: patch.deliveredAt }),
		...(patch.aftermath !== undefined && { aftermath: patch.aftermath }),
		...(patch.lastError !== undefined && { last_error: patch.lastError }),
		...(patch.other !== undefined && { other: sealOther(row.id, patch.other, cipher) }),
		...(patch.told !== undefined && { told: JSON.stringify(patch.told) }),
		...(patch.notBefore !== undefined && { not_before: patch.notBefore }),
		...(patch.missingCount !== undefined && { missing_count: patch.missingCount }),
		...(patch.startFailed !== undefined && { start_failed: patch.startFailed ? 1 : 0 }),
		...(patch.restartAskedAt !== undefined && { restart_asked_at: patch.restartAskedAt }),
	};
}

/** `conflicted`, because `by` was there first. */
export function giveWay(
	row: AnswerRow,
	mine: readonly AnswerItem[] | null,
	by: Answer,
	now: number,
	cipher: Cipher,
): RowChange {
	return {
		...enterState(row, 'conflicted', now),
		...WITHOUT_LEASE,
		other: sealOther(row.id, otherAnswer(by, mine), cipher),
		next_attempt_at: null,
	};
}

/** Its author has not heard yet of what it became; the message that carries the receipt stays known. */
export function toldNothing(row: AnswerRow): RowChange {
	return { told: JSON.stringify({ ...readTold(row), state: null, aftermath: null }) };
}

/** What the author of `mine` is told about `by`. */
function otherAnswer(by: Answer, mine: readonly AnswerItem[] | null): OtherAnswer {
	const theirs = by.content.kind === 'readable' ? by.content.items : [];
	return {
		person: by.person,
		values: theirs.map((item) => (item.secret ? null : item.value)),
		at: by.deliveredAt ?? by.acceptedAt,
		same: mine !== null && sameWords(mine, theirs),
	};
}

/** Everything that `mine` says stands word for word in `theirs`. What was wiped is never the same. */
function sameWords(mine: readonly AnswerItem[], theirs: readonly AnswerItem[]): boolean {
	return mine.every((item, position) =>
		item.value === null ? !item.wiped : item.value === (theirs[position]?.value ?? null),
	);
}

/** The same submission with the same words; a secret that was wiped cannot be compared and does not count. */
export function sameSubmission(stored: Answer, items: readonly AnswerItem[], leftEmpty: readonly number[]): boolean {
	if (stored.content.kind !== 'readable') return true;
	const before = stored.content.items;
	return (
		before.length === items.length &&
		before.every(
			(item, position) =>
				(item.wiped || item.value === items[position]?.value) && item.secret === (items[position]?.secret ?? false),
		) &&
		stored.leftEmpty.length === leftEmpty.length &&
		stored.leftEmpty.every((position) => leftEmpty.includes(position))
	);
}
