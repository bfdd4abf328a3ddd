import { z } from 'zod';
import {
	askingMessageIndex,
	assistantCountOf,
	type ClosedItems,
	filledAt,
	isOver,
	type QuestionDigest,
	questionAt,
	questionDigest,
	type Session,
} from './session.ts';

export const digest = z
	.object({
		status: z.string(),
		assistantCount: z.int(),
		question: questionDigest.nullable(),
		/** `resultHash` of the session. */
		result: z.string().nullable(),
		/** `filesHash` of the session. */
		files: z.string(),
	})
	.readonly();
/** The state of a session that was last announced, stored as JSON. It has no text of a person or an agent. */
export type Digest = z.infer<typeof digest>;

/** `stepped`: the number of assistant messages changed. For questions see `OccurrenceChange`. */
export type SessionChange =
	| { readonly kind: 'statusChanged'; readonly from: string; readonly to: string }
	| { readonly kind: 'ended'; readonly status: string }
	| { readonly kind: 'stepped' | 'resultChanged' | 'filesChanged' };

export function digestOf(session: Session, closedItems?: ClosedItems): Digest {
	return {
		status: session.status,
		assistantCount: assistantCountOf(session),
		question: digestOfQuestionAt(session, askingMessageIndex(session) ?? -1, closedItems),
		result: session.resultHash,
		files: session.filesHash,
	};
}

export function digestOfQuestionAt(
	session: Session,
	messageIndex: number,
	closedItems?: ClosedItems,
): QuestionDigest | null {
	const question = questionAt(session, messageIndex, closedItems);
	if (question === null) return null;
	const { fingerprint, shownHash, openItems: open } = question;
	const answered = filledAt(session, messageIndex);
	return { messageIndex, fingerprint, shownHash, answered, open };
}

/** The changes since `before`. Without it (nothing was announced yet), only the end of the session counts. */
export function changesBetween(before: Digest | null, current: Digest): SessionChange[] {
	const changes: SessionChange[] = [];
	if (before !== null && before.status !== current.status)
		changes.push({ kind: 'statusChanged', from: before.status, to: current.status });
	if (before !== null && before.assistantCount !== current.assistantCount) changes.push({ kind: 'stepped' });
	if (before !== null && before.result !== current.result) changes.push({ kind: 'resultChanged' });
	if (before !== null && before.files !== current.files) changes.push({ kind: 'filesChanged' });
	if (isOver(current.status) && !isOver(before?.status ?? '')) changes.push({ kind: 'ended', status: current.status });
	return changes;
}
