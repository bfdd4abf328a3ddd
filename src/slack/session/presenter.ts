import type { Claims } from '../../answers/accept.ts';
import {
	type Answer,
	isBlocking,
	isSamePerson,
	itemsOf,
	type OtherAnswer,
	type Person,
	type QuestionKey,
	submissionKeyOf,
} from '../../answers/answer.ts';
import { ourAnswers } from '../../answers/earlier-answers.ts';
import type { Core } from '../../core.ts';
import { askingMessageIndex, openQuestion, type Question, questionAt } from '../../questions/open-question.ts';
import { type AnswerMarks, isSecretValue, looksSecretAt, secretAtFirst } from '../../questions/secrecy.ts';
import { isWaiting, type Session } from '../../questions/session.ts';
import type { Draft } from '../../store/answering-store.ts';
import type { Notice, SessionModel } from '../blocks/session-modal.ts';
import { asksTheSame } from '../form/plan.ts';
import type { Links } from '../links.ts';
import type { ViewMetadata } from '../metadata.ts';
import type { Reading } from '../person-reads.ts';
import type { SettledBy } from '../words.ts';
import { type Drafting, type Prefill, startingValues, type TypedText, type Values, without } from './drafts.ts';

/** The message index that a button named; `newest`: they came to answer what is open; null: they did not come to answer. */
export type WantedQuestion = number | 'newest' | null;

export interface Content {
	readonly metadata: ViewMetadata;
	/** The texts in the view's fields; null when it had none. */
	readonly typed?: TypedText | null;
	/** A message chosen with "Use as answer", or an answer. */
	readonly prefill?: Prefill | null;
	readonly wanted?: WantedQuestion;
}

interface Showing extends Content {
	readonly person: Person;
	/** Null when Slack's response to the opening was lost. */
	readonly viewId: string | null;
	readonly reading: Reading;
	readonly notices: readonly Notice[];
}

/** Collects what the session's modal shows besides the session. Saves the initial texts of the form as a draft. */
export function createPresenter(
	core: Core,
	{ claims, drafting, links }: { claims: Claims; drafting: Drafting; links: Links },
) {
	const { serviceUrl, clock, config, store } = core;
	const { answers, drafts, watches } = store;
	const { dashboardUrl } = config;
	const { adminContact } = config.access;

	async function openQuestionOf(session: Session): Promise<Question | null> {
		return openQuestion(session, (await ourAnswers(answers, { serviceUrl, session })).leftEmpty);
	}

	function keyOf(sessionId: string, messageIndex: number): QuestionKey {
		return { service: serviceUrl, sessionId, messageIndex };
	}

	/** The notice about the question that was wanted or shown, when another one or none is open now. */
	async function settledNotice(
		showing: Showing,
		question: Question | null,
		marks: readonly AnswerMarks[],
	): Promise<Notice[]> {
		const { metadata, reading } = showing;
		const newest = question === null ? askingMessageIndex(reading.session) : null;
		const wanted = showing.wanted === 'newest' ? newest : (showing.wanted ?? null);
		const before = metadata.fields.length > 0 ? metadata.messageIndex : wanted;
		if (before === null || before === question?.messageIndex) return [];
		const standing = await answers.standing(keyOf(reading.session.sessionId, before));
		if (standing !== null) {
			if (standing.person.userId === showing.person.userId) return [];
			return [{ kind: 'answeredMeanwhile', other: otherAnswer(standing) }];
		}
		const settled = questionAt(reading.session, before);
		if (settled === null || settled.items.every((item) => item.value === '')) return [];
		return [{ kind: 'answeredMeanwhile', other: outsideAnswer(settled, marks) }];
	}

	/** Whose answer the newest question has, while the agent still waits. */
	async function settledBy(session: Session): Promise<SettledBy | null> {
		const newest = askingMessageIndex(session);
		if (!isWaiting(session.status) || newest === null) return null;
		const standing = await answers.standing(keyOf(session.sessionId, newest));
		const arrived = standing !== null && (standing.state === 'delivered' || standing.state === 'resumed');
		if (!arrived || standing.agentOutcome === 'overwritten') return null;
		if (standing.fingerprint !== questionAt(session, newest)?.fingerprint) return null;
		return { userId: standing.person.userId, at: standing.acceptedAt };
	}

	/** The notice about an answer that Handraise has not delivered yet. */
	async function standingNotice(person: Person, key: QuestionKey): Promise<Notice[]> {
		const standing = await answers.standing(key);
		if (standing === null) return [];
		const { state } = standing;
		const isOwn = isSamePerson(standing.person, person);
		if (isOwn && (isBlocking(state) || state === 'waiting')) return [{ kind: 'ownAnswer', answer: standing }];
		return isBlocking(state) ? [{ kind: 'answeredMeanwhile', other: otherAnswer(standing) }] : [];
	}

	/** The texts in the view's fields, with what was typed while the session was read. */
	async function latestTyped({ typed, metadata }: Showing): Promise<Values | null> {
		if (typed == null) return null;
		const draft = await drafts.get(metadata.formId);
		return draft === null || draft.updatedAt <= typed.at ? typed.values : { ...typed.values, ...draft.values };
	}

	/** Whether the modal's channel watches the session; null without a channel. */
	async function watchButton({ teamId }: Person, { sessionId, origin }: ViewMetadata): Promise<SessionModel['watch']> {
		if (origin.channelId === null) return null;
		const session = { service: serviceUrl, sessionId };
		const watch = await watches.find({ teamId, channelId: origin.channelId }, session);
		// A raised hand ends by itself, and can become a watch with a card.
		return { watching: watch !== null && watch.mode !== 'raisedHand' };
	}

	return {
		/** Decides where a chosen message goes: into the only field that fits, into one that the person chooses, or nowhere. */
		async placeText(person: Person, metadata: ViewMetadata, { session }: Reading, text: string): Promise<PlacedText> {
			const unused = (why: 'nothingOpen' | 'secret') => ({ notices: [{ kind: 'textUnused', why } as const] });
			const question = await openQuestionOf(session);
			if (question === null) return unused('nothingOpen');
			const positions = question.openItems.filter((position) => !looksSecretAt(question, position));
			const [first] = positions;
			if (first === undefined) return unused('secret');
			if (positions.length === 1) return { prefill: { values: { [first]: text }, givenFor: null } };
			const { messageIndex, fingerprint } = question;
			await drafting.keepAside(person, metadata, question, { [first]: text });
			return { choose: { question, positions, text, metadata: { ...metadata, messageIndex, fingerprint } } };
		},

		/** Whether the open question is the one that a view with this metadata shows. */
		async asksTheSame(metadata: ViewMetadata, { session }: Reading): Promise<boolean> {
			const question = await openQuestionOf(session);
			return question === null ? metadata.messageIndex === null : asksTheSame(metadata, question);
		},

		/** Whether a view's form was submitted; then the view shows the receipt. */
		async isSent(viewId: string | null, { sessionId, messageIndex, formId }: ViewMetadata): Promise<boolean> {
			if (viewId === null || messageIndex === null) return false;
			const standing = await answers.standing(keyOf(sessionId, messageIndex));
			return standing?.submissionKey === submissionKeyOf(viewId, formId);
		},

		/** Claims the question that the person sees now. */
		async markSeen(person: Person, { session, question }: SessionModel): Promise<void> {
			if (question !== null) await claims.take(keyOf(session.sessionId, question.messageIndex), person);
		},

		async model(showing: Showing): Promise<SessionModel> {
			const { person, reading, metadata } = showing;
			const { session, readAt } = reading;
			const { sessionId } = metadata;
			const { leftEmpty, marks } = await ourAnswers(answers, { serviceUrl, session });
			const question = openQuestion(session, leftEmpty);
			const base = { session, readAt, question, now: clock.now(), dashboardUrl, links, adminContact };
			const [settled, watch] = await Promise.all([
				settledNotice(showing, question, marks),
				watchButton(person, metadata),
			]);
			if (question === null) {
				const notices = [...showing.notices, ...settled];
				return { ...base, metadata, watch, claims: [], draft: {}, notices, settledBy: await settledBy(session) };
			}
			const key = keyOf(sessionId, question.messageIndex);
			const [draft, others, standing, typed] = await Promise.all([
				drafts.newest(person, key),
				claims.others(key, person),
				standingNotice(person, key),
				latestTyped(showing),
			]);
			const typedValues = typed === null ? null : without(typed, metadata.secret);
			const start = startingValues(question, metadata, { typed: typedValues, prefill: showing.prefill ?? null, draft });
			const secret = secretFields(question, metadata, marks, draft);
			const values = without(start.values, secret);
			const { formId } = start;
			if (Object.keys(values).length > 0) {
				const kept = {
					formId,
					person,
					question: key,
					fingerprint: question.fingerprint,
					shownHash: question.shownHash,
					values,
					secret,
					updatedAt: start.notice?.kind === 'draftRestored' ? start.notice.at : clock.now(),
				};
				// The form may have been submitted while the session was read.
				const { viewId } = showing;
				await drafts.save(kept, viewId === null ? undefined : submissionKeyOf(viewId, metadata.formId));
			}
			return {
				...base,
				metadata: { ...metadata, formId, ...(formId !== metadata.formId && { fields: [], offered: [] }) },
				watch,
				claims: others.map((claim) => claim.person.userId),
				draft: values,
				secret,
				marks,
				notices: [...showing.notices, ...settled, ...standing, ...(start.notice === null ? [] : [start.notice])],
			};
		},
	};
}

/** How a chosen message is shown. `choose`: the person says which item it is for. */
export interface PlacedText {
	readonly prefill?: Prefill;
	readonly notices?: readonly Notice[];
	readonly choose?: {
		readonly question: Question;
		readonly positions: readonly number[];
		readonly text: string;
		readonly metadata: ViewMetadata;
	};
}

export type Presenter = ReturnType<typeof createPresenter>;

/** In the view's own form the box says what is secret. A new form ticks what is guessed and what this person ticked before. */
function secretFields(
	question: Question,
	metadata: ViewMetadata,
	marks: readonly AnswerMarks[],
	draft: Draft | null,
): readonly number[] {
	const before = draft?.fingerprint === question.fingerprint ? (draft.secret ?? []) : [];
	const atFirst = [...new Set([...secretAtFirst(marks, question), ...before])];
	if (metadata.fields.length === 0 || !asksTheSame(metadata, question)) return atFirst;
	return metadata.secret;
}

function otherAnswer(answer: Answer): OtherAnswer {
	const values = itemsOf(answer).map((item) => (item.secret ? null : item.value));
	return { answerId: answer.id, person: answer.person, at: answer.acceptedAt, same: false, values };
}

function outsideAnswer(question: Question, marks: readonly AnswerMarks[]): OtherAnswer {
	const values = question.items.map(({ value }, position) => (isSecretValue(marks, question, position) ? null : value));
	return { answerId: null, person: null, at: null, same: false, values };
}
