import type { AnswerStore } from '../../delivery/answer-store.ts';
import type { DraftStore } from '../../delivery/draft-store.ts';
import { type OurAnswers, ourAnswers } from '../../delivery/earlier-answers.ts';
import { hasArrived, isAnsweredSince, submissionKeyOf } from '../../domain/answer.ts';
import { NO_OCCURRENCES } from '../../domain/occurrences.ts';
import { isSamePerson, type Person } from '../../domain/person.ts';
import { looksSecretAt } from '../../domain/secrecy.ts';
import { isOver, isSameQuestion, openQuestion, type Question } from '../../domain/session.ts';
import { type SnapshotQuestion, storedQuestionOf } from '../../domain/session-snapshot.ts';
import type { SessionModel } from '../../screens/form.ts';
import { NOTICES } from '../../screens/form-notices.ts';
import type { WatchStore } from '../../sessions/watch-store.ts';
import type { HandlerContext } from '../../slack/context.ts';
import { asksTheSame, type Values, withoutPositions } from '../../slack/form/fields.ts';
import type { ViewMetadata } from '../../slack/ids.ts';
import type { PersonRead } from '../../slack/person-reads.ts';
import type { Words } from '../../slack/rich-text.ts';
import type { SessionStore } from '../../store/watched-sessions.ts';
import type { ViewStore } from '../../surfaces/view-store.ts';
import type { Drafting, OpenForm, Prefill } from './drafts.ts';
import {
	emptiedNotice,
	emptiedWords,
	lostNotice,
	type Notice,
	settledBy,
	settledNotice,
	standingNotice,
	whyNotAgain,
} from './form-notices.ts';
import { secretFields, startingValues } from './form-start.ts';

export interface Content {
	readonly metadata: ViewMetadata;
	readonly typed?: Pick<OpenForm['typed'], 'values' | 'at'> | null;
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

/** `stored`: the question came from the store, because the session cannot be read now. */
export type ShownReading = Pick<PersonRead, 'session' | 'readAt' | 'since' | 'arrival'> & {
	readonly stored?: SnapshotQuestion;
};

/** A message chosen for an answer. If it fits several items, the person chooses one. */
export interface ChosenMessage {
	readonly text: string;
	/** The question that it was chosen for. Another one does not get it. Null: whichever is open. */
	readonly givenFor: Prefill['givenFor'];
	/** The message has files, too, which are not sent. */
	readonly withFiles: boolean;
}

/** Collects what a modal shows besides the session. Saves the initial texts of the form as a draft. */
export function createPresenter(
	core: HandlerContext<{
		answers: AnswerStore;
		drafts: DraftStore;
		views: ViewStore;
		watches: WatchStore;
		sessions: SessionStore;
	}> & { readonly drafting: Drafting },
) {
	const { serviceUrl, clock, config, store, drafting, links, whoMayAnswer, reply } = core;
	const { answers, drafts, views, watches, sessions } = store;
	const { SESSION_DASHBOARD_URL: dashboardUrl } = config;

	const keyOf = (sessionId: string, messageIndex: number) => ({ service: serviceUrl, sessionId, messageIndex });

	/** Why somebody may not answer, and whom to ask; null when they may. */
	async function whyNotAnswer(person: Person, { sessionId, origin }: ViewMetadata): Promise<Words | null> {
		const why = await whoMayAnswer.whyNot(person, sessionId, origin.channelId);
		return why && reply.words(why).line;
	}

	async function openQuestionOf(metadata: ViewMetadata, reading: ShownReading): Promise<Question | null> {
		if (reading.stored !== undefined) return reading.stored.question;
		return questionIn(metadata, reading, await ourAnswers(answers, { serviceUrl, reading }));
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
		// The draft follows its question to another message. A later question in the same words does not get it.
		const same = ours.known.equal.find(({ messageIndex }) => messageIndex === question?.messageIndex);
		const isItsOwn = same !== undefined && same.askedAt <= updatedAt;
		if (!isItsOwn || fingerprint !== question?.fingerprint) return NOTICES.draftLeft(draft.values);
		return drafts.save({ ...draft, question: keyOf(sessionId, question.messageIndex) }).then(() => []);
	}

	/** The texts in the view's fields, with what was typed while the session was read. */
	async function latestTyped({ typed, metadata }: Showing): Promise<Values | null> {
		if (typed == null || metadata.fields.length === 0) return null;
		const draft = await drafts.get(metadata.formId);
		return draft === null || draft.updatedAt <= typed.at ? typed.values : { ...typed.values, ...draft.values };
	}

	/** The open question of a session that was read, and what is known of answers to it. */
	async function questionRead(showing: Showing) {
		const { person, reading, metadata, wanted } = showing;
		const { session } = reading;
		const asked = typeof wanted === 'number' && metadata.fields.length === 0 ? { messageIndex: wanted } : metadata;
		const ours = await ourAnswers(answers, { serviceUrl, reading, wanted: asked });
		const { secrecy } = ours;
		const question = questionIn(metadata, reading, ours);
		const standing = question && (ours.standing(question.messageIndex) ?? ours.perhaps);
		const emptied = emptiedWords(session, ours);
		return {
			question,
			secrecy,
			standing,
			settledBy: settledBy(session, ours),
			emptied,
			before: emptiedNotice(metadata, standing, emptied),
			closed: [...settledNotice(showing, question, ours, clock.now()), ...(await leftNotice(showing, question, ours))],
			lost: lostNotice(person, question, ours),
		};
	}

	/** The stored question, and what is known of answers to it. What the agent did since is not known. */
	async function questionStored({ session }: ShownReading, { question }: SnapshotQuestion) {
		const { fingerprint, messageIndex } = question;
		const key = keyOf(session.sessionId, messageIndex);
		const [{ secrecy }, standing] = await Promise.all([
			answers.toQuestions(key, [fingerprint], [messageIndex]),
			answers.standing(key),
		]);
		return { question, secrecy, standing, settledBy: null, emptied: '', before: [], closed: [], lost: [] };
	}

	async function mayWatch({ teamId }: Person, { sessionId, origin }: ViewMetadata): Promise<boolean> {
		if (origin.channelId === null || origin.isCopy === true) return false;
		const watch = await watches.find({ teamId, channelId: origin.channelId }, { service: serviceUrl, sessionId });
		// The watch of a raised hand ends by itself, and can become a watch with a card.
		return watch === null || watch.mode === 'raisedHand';
	}

	return {
		whyNotAnswer,

		/** Decides where a chosen message goes: into the only field that fits, one that the person chooses, or nowhere. */
		async place(person: Person, metadata: ViewMetadata, reading: ShownReading, { text, givenFor }: ChosenMessage) {
			const nowhere = (notice: Notice) => ({ kind: 'nowhere', notice }) as const;
			const question = await openQuestionOf(metadata, reading);
			if (question === null) return nowhere(NOTICES.nothingOpen);
			if (givenFor !== null && !isSameQuestion(givenFor, question)) return nowhere(NOTICES.anotherAsked);
			const positions = question.openItems.filter((position) => !looksSecretAt(question, position));
			const [first] = positions;
			if (first === undefined) return nowhere(NOTICES.onlySecrets);
			const values = { [first]: text };
			if (positions.length === 1) return { kind: 'filled', prefill: { values, givenFor: null } } as const;
			await drafting.keepAside(person, metadata, question, values);
			const { messageIndex, fingerprint } = question;
			return { kind: 'choose', question, positions, metadata: { ...metadata, messageIndex, fingerprint } } as const;
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
			const { question, secrecy, standing, settledBy, emptied } = found;
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
			const typedValues = typed && withoutPositions(typed, metadata.secret);
			const start = startingValues(question, metadata, { typed: typedValues, prefill: showing.prefill ?? null, draft });
			const secret = secretFields(question, metadata, secrecy, draft);
			const values = withoutPositions(start.values, secret);
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
				draft: { ...withoutPositions(start.suggested, secret), ...values },
				secret,
				secrecy,
				notices: [
					...notices,
					...found.before,
					...found.lost,
					...standingNotice(person, standing, clock.now()),
					...start.notices,
				],
			};
		},
	};
}

/** The question to show. *Answer again…* shows each empty field, whatever is known of earlier answers. */
function questionIn({ again }: ViewMetadata, { session }: ShownReading, { closedItems }: OurAnswers): Question | null {
	return openQuestion(session, again ? NO_OCCURRENCES.closedItems : closedItems);
}
