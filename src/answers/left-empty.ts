import { fingerprintOf } from '../questions/fingerprint.ts';
import { askingMessageIndex, type LeftEmpty } from '../questions/open-question.ts';
import type { Session } from '../questions/session.ts';
import type { AnswerStore } from './ports.ts';

const nothing: ReadonlySet<number> = new Set();

/** Which items of a session's newest question answers of ours left empty on purpose: they count as answered. */
export async function leftEmptyIn(
	store: Pick<AnswerStore, 'leftEmpty'>,
	service: string,
	session: Session,
): Promise<LeftEmpty> {
	const index = askingMessageIndex(session);
	const items = index === null ? undefined : session.messages[index]?.humanInput;
	if (index === null || items === undefined) return () => nothing;
	const question = { service, sessionId: session.sessionId, messageIndex: index };
	const left = await store.leftEmpty(question, fingerprintOf(items));
	return (messageIndex) => (messageIndex === index ? left : nothing);
}
