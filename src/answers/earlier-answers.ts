import { askingMessageIndex, fingerprintOf, type LeftEmpty, questionAt, sameText } from '../questions/open-question.ts';
import { isSecretValue } from '../questions/secrecy.ts';
import type { Session } from '../questions/session.ts';
import type { AnswerStore } from '../store/answer-store.ts';
import { type Answer, itemsOf, type OtherAnswer, type QuestionKey } from './answer.ts';

/** Which items of a session's newest question were left empty on purpose by answers of ours. They count as answered. */
export async function leftEmptyIn(
	store: Pick<AnswerStore, 'leftEmpty'>,
	service: string,
	session: Session,
): Promise<LeftEmpty> {
	const index = askingMessageIndex(session);
	const items = index === null ? undefined : session.messages[index]?.humanInput;
	if (index === null || items === undefined) return () => new Set();
	const question = { service, sessionId: session.sessionId, messageIndex: index };
	const left = await store.leftEmpty(question, fingerprintOf(items));
	return (messageIndex) => (messageIndex === index ? left : new Set());
}

/** The positions of a question that answers of ours filled, or left empty on purpose, which arrived in this time. */
export async function arrivedBetween(
	store: Pick<AnswerStore, 'delivered'>,
	{ fingerprint, ...question }: QuestionKey & { readonly fingerprint: string },
	{ since, before }: { since: number; before: number },
): Promise<number[]> {
	const answers = await store.delivered(question, fingerprint);
	const inTime = answers.filter(({ deliveredAt: at }) => at !== null && at >= since && at < before);
	return inTime.flatMap((answer) =>
		itemsOf(answer).flatMap(({ value, wiped }, position) => (value !== null || wiped ? [position] : [])),
	);
}

/** Whether the service's values are those of `answer`. A wiped secret fits any text. */
export function isStoredAnswer(answer: Answer, storedValues: readonly string[]): boolean {
	const items = itemsOf(answer);
	const fits = items.every(({ value, wiped }, position) => {
		const text = storedValues[position] ?? '';
		if (wiped) return text !== '';
		return value === null || value === '' || sameText(text, value);
	});
	return items.length > 0 && fits;
}

/**
 * The answer that was before `answer`: a colleague's that Handraise delivered, or, when none of those fits, one from
 * outside. `values`: what the service has; null when that is the text of `answer`. Values of other items and of secret
 * items are left out.
 */
export async function whoWasFirst(
	store: Pick<AnswerStore, 'marks' | 'delivered'>,
	answer: Answer,
	session: Session,
	values: readonly string[] | null,
): Promise<OtherAnswer> {
	const { service, sessionId, messageIndex } = answer.question;
	const marks = await store.marks(service, sessionId);
	const question = questionAt(session, messageIndex);
	const items = itemsOf(answer);
	const storedValues = values ?? items.map(({ value }) => value ?? '');
	const isHidden = (position: number) => question === null || isSecretValue(marks, question, position);
	const outsider = {
		answerId: null,
		person: null,
		at: null,
		same: values === null,
		values: items.map(({ value, secret }, position) =>
			secret || value === null || isHidden(position) ? null : (storedValues[position] ?? null),
		),
	};
	for (const other of await store.delivered(answer.question, answer.fingerprint)) {
		if (other.id === answer.id || !isStoredAnswer(other, storedValues)) continue;
		return { ...outsider, answerId: other.id, person: other.person, at: other.deliveredAt };
	}
	return outsider;
}

/**
 * Whether somebody outside Handraise replaced our delivered text. An empty value does not count: the agent may have taken
 * the answer and emptied the field. Secret values were wiped on delivery and cannot be compared.
 */
export async function isOverwritten(
	store: Pick<AnswerStore, 'delivered'>,
	{ id, question, fingerprint, content, deliveredAt }: Answer,
	session: Session,
): Promise<boolean> {
	const items = session.messages[question.messageIndex]?.humanInput;
	if (items === undefined || content.kind !== 'readable' || fingerprintOf(items) !== fingerprint) return false;
	const isOther = content.items.some(({ value }, position) => {
		const stored = items[position]?.value ?? '';
		return value !== null && value !== '' && stored !== '' && !sameText(stored, value);
	});
	if (!isOther) return false;
	// A later answer of Handraise explains the other text: the agent asked the same again.
	const answers = await store.delivered(question, fingerprint);
	return !answers.some((other) => other.id !== id && (other.deliveredAt ?? 0) > (deliveredAt ?? 0));
}
