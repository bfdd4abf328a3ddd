import { type OurAnswers, valuesAt } from '../../delivery/earlier-answers.ts';
import { type Answer, hasArrived, isBlocking, mayHaveArrived, shownValuesOf } from '../../domain/answer.ts';
import { isSamePerson, type Person } from '../../domain/person.ts';
import { askingMessageIndex, isOver, type Question, questionAt, type Session } from '../../domain/session.ts';
import type { SessionModel } from '../../screens/form.ts';
import { NOTICES } from '../../screens/form-notices.ts';
import type { ViewMetadata } from '../../slack/ids.ts';
import type { Words } from '../../slack/rich-text.ts';
import { isBesideAnother } from './form-start.ts';

/* What a form says about answers that were given before or meanwhile. */

export type Notice = SessionModel['notices'][number];

/** Who wants to see which question of a session. */
interface Wanted {
	readonly person: Person;
	readonly metadata: ViewMetadata;
	readonly reading: { readonly session: Session };
	/** The message index that a button named; `newest`: they came to answer what is open; null: not to answer. */
	readonly wanted?: number | 'newest' | null;
}

function answeredNotice(answer: Answer, now: number): Notice {
	const values = shownValuesOf(answer);
	return NOTICES.answeredMeanwhile(answer.person.userId, values, answer.acceptedAt, now);
}

/** The notice about the question that was wanted or shown, when another one or none is open now. */
export function settledNotice(
	{ person, metadata, reading: { session }, wanted = null }: Wanted,
	question: Question | null,
	{ standing, secrecy }: OurAnswers,
	now: number,
): Notice[] {
	const newest = question === null ? askingMessageIndex(session) : null;
	const asked = wanted === 'newest' ? newest : wanted;
	const before = metadata.fields.length > 0 ? metadata.messageIndex : asked;
	if (before === null || before === question?.messageIndex) return [];
	const answer = standing(before);
	const settled = questionAt(session, before);
	if (metadata.again && settled !== null && !isOver(session.status))
		return [NOTICES.standsThere(valuesAt(session, settled, secrecy), isBesideAnother(metadata, settled))];
	if (answer !== null) return answer.person.userId === person.userId ? [] : [answeredNotice(answer, now)];
	if (settled === null || settled.items.every((item) => item.value === '')) return [];
	return [NOTICES.answeredMeanwhile(null, valuesAt(session, settled, secrecy), null, now)];
}

/** The notice about an answer to the open question that Handraise has not delivered yet, or that may have arrived. */
export function standingNotice(person: Person, standing: Answer | null, now: number): Notice[] {
	if (standing === null) return [];
	const { state } = standing;
	const isOwn = isSamePerson(standing.person, person);
	const isTold = isBlocking(state) || mayHaveArrived(standing);
	if (isOwn && (isTold || state === 'waiting')) return [NOTICES.ownAnswer(standing)];
	if (!isTold) return [];
	const perhaps = NOTICES.mayHaveArrived(standing.person.userId, shownValuesOf(standing));
	return [mayHaveArrived(standing) ? perhaps : answeredNotice(standing, now)];
}

/** The notice about an answer that is no longer in the field, so that the same is asked again. */
export function lostNotice(person: Person, question: Question | null, { lost, occurrences }: OurAnswers): Notice[] {
	if (lost === null) return occurrences.evidence?.lost === '' ? [NOTICES.lostElsewhere] : [];
	const isOwn = isSamePerson(lost.person, person);
	// Its other values may still be in their fields.
	const values = isOwn ? [] : shownValuesOf(lost).filter((_, at) => question?.openItems.includes(at));
	return [NOTICES.lost(isOwn ? null : lost.person.userId, values)];
}

/** For *Answer again…*: what was answered, and is not in the field any more. */
export function emptiedNotice({ again }: ViewMetadata, standing: Answer | null, emptied: string): Notice[] {
	if (!again || emptied === '') return [];
	if (standing === null) return [NOTICES.emptiedElsewhere(emptied)];
	return [NOTICES.emptied(standing.person.userId, shownValuesOf(standing), emptied)];
}

/** Why *Answer again…* opens no form; null: it does. What is typed in a form stays. */
export function whyNotAgain({ again, fields }: ViewMetadata, person: Person, standing: Answer | null): Words | null {
	if (!again || fields.length > 0 || standing === null || !isBlocking(standing.state)) return null;
	return NOTICES.underWay(isSamePerson(standing.person, person) ? null : standing.person.userId);
}

/** Says that a field of the newest question had a value and is empty now. An empty text when none is. */
export function emptiedWords(session: Session, { occurrences: { evidence } }: OurAnswers): string {
	const items = questionAt(session, askingMessageIndex(session) ?? -1)?.items ?? [];
	const isEmptied = evidence?.filled.some((position) => items[position]?.value === '') === true;
	return isEmptied ? `${items.length === 1 ? 'The' : 'A'} field is empty now` : '';
}

/** The answer of ours that settled the newest question, if one did. */
export function settledBy(session: Session, { standing }: OurAnswers): Answer | null {
	const newest = askingMessageIndex(session);
	const answer = newest === null ? null : standing(newest);
	if (answer === null || newest === null) return null;
	const isThere = hasArrived(answer.state) && answer.agentOutcome !== 'overwritten';
	return isThere && answer.fingerprint === questionAt(session, newest)?.fingerprint ? answer : null;
}
