import {
	type Answer,
	isBlocking,
	type OtherAnswer,
	type Person,
	type QuestionKey,
	submissionKeyOf,
} from '../../answers/answer.ts';
import type { Claims } from '../../answers/claims.ts';
import { leftEmptyIn } from '../../answers/earlier-answers.ts';
import type { AnswerStore, Draft, DraftStore } from '../../answers/ports.ts';
import type { Clock } from '../../clock.ts';
import { askingMessageIndex, openQuestion, type Question, questionAt } from '../../questions/open-question.ts';
import { type AnswerMarks, isSecretValue, looksSecret, secretAtFirst } from '../../questions/secrecy.ts';
import { isWaiting, type Session } from '../../questions/session.ts';
import type { WatchStore } from '../../watches/ports.ts';
import type { SessionModel } from '../blocks/session-modal.ts';
import { asksTheSame } from '../form/plan.ts';
import type { Links } from '../links.ts';
import type { ViewMetadata } from '../metadata.ts';
import type { Reading } from '../person-reads.ts';
import type { Notice } from '../words/notices.ts';
import type { Names } from '../words/people.ts';
import type { SettledBy } from '../words/sessions.ts';
import { KEPT_ASIDE, newFormId, startingValues, type TypedText, type Values, without } from './drafts.ts';

/**
 * The message whose question a button named; `newest`: the button was to answer whatever is open, so that when nothing is,
 * it is worth saying who settled it; null: nobody came to answer.
 */
export type WantedQuestion = number | 'newest' | null;

/** One way a session is to be shown to one person. */
interface Showing {
	readonly person: Person;
	readonly metadata: ViewMetadata;
	/** Null while Slack's answer to its opening is not known. */
	readonly viewId: string | null;
	/** What stood in the view's fields; null when it had none. */
	readonly typed: TypedText | null;
	/** A message chosen with "Use as answer", by position. */
	readonly prefill: Values | null;
	readonly reading: Reading;
	readonly wanted: WantedQuestion;
	readonly notices: readonly Notice[];
}

interface Dependencies {
	readonly service: string;
	readonly answers: AnswerStore;
	readonly drafts: DraftStore;
	readonly claims: Claims;
	readonly watches: Pick<WatchStore, 'find'>;
	readonly names: Names;
	readonly dashboardUrl: string | null;
	readonly links: Links;
	readonly adminContact: string | null;
	readonly clock: Clock;
}

/**
 * Gathers what the session's modal shows beside the session itself: what of it is open to this person, who else is
 * answering, what they typed before. Remembers what the form offers.
 */
export function createPresenter(deps: Dependencies) {
	const { service, answers, drafts, claims, watches, names, dashboardUrl, links, adminContact, clock } = deps;

	async function openFor(session: Session): Promise<Question | null> {
		return openQuestion(session, await leftEmptyIn(answers, service, session));
	}

	function keyOf(sessionId: string, messageIndex: number): QuestionKey {
		return { service, sessionId, messageIndex };
	}

	/** What became of the question that was wanted or shown, when it is not the open one. */
	async function settledNotice(
		showing: Showing,
		question: Question | null,
		marks: readonly AnswerMarks[],
	): Promise<Notice[]> {
		const { metadata, reading } = showing;
		const newest = question === null ? askingMessageIndex(reading.session) : null;
		const wanted = showing.wanted === 'newest' ? newest : showing.wanted;
		const before = metadata.fields.length > 0 ? metadata.messageIndex : wanted;
		if (before === null || before === question?.messageIndex) return [];
		const standing = await answers.standing(keyOf(reading.session.sessionId, before));
		if (standing !== null) {
			if (standing.person.userId === showing.person.userId) return [];
			return [{ kind: 'answeredMeanwhile', other: otherAnswer(standing) }];
		}
		const there = questionAt(reading.session, before);
		if (there === null || there.items.every((item) => item.value === '')) return [];
		return [{ kind: 'answeredMeanwhile', other: outsideAnswer(there, marks) }];
	}

	/** Whose answer the newest question has, for saying it while the agent still waits. */
	async function settledBy(session: Session): Promise<SettledBy | null> {
		const newest = askingMessageIndex(session);
		if (!isWaiting(session.status) || newest === null) return null;
		const standing = await answers.standing(keyOf(session.sessionId, newest));
		const arrived = standing !== null && (standing.state === 'delivered' || standing.state === 'resumed');
		if (!arrived || standing.agentOutcome === 'overwritten') return null;
		if (standing.fingerprint !== questionAt(session, newest)?.fingerprint) return null;
		return { userId: standing.person.userId, at: standing.acceptedAt };
	}

	/** An answer of Handraise's that is on its way to the open question. */
	async function standingNotice(person: Person, key: QuestionKey): Promise<Notice[]> {
		const standing = await answers.standing(key);
		if (standing === null) return [];
		const { state, acceptedAt } = standing;
		const isOwn = standing.person.userId === person.userId && standing.person.teamId === person.teamId;
		if (isOwn && (state === 'accepted' || state === 'delivering' || state === 'waiting')) {
			return [{ kind: 'ownAnswer', state, at: acceptedAt }];
		}
		return isBlocking(state) ? [{ kind: 'answeredMeanwhile', other: otherAnswer(standing) }] : [];
	}

	/** What stands in the view's fields, with what was typed while the session was read. */
	async function typedByNow({ typed, metadata }: Showing): Promise<Values | null> {
		if (typed === null) return null;
		const draft = await drafts.get(metadata.formId);
		return draft === null || draft.updatedAt <= typed.at ? typed.values : { ...typed.values, ...draft.values };
	}

	/** Whether the channel a modal was opened from watches its session; null where there is no channel to watch in. */
	async function watchButton({ teamId }: Person, { sessionId, origin }: ViewMetadata): Promise<SessionModel['watch']> {
		if (origin.channelId === null) return null;
		const watch = await watches.find({ teamId, channelId: origin.channelId }, { service, sessionId });
		return { watching: watch !== null };
	}

	return {
		/** Where a chosen message goes: into the only field it fits, where the person says, or nowhere. */
		async placeText(person: Person, metadata: ViewMetadata, { session }: Reading, text: string): Promise<TextPlace> {
			const question = await openFor(session);
			if (question === null) return { kind: 'unused', notice: { kind: 'textUnused', why: 'nothingOpen' } };
			const positions = question.openItems.filter((position) => {
				const item = question.items[position];
				return item !== undefined && !looksSecret(item);
			});
			const [first] = positions;
			if (first === undefined) return { kind: 'unused', notice: { kind: 'textUnused', why: 'secret' } };
			if (positions.length === 1) return { kind: 'place', values: { [first]: text } };
			const { formId, sessionId } = metadata;
			const { messageIndex, fingerprint } = question;
			await drafts.save({
				formId,
				person,
				question: keyOf(sessionId, KEPT_ASIDE),
				fingerprint,
				values: { [first]: text },
				updatedAt: clock.now(),
			});
			return { kind: 'choose', question, positions, text, metadata: { ...metadata, messageIndex, fingerprint } };
		},

		/** Whether the reading asks what a view with this metadata shows. */
		async asksTheSame(metadata: ViewMetadata, { session }: Reading): Promise<boolean> {
			const { messageIndex = null, fingerprint = null } = (await openFor(session)) ?? {};
			return messageIndex === metadata.messageIndex && fingerprint === metadata.fingerprint;
		},

		/** Whether a view's form was sent: the view shows its receipt then. */
		async isSent(viewId: string | null, { sessionId, messageIndex, formId }: ViewMetadata): Promise<boolean> {
			if (viewId === null || messageIndex === null) return false;
			const standing = await answers.standing(keyOf(sessionId, messageIndex));
			return standing?.submissionKey === submissionKeyOf(viewId, formId);
		},

		/** Marks the question that a person sees now as being answered. */
		async markSeen(person: Person, { session, question }: SessionModel): Promise<void> {
			if (question !== null) await claims.take(keyOf(session.sessionId, question.messageIndex), person);
		},

		/** Everything `sessionModal` needs. */
		async model(showing: Showing): Promise<SessionModel> {
			const { person, reading, metadata } = showing;
			const { session, readAt } = reading;
			const { sessionId } = metadata;
			const [question, marks] = await Promise.all([openFor(session), answers.marks(service, sessionId)]);
			const base = { session, readAt, question, now: clock.now(), names, dashboardUrl, links, adminContact };
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
				typedByNow(showing),
			]);
			const ordinary = typed === null ? null : without(typed, metadata.secret);
			const start = startingValues({ question, metadata, typed: ordinary, prefill: showing.prefill, draft });
			const secret = secretFields(question, metadata, marks, draft);
			const values = without(start.values, secret);
			const formId = start.isNewForm ? newFormId() : metadata.formId;
			if (Object.keys(values).length > 0) {
				const kept = {
					formId,
					person,
					question: key,
					fingerprint: question.fingerprint,
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
				metadata: { ...metadata, formId, ...(start.isNewForm ? { fields: [], offered: [] } : {}) },
				watch,
				claims: others.map((claim) => claim.person.userId),
				draft: values,
				secret,
				notices: [...showing.notices, ...settled, ...standing, ...(start.notice === null ? [] : [start.notice])],
			};
		},
	};
}

type TextPlace =
	| { readonly kind: 'place'; readonly values: Values }
	| { readonly kind: 'unused'; readonly notice: Notice }
	| {
			readonly kind: 'choose';
			readonly question: Question;
			readonly positions: readonly number[];
			readonly text: string;
			readonly metadata: ViewMetadata;
	  };

export type Presenter = ReturnType<typeof createPresenter>;

/** The box of a form that stands there says what is secret; in another one the guess ticks it, and what this person ticked before. */
function secretFields(
	question: Question,
	metadata: ViewMetadata,
	marks: readonly AnswerMarks[],
	draft: Draft | null,
): readonly number[] {
	const before = draft?.fingerprint === question.fingerprint ? (draft.secret ?? []) : [];
	const atFirst = [...new Set([...secretAtFirst(marks, question), ...before])];
	if (metadata.fields.length === 0 || !asksTheSame(metadata, question)) return atFirst;
	return metadata.boxed ? metadata.secret : [...new Set([...metadata.secret, ...atFirst])];
}

function otherAnswer(answer: Answer): OtherAnswer {
	const items = answer.content.kind === 'readable' ? answer.content.items : [];
	return {
		person: answer.person,
		at: answer.acceptedAt,
		same: false,
		values: items.map((item) => (item.secret ? null : item.value)),
	};
}

function outsideAnswer(question: Question, marks: readonly AnswerMarks[]): OtherAnswer {
	return {
		person: null,
		at: null,
		same: false,
		values: question.items.map((item, position) => (isSecretValue(marks, question, position) ? null : item.value)),
	};
}
