import { fingerprintOf, sameText } from '../questions/fingerprint.ts';
import { askingMessageIndex, type LeftEmpty, questionAt } from '../questions/open-question.ts';
import { isSecretValue } from '../questions/secrecy.ts';
import type { Session } from '../questions/session.ts';
import { type Answer, itemsOf, type OtherAnswer } from './answer.ts';
import type { AnswerStore } from './ports.ts';

const NOTHING: ReadonlySet<number> = new Set();

/** Which items of a session's newest question answers of ours left empty on purpose: they count as answered. */
export async function leftEmptyIn(
	store: Pick<AnswerStore, 'leftEmpty'>,
	service: string,
	session: Session,
): Promise<LeftEmpty> {
	const index = askingMessageIndex(session);
	const items = index === null ? undefined : session.messages[index]?.humanInput;
	if (index === null || items === undefined) return () => NOTHING;
	const question = { service, sessionId: session.sessionId, messageIndex: index };
	const left = await store.leftEmpty(question, fingerprintOf(items));
	return (messageIndex) => (messageIndex === index ? left : NOTHING);
}

/** Whether what `answer` says is what stands in `there`; a wiped secret fits any text. */
export function standsThere(answer: Answer, there: readonly string[]): boolean {
	const items = itemsOf(answer);
	const fits = items.every(({ value, wiped }, position) => {
		const text = there[position] ?? '';
		if (wiped) return text !== '';
		return value === null || value === '' || sameText(text, value);
	});
	return items.length > 0 && fits;
}

/**
 * Whose values stand in the place of `answer`: a colleague's whose answer Handraise delivered, or, when none of those
 * fits, somebody's outside. `values` null: word for word what this answer says. Nothing is kept of items that were not
 * its author's to fill, nor of what is secret to its author or to whoever gave it.
 */
export async function whoWasFirst(
	store: Pick<AnswerStore, 'marks' | 'delivered'>,
	answer: Answer,
	session: Session,
	values: readonly string[] | null,
): Promise<OtherAnswer> {
	const { service, sessionId, messageIndex } = answer.question;
	const [marks, asked] = [await store.marks(service, sessionId), questionAt(session, messageIndex)];
	const items = itemsOf(answer);
	const there = values ?? items.map(({ value }) => value ?? '');
	const isHidden = (position: number) => asked === null || isSecretValue(marks, asked, position);
	const outsider = {
		person: null,
		at: null,
		same: values === null,
		values: items.map(({ value, secret }, position) =>
			secret || value === null || isHidden(position) ? null : (there[position] ?? null),
		),
	};
	for (const other of await store.delivered(answer.question, answer.fingerprint)) {
		if (other.id === answer.id || !standsThere(other, there)) continue;
		return { ...outsider, person: other.person, at: other.deliveredAt };
	}
	return outsider;
}

/**
 * Whether somebody outside Handraise has put another text where ours was delivered. Nothing there is no other text: it
 * may be a reading from before the PUT, or a service that clears what its agent has taken. Secret values were wiped on
 * delivery and cannot be compared.
 */
export async function isOverwritten(
	store: Pick<AnswerStore, 'delivered'>,
	{ id, question, fingerprint, content, deliveredAt }: Answer,
	session: Session,
): Promise<boolean> {
	const items = session.messages[question.messageIndex]?.humanInput;
	if (items === undefined || content.kind !== 'readable' || fingerprintOf(items) !== fingerprint) return false;
	const isOther = content.items.some(({ value }, position) => {
		const there = items[position]?.value ?? '';
		return value !== null && value !== '' && there !== '' && !sameText(there, value);
	});
	if (!isOther) return false;
	// A later answer of Handraise's explains the other text: the agent had asked the same once more.
	const answers = await store.delivered(question, fingerprint);
	return !answers.some((other) => other.id !== id && (other.deliveredAt ?? 0) > (deliveredAt ?? 0));
}
