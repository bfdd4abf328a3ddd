import type { Core } from '../core.ts';
import type { AnswerStore } from '../delivery/answer-store.ts';
import type { Draft, DraftStore } from '../delivery/draft-store.ts';
import { type OurAnswers, ourAnswers, valuesAt } from '../delivery/earlier-answers.ts';
import {
	type Answer,
	hasArrived,
	isAnsweredSince,
	isBlocking,
	isSamePerson,
	mayHaveArrived,
	shownValuesOf,
	submissionKeyOf,
} from '../domain/answer.ts';
import { NO_OCCURRENCES } from '../domain/occurrences.ts';
import type { Person } from '../domain/person.ts';
import { type AnswerMarks, looksSecretAt, secretAtFirst } from '../domain/secrecy.ts';
import {
	askingMessageIndex,
	isOver,
	isSameQuestion,
	openQuestion,
	type Question,
	questionAt,
	type Session,
} from '../domain/session.ts';
import { type SnapshotQuestion, storedQuestionOf } from '../domain/session-snapshot.ts';
import { NOTICES, type SessionModel } from '../screens/form.ts';
import type { WatchStore } from '../sessions/watch-store.ts';
import { asksTheSame, type Values, without, withoutChoices } from '../slack/form/fields.ts';
import { type Links, newFormId, type ViewMetadata } from '../slack/ids.ts';
import type { PersonRead } from '../slack/person-reads.ts';
import type { Words } from '../slack/rich-text.ts';
import type { SessionStore } from '../store/watched-sessions.ts';
import type { ViewStore } from '../surfaces/view-store.ts';
import { draftsIn } from './agent-texts.ts';
import type { Drafting, Prefill, StandingForm } from './drafts.ts';

export interface Content {
	readonly metadata: ViewMetadata;
	readonly typed?: Pick<StandingForm['typed'], 'values' | 'at'> | null;
	/** A message chosen with "Use as answer", or an answer. */
	readonly prefill?: Prefill | null;
	/** The message index that a button named; `newest`: they came to answer what is open; null: not to answer. */
	readonly wanted?: number | 'newest' | null;
}

interface Showing extends Content {
	readonly person: Person;
	/** Null when Slack's response to the opening was lost. */
	readonly viewId: string | null;
	readonly reading: ShownReading;
	readonly notices: SessionModel['notices'];
}

/** `stored`: of the question that is stored, because the session cannot be read; left out of what was read now. */
export type ShownReading = Pick<PersonRead, 'session' | 'readAt' | 'since' | 'arrival'> & {
	readonly stored?: SnapshotQuestion;
};

/** A message, and the question that it was chosen for; null: whichever is open. */
type Chosen = { readonly text: string; readonly textFor: Prefill['givenFor'] };

type Notice = SessionModel['notices'][number];

/** The words for why somebody may not answer, and whom to ask; null: they may. */
type WhyNotAnswer = (person: Person, place: Pick<ViewMetadata, 'sessionId' | 'origin'>) => Promise<Words | null>;
type Parts = Readonly<{ drafting: Drafting; links: Links; whyNotAnswer: WhyNotAnswer }>;

/** Collects what a modal shows besides the session. Saves the initial texts of the form as a draft. */
export function createPresenter(
	core: Core<{
		answers: AnswerStore;
		drafts: DraftStore;
		views: ViewStore;
		watches: WatchStore;
		sessions: SessionStore;
	}>,
	{ drafting, links, whyNotAnswer }: Parts,
) {
	const { serviceUrl, clock, config, store } = core;
	const { answers, drafts, views, watches, sessions } = store;
	const { SESSION_DASHBOARD_URL: dashboardUrl } = config;

	const keyOf = (sessionId: string, messageIndex: number) => ({ service: serviceUrl, sessionId, messageIndex });

	async function openQuestionOf(metadata: ViewMetadata, reading: ShownReading): Promise<Question | null> {
		if (reading.stored !== undefined) return reading.stored.question;
		return questionIn(metadata, reading, await ourAnswers(answers, { serviceUrl, reading }));
	}

	function answeredNotice(answer: Answer): Notice {
		const values = shownValuesOf(answer);
		return NOTICES.answeredMeanwhile(answer.person.userId, values, answer.acceptedAt, clock.now());
	}

	/** The notice about the question that was wanted or shown, when another one or none is open now. */
	function settledNotice(
		{ person, metadata, reading: { session }, wanted = null }: Showing,
		question: Question | null,
		{ standing, marks }: OurAnswers,
	): Notice[] {
		const newest = question === null ? askingMessageIndex(session) : null;
		const asked = wanted === 'newest' ? newest : wanted;
		const before = metadata.fields.length > 0 ? metadata.messageIndex : asked;
		if (before === null || before === question?.messageIndex) return [];
		const answer = standing(before);
		const settled = questionAt(session, before);
		if (metadata.again && settled !== null && !isOver(session.status))
			return [NOTICES.standsThere(valuesAt(session, settled, marks), isBesideAnother(metadata, settled))];
		if (answer !== null) return answer.person.userId === person.userId ? [] : [answeredNotice(answer)];
		if (settled === null || settled.items.every((item) => item.value === '')) return [];
		return [NOTICES.answeredMeanwhile(null, valuesAt(session, settled, marks), null, clock.now())];
	}

	/** The notice about their draft for the wanted question, unless they have answered that. */
	async function leftNotice({ person, wanted, reading }: Showing, question: Question | null, ours: OurAnswers) {
		if (typeof wanted !== 'number' || wanted === question?.messageIndex) return [];
		const { sessionId } = reading.session;
		const draft = await drafts.newest(person, keyOf(sessionId, wanted));
		if (draft === null) return [];
		const { fingerprint, updatedAt } = draft;
		const own = ours.standing(wanted);
		if (own?.fingerprint === fingerprint && isSamePerson(own.person, person) && own.acceptedAt >= updatedAt) return [];
		// It goes where its question stands now, but not to a later one in the same words.
		const same = ours.known.equal.find(({ messageIndex }) => messageIndex === question?.messageIndex);
		const isItsOwn = same !== undefined && same.askedAt <= updatedAt;
		if (!isItsOwn || fingerprint !== question?.fingerprint) return NOTICES.draftLeft(draft.values);
		return drafts.save({ ...draft, question: keyOf(sessionId, question.messageIndex) }).then(() => []);
	}

	/** The notice about an answer to the open question that Handraise has not delivered yet, or that may have arrived. */
	function standingNotice(person: Person, standing: Answer | null): Notice[] {
		if (standing === null) return [];
		const { state } = standing;
		const isOwn = isSamePerson(standing.person, person);
		const isTold = isBlocking(state) || mayHaveArrived(standing);
		if (isOwn && (isTold || state === 'waiting')) return [NOTICES.ownAnswer(standing)];
		if (!isTold) return [];
		const perhaps = NOTICES.mayHaveArrived(standing.person.userId, shownValuesOf(standing));
		return [mayHaveArrived(standing) ? perhaps : answeredNotice(standing)];
	}

	/** The notice about an answer that is no longer in the field, so that the same is asked again. */
	function lostNotice(person: Person, question: Question | null, { lost, occurrences }: OurAnswers): Notice[] {
		if (lost === null) return occurrences.evidence?.lost === '' ? [NOTICES.lostElsewhere] : [];
		const isOwn = isSamePerson(lost.person, person);
		// What it gave beside that may stand there still.
		const values = isOwn ? [] : shownValuesOf(lost).filter((_, at) => question?.openItems.includes(at));
		return [NOTICES.lost(isOwn ? null : lost.person.userId, values)];
	}

	/** For *Answer again…*: what was answered, and is not in the field any more. */
	function emptiedNotice({ again }: ViewMetadata, standing: Answer | null, emptied: string): Notice[] {
		if (!again || emptied === '') return [];
		if (standing === null) return [NOTICES.emptiedElsewhere(emptied)];
		return [NOTICES.emptied(standing.person.userId, shownValuesOf(standing), emptied)];
	}

	/** The texts in the view's fields, with what was typed while the session was read. */
	async function latestTyped({ typed, metadata }: Showing): Promise<Values | null> {
		if (typed == null || metadata.fields.length === 0) return null;
		const draft = await drafts.get(metadata.formId);
		return draft === null || draft.updatedAt <= typed.at ? typed.values : { ...typed.values, ...draft.values };
	}

	/** The open question of a read, with what it and our answers say. */
	async function questionRead(showing: Showing) {
		const { person, reading, metadata, wanted } = showing;
		const { session } = reading;
		const asked = typeof wanted === 'number' && metadata.fields.length === 0 ? { messageIndex: wanted } : metadata;
		const ours = await ourAnswers(answers, { serviceUrl, reading, wanted: asked });
		const { marks } = ours;
		const question = questionIn(metadata, reading, ours);
		const standing = question && (ours.standing(question.messageIndex) ?? ours.perhaps);
		const emptied = emptiedWords(session, ours);
		return {
			question,
			marks,
			standing,
			settledBy: settledBy(session, ours),
			emptied,
			before: emptiedNotice(metadata, standing, emptied),
			closed: [...settledNotice(showing, question, ours), ...(await leftNotice(showing, question, ours))],
			lost: lostNotice(person, question, ours),
		};
	}

	/** The stored question, with what our answers say. Nobody can judge what became of it since. */
	async function questionStored({ session }: ShownReading, { question }: SnapshotQuestion) {
		const { fingerprint, messageIndex } = question;
		const key = keyOf(session.sessionId, messageIndex);
		const [{ marks }, standing] = await Promise.all([
			answers.toQuestions(key, [fingerprint], [messageIndex]),
			answers.standing(key),
		]);
		return { question, marks, standing, settledBy: null, emptied: '', before: [], closed: [], lost: [] };
	}

	async function mayWatch({ teamId }: Person, { sessionId, origin }: ViewMetadata): Promise<boolean> {
		if (origin.channelId === null || origin.isCopy === true) return false;
		const watch = await watches.find({ teamId, channelId: origin.channelId }, { service: serviceUrl, sessionId });
		// A raised hand ends by itself, and can become a watch with a card.
		return watch === null || watch.mode === 'raisedHand';
	}

	return {
		/** Decides where a chosen message goes: into the only field that fits, one that the person chooses, or nowhere. */
		async placeText(person: Person, metadata: ViewMetadata, reading: ShownReading, { text, textFor }: Chosen) {
			const question = await openQuestionOf(metadata, reading);
			if (question === null) return { notices: [NOTICES.nothingOpen] };
			if (textFor !== null && !isSameQuestion(textFor, question)) return { notices: [NOTICES.anotherAsked] };
			const positions = question.openItems.filter((position) => !looksSecretAt(question, position));
			const [first] = positions;
			if (first === undefined) return { notices: [NOTICES.onlySecrets] };
			if (positions.length === 1) return { prefill: { values: { [first]: text }, givenFor: null } };
			const { messageIndex, fingerprint } = question;
			await drafting.keepAside(person, metadata, question, { [first]: text });
			return { choose: [question, positions, text, { ...metadata, messageIndex, fingerprint }] as const };
		},

		/**
		 * The open question as it was last read and stored, for a session that cannot be read now. Null when there is none,
		 * the view's form asks another one, or it has been answered since.
		 */
		async stored(metadata: ViewMetadata): Promise<ShownReading | null> {
			const { sessionId, fields } = metadata;
			const newest = await sessions.newest({ service: serviceUrl, sessionId });
			const stored = newest && storedQuestionOf(newest.snapshot);
			if (newest === null || stored === null) return null;
			const { question, session } = stored;
			if (fields.length > 0 && !asksTheSame(metadata, question)) return null;
			const standing = await answers.standing(keyOf(sessionId, question.messageIndex));
			const { readAt } = newest;
			if (standing !== null && hasArrived(standing.state) && isAnsweredSince(standing, readAt)) return null;
			return { session, readAt, since: readAt, arrival: newest.snapshot.question?.arrival ?? null, stored };
		},

		async asksTheSame(metadata: ViewMetadata, reading: PersonRead): Promise<boolean> {
			const question = await openQuestionOf(metadata, reading);
			return question === null ? metadata.messageIndex === null : asksTheSame(metadata, question);
		},

		/** Whether a view's form was submitted; then the view shows the receipt. */
		async isSent(viewId: string | null, { sessionId, messageIndex, formId }: ViewMetadata): Promise<boolean> {
			if (viewId === null || messageIndex === null) return false;
			const standing = await answers.standing(keyOf(sessionId, messageIndex));
			return standing?.submissionKey === submissionKeyOf(viewId, formId);
		},

		async model(showing: Showing): Promise<SessionModel> {
			const { person, viewId, reading, metadata } = showing;
			const { session, readAt, arrival, stored = null } = reading;
			const found = stored === null ? await questionRead(showing) : await questionStored(reading, stored);
			const { question, marks, standing, settledBy, emptied } = found;
			const notices = [...showing.notices, ...found.closed];
			// Watching begins with a read.
			const offersWatch = stored === null && !isOver(session.status) && (await mayWatch(person, metadata));
			const refused = (await whyNotAnswer(person, metadata)) ?? whyNotAgain(metadata, person, standing);
			const shown = { session, readAt, arrival, stored, question, now: clock.now(), refused };
			const base = { ...shown, dashboardUrl, links, offersWatch };
			if (question === null || refused !== null)
				return { ...base, metadata, claims: [], draft: {}, notices, settledBy, emptied };
			const { messageIndex, fingerprint, shownHash } = question;
			const key = keyOf(session.sessionId, messageIndex);
			const [draft, answering, typed] = await Promise.all([
				drafts.newest(person, key),
				views.claims(key, clock.now()),
				latestTyped(showing),
			]);
			const typedValues = typed && without(typed, metadata.secret);
			const start = startingValues(question, metadata, { typed: typedValues, prefill: showing.prefill ?? null, draft });
			const secret = secretFields(question, metadata, marks, draft);
			const values = without(start.values, secret);
			const { formId } = start;
			await drafting.keepAgentTexts(person, formId, question, session.sessionId);
			if (Object.keys(values).length > 0) {
				const updatedAt = start.restoredAt ?? clock.now();
				const asked = { question: key, fingerprint, shownHash, sessionName: metadata.sessionName };
				const kept = { formId, person, ...asked, values, secret, updatedAt };
				// The form may have been submitted while the session was read.
				await drafts.save(kept, viewId === null ? undefined : submissionKeyOf(viewId, metadata.formId));
			}
			return {
				...base,
				metadata: { ...metadata, formId, ...(formId !== metadata.formId && { fields: [], offered: [] }) },
				claims: answering.flatMap((claim) => (isSamePerson(claim.person, person) ? [] : claim.person.userId)),
				draft: { ...without(start.suggested, secret), ...values },
				secret,
				marks,
				notices: [...notices, ...found.before, ...found.lost, ...standingNotice(person, standing), ...start.notices],
			};
		},
	};
}

/** The question to show. *Answer again…* shows each empty field, whatever is known of earlier answers. */
function questionIn({ again }: ViewMetadata, { session }: ShownReading, { closedItems }: OurAnswers): Question | null {
	return openQuestion(session, again ? NO_OCCURRENCES.closedItems : closedItems);
}

/** Why *Answer again…* opens no form; null: it does. What is typed in a form stays. */
function whyNotAgain({ again, fields }: ViewMetadata, person: Person, standing: Answer | null): Words | null {
	if (!again || fields.length > 0 || standing === null || !isBlocking(standing.state)) return null;
	return NOTICES.underWay(isSamePerson(standing.person, person) ? null : standing.person.userId);
}

/** That a field of the newest question is empty which had a value; else empty. */
function emptiedWords(session: Session, { occurrences: { evidence } }: OurAnswers): string {
	const items = questionAt(session, askingMessageIndex(session) ?? -1)?.items ?? [];
	const isEmptied = evidence?.filled.some((position) => items[position]?.value === '') === true;
	return isEmptied ? `${items.length === 1 ? 'The' : 'A'} field is empty now` : '';
}

function settledBy(session: Session, { standing }: OurAnswers): Answer | null {
	const newest = askingMessageIndex(session);
	const answer = newest === null ? null : standing(newest);
	if (answer === null || newest === null) return null;
	const isThere = hasArrived(answer.state) && answer.agentOutcome !== 'overwritten';
	return isThere && answer.fingerprint === questionAt(session, newest)?.fingerprint ? answer : null;
}

/** In the view's own form the box says what is secret. A new one ticks what is guessed and what they ticked before. */
function secretFields(question: Question, metadata: ViewMetadata, marks: readonly AnswerMarks[], draft: Draft | null) {
	const before = draft?.fingerprint === question.fingerprint ? (draft.secret ?? []) : [];
	const atFirst = [...new Set([...secretAtFirst(marks, question), ...before])];
	if (metadata.fields.length === 0 || !isSameQuestion(metadata, question)) return atFirst;
	return metadata.secret;
}

/**
 * The texts for the fields, in this order: those in the view (`typed`), if it asks the same; those by position, if it
 * asked something else (then `formId` is new); a chosen message or an answer; the draft, typed at `restoredAt`. What
 * was chosen from options under another text is not chosen again: "Yes" may mean something else there. `suggested`: the
 * agent's drafts, for a form in which nobody typed yet.
 */
function startingValues(
	question: Question,
	metadata: ViewMetadata,
	{ typed, prefill, draft }: { typed: Values | null; prefill: Prefill | null; draft: Draft | null },
) {
	const isOtherDraft = draft !== null && !isSameQuestion(draft, question);
	// What somebody emptied stays empty.
	const isNew = draft === null || isOtherDraft;
	const suggested = isNew && !(typed !== null && asksTheSame(metadata, question)) ? draftsIn(question) : {};
	const anotherNotice = isBesideAnother(metadata, question) ? [changedNotice({})] : [];
	const unnoted = { notices: anotherNotice, restoredAt: null, formId: metadata.formId, suggested };
	const carried = (values: Values, isForOther: boolean) =>
		isForOther ? withoutChoices(question, metadata, fitting(values, question)) : fitting(values, question);
	if (typed !== null) {
		if (asksTheSame(metadata, question)) return { ...unnoted, values: typed };
		// Also where it stands at another place now: the answer is for that place.
		const isOtherText = !isSameQuestion(metadata, question);
		const values = carried(typed, isOtherText);
		const notices = isOtherText ? [changedNotice(values)] : unnoted.notices;
		return { ...unnoted, values, notices, formId: newFormId() };
	}
	const drafted = carried(draft?.values ?? {}, isOtherDraft);
	if (prefill !== null) {
		const isOtherText = prefill.givenFor !== null && !isSameQuestion(prefill.givenFor, question);
		const values = { ...drafted, ...carried(prefill.values, isOtherText) };
		const filledIn = NOTICES.prefilled(prefill.givenFor === null ? 'The message' : 'Your earlier answer');
		return { ...unnoted, values, notices: [isOtherText ? changedNotice(values) : filledIn] };
	}
	if (draft === null || Object.keys(fitting(draft.values, question)).length === 0) return { ...unnoted, values: {} };
	if (isOtherDraft) return { ...unnoted, values: drafted, notices: [changedNotice(drafted)] };
	const restoredAt = draft.updatedAt;
	return { ...unnoted, values: drafted, notices: [...anotherNotice, NOTICES.draftRestored(restoredAt)], restoredAt };
}

/** Whether *Answer again…* was pressed beside another question than this one. */
function isBesideAnother({ again, fields, fingerprint }: ViewMetadata, question: Question): boolean {
	return again && fields.length === 0 && fingerprint !== null && fingerprint !== question.fingerprint;
}

const changedNotice = (values: Values) => NOTICES.questionChanged(Object.keys(values).length > 0);

function fitting(values: Values, question: Question): Values {
	return Object.fromEntries(
		Object.entries(values).filter(([position, text]) => text !== '' && question.openItems.includes(Number(position))),
	);
}
