import type { Question } from './open-question.ts';
import { sameText } from './same-text.ts';
import { looksSecret } from './secrets.ts';

/** What an answer of ours tells about secrecy; kept for as long as its row is, whatever became of its values. */
export interface AnswerMarks {
	readonly messageIndex: number;
	readonly fingerprint: string;
	/** Positions that are secret: the box decided, or the guess where there was none. */
	readonly secret: readonly number[];
	/** Whether its author had the box before them: what is not in `secret` is then meant to be ordinary. */
	readonly boxed: boolean;
	/** It may be what stands in the session. */
	readonly mayHaveArrived: boolean;
	/** The values that are not secret, by position; null for others, and for all once they are gone. */
	readonly values: readonly (string | null)[];
}

type Asked = Pick<Question, 'messageIndex' | 'fingerprint' | 'items'>;

/**
 * Whether the value of one item is hidden from everybody. What our answers say goes before the guess: one that is secret and
 * may stand there hides it; the very text of one whose author left the box empty is ordinary; after that an answer of ours
 * to the same question anywhere in the session hides it, since messages move, and one to the same message when it asked
 * something else hides all of it. What came from outside is guessed.
 */
export function isSecretValue(marks: readonly AnswerMarks[], asked: Asked, position: number): boolean {
	const item = asked.items[position];
	if (item === undefined) return true;
	const ours = marks.filter(({ fingerprint }) => fingerprint === asked.fingerprint);
	const isMarked = ({ secret }: AnswerMarks) => secret.includes(position);
	const arrived = ours.filter(({ mayHaveArrived }) => mayHaveArrived);
	if (arrived.some((mark) => mark.messageIndex === asked.messageIndex && isMarked(mark))) return true;
	const isOrdinary = (mark: AnswerMarks) => {
		const value = mark.values[position] ?? null;
		return mark.boxed && !isMarked(mark) && value !== null && value !== '' && sameText(value, item.value);
	};
	if (arrived.some(isOrdinary)) return false;
	// Agents reword a message, or add an item, around a value that stays: which one it is now cannot be told.
	const isReworded = marks.some(
		(mark) =>
			mark.mayHaveArrived &&
			mark.messageIndex === asked.messageIndex &&
			mark.fingerprint !== asked.fingerprint &&
			mark.secret.length > 0,
	);
	return isReworded || ours.some(isMarked) || looksSecret(item);
}

/** The positions whose box is ticked at first: by the guess, or because somebody has kept an answer to it secret. */
export function secretAtFirst(marks: readonly AnswerMarks[], { fingerprint, items }: Asked): number[] {
	const ours = marks.filter((mark) => mark.fingerprint === fingerprint);
	return items.flatMap((item, position) =>
		looksSecret(item) || ours.some(({ secret }) => secret.includes(position)) ? [position] : [],
	);
}
