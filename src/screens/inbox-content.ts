import type { Core } from '../core.ts';
import { type Answer, firstAnswerOf, isSecondChoice, textsOf } from '../domain/answer.ts';
import type { Person } from '../domain/person.ts';
import type { SessionKey } from '../domain/session.ts';
import { DAY_MS } from '../kernel/clock.ts';
import { codeOf } from '../kernel/errors.ts';
import { retryAtOf } from '../kernel/retries.ts';
import type { DeepReadonly } from '../kernel/values.ts';
import { type AccessPolicy, ANYWHERE } from '../slack/access-policy.ts';
import type { Need } from '../slack/calls.ts';
import type { Memberships } from '../slack/channels.ts';
import { isDirectMessage } from '../slack/ids.ts';
import type { NoListReason, WaitingSession } from '../store/watch.ts';
import type { DueView } from '../surfaces/view-store.ts';
import { firstPersonOf } from './answer.ts';
import type { InboxStore, OpenQuestion } from './inbox-store.ts';

/** Questions, or old sessions, on a page. With the other parts they fit into the 100 blocks of a view. */
export const PER_PAGE = 10;
export const MOST_WAITING_SHOWN = 10;
export const MOST_OWN_ANSWERS = 5;
export const MOST_DRAFTS = 5;
export const MOST_LAST_ANSWERS = 10;
/** After an answer, the list names a session as waiting for up to this time. */
const AGENT_GOES_ON_MS = 30_000;
/** Slack is asked again after this about a person or their channels, if it does not say when. */
const ASK_AGAIN_MS = 8_000;

/** The waiting sessions that the service lists. `why`: why it does not; null: it does. */
export interface WaitingSessions {
	readonly sessions: readonly WaitingSession[];
	readonly why: NoListReason | null;
}

export interface ContentOptions {
	readonly memberships: Pick<Memberships, 'joinedOf' | 'directChannelOf'>;
	readonly accessPolicy: Pick<AccessPolicy, 'checkAbsent' | 'answering'>;
	/** Resolves to null when people see only watched sessions. */
	readonly waiting: () => Promise<WaitingSessions | null>;
}

/** `alsoOf`: further sessions to check whether the person may answer them. */
type Asked = { readonly need: Need; readonly now: number; readonly alsoOf: readonly SessionKey[] };

/** Puts together what a person's inbox shows. It reads nothing from the session service. */
export function createInboxContent(core: Core<{ inboxes: InboxStore }>, options: ContentOptions) {
	const { memberships, accessPolicy } = options;
	const { serviceUrl, config, clock, log } = core;
	// With ALLOWED_CHANNELS, nobody may open a session from an inbox.
	const waiting = async () => (config.ALLOWED_CHANNELS.length > 0 ? null : options.waiting());
	const { inboxes: reads } = core.store;
	const ofWorkspace = shareNext((teamId) => Promise.all([reads.openQuestions(serviceUrl, teamId), waiting()]));
	type OfWorkspace = Awaited<ReturnType<typeof ofWorkspace>>;

	/**
	 * `allowed`: in which of the channels the person may act; `joined`: in which they are; `mayAnswer`: which sessions
	 * they may answer. `againAt`: when to ask again, if Slack did not tell everything; else null.
	 */
	async function channelsOf(person: Person, ids: readonly string[], sessionIds: readonly string[], how: Asked) {
		const { need, now } = how;
		let againAt: number | null = null;
		const inTeam = ids.filter((id) => !isDirectMessage(id));
		const notTold = (error: unknown) => {
			const retryAt = retryAtOf(error, now);
			if (retryAt === null) log.warn('inbox_channels_unknown', { code: codeOf(error) });
			againAt = Math.max(againAt ?? 0, retryAt ?? 0, now + ASK_AGAIN_MS);
			return null;
		};
		const [refusals, listed, direct, { mayAnswer, failure }] = await Promise.all([
			Promise.all(ids.map((id) => accessPolicy.checkAbsent(person, { channelId: id }, need))),
			inTeam.length > 0 ? memberships.joinedOf(person.userId, inTeam, need).catch(notTold) : null,
			ids.some(isDirectMessage) ? memberships.directChannelOf(person.userId).catch(notTold) : null,
			accessPolicy.answering(person, sessionIds),
		]);
		if (failure !== null) notTold(failure);
		const isMember = (id: string) => (isDirectMessage(id) ? id === direct : listed?.has(id) === true);
		const allowed = new Set(ids.filter((_, index) => refusals[index]?.refusal === null));
		return { allowed, joined: new Set(ids.filter(isMember)), mayAnswer, againAt };
	}

	async function questionsOfPage(questions: readonly VisibleQuestion[], person: Person, now: number) {
		if (questions.length === 0) return { shown: [], unreadableCount: 0 };
		const sessionIds = questions.map(({ question }) => question.sessionId);
		const [snapshots, claims] = await Promise.all([
			reads.snapshots(serviceUrl, sessionIds),
			reads.claims(serviceUrl, sessionIds, now),
		]);
		const shown = questions.flatMap((visible) => {
			const { sessionId, messageIndex } = visible.question;
			const snapshot = snapshots.get(sessionId);
			const view = snapshot?.question;
			// The question was closed since the keys were read. The next update leaves it out.
			if (snapshot === undefined || view == null || view.openCount === 0) return [];
			/** The user ids of other people who are answering it, oldest claim first. */
			const answering = claims
				.filter(({ question }) => question.sessionId === sessionId && question.messageIndex === messageIndex)
				.flatMap(({ person: { userId } }) => (userId === person.userId ? [] : [userId]));
			const question = { ...visible.question, messageIndex: view.messageIndex };
			const askedIn = { ...visible.askedIn, buttons: config.QUICK_ANSWERS && visible.askedIn.buttons };
			return [{ ...visible, question, askedIn, sessionName: snapshot.name, view, answering }];
		});
		return { shown, unreadableCount: sessionIds.length - snapshots.size };
	}

	/**
	 * `ownAnswers`: under way, or in need of a decision, which a failed one is for a day. `lastAnswers`: the newest
	 * others, newest first.
	 */
	async function ownAnswersOf(person: Person, now: number) {
		const [ownAnswers, newest] = await Promise.all([
			reads.ownAnswers(serviceUrl, person, { failedSince: now - DAY_MS, limit: MOST_OWN_ANSWERS }),
			reads.lastAnswers(serviceUrl, person, MOST_LAST_ANSWERS + MOST_OWN_ANSWERS),
		]);
		const shownIds = new Set(ownAnswers.shown.map(({ id }) => id));
		const others = withoutRepeats(newest).filter(({ id }) => !shownIds.has(id));
		return { ownAnswers, lastAnswers: others.slice(0, MOST_LAST_ANSWERS) };
	}

	/** The listed sessions without those whose question the person sees, in the order of the list. */
	async function othersThan(seen: readonly VisibleQuestion[], { sessions }: WaitingSessions, now: number) {
		const seenIds = new Set(seen.map(({ question }) => question.sessionId));
		const others = sessions.filter(({ sessionId }) => !seenIds.has(sessionId));
		const ids = others.map(({ sessionId }) => sessionId);
		const answered = await reads.answeredSessions(serviceUrl, ids, now - AGENT_GOES_ON_MS);
		return others.filter(({ sessionId }) => !answered.has(sessionId));
	}

	/** The questions that wait for a person; those that they snoozed; and old sessions, whose questions are folded. */
	async function waitingFor(person: Person, [open, listed]: OfWorkspace, how: Asked) {
		const { now } = how;
		// First what the person was handed, last what others hold; among equals the oldest first.
		const placeOf = ({ handOver }: VisibleQuestion) => (handOver === null ? 1 : handOver.to === person.userId ? 0 : 2);
		const snoozes = await reads.snoozes(serviceUrl, person);
		// Another person's direct message with the app is checked only for a question that was handed over from it.
		const heldIn = open.flatMap(({ handOver }) => (handOver?.to === person.userId ? handOver.channelId : []));
		const askedIn = open.flatMap((one) =>
			one.channels.flatMap(({ channelId, watchedBy }) =>
				isDirectMessage(channelId) && watchedBy !== person.userId ? [] : channelId,
			),
		);
		const sessions = [...open.map(({ question }) => question), ...(listed?.sessions ?? []), ...how.alsoOf];
		const sessionIds = sessions.map(({ sessionId }) => sessionId);
		const channels = await channelsOf(person, [...new Set([...askedIn, ...heldIn])], sessionIds, how);
		const seen = open
			.filter(({ question }) => channels.mayAnswer(question.sessionId))
			.flatMap((question) => asSeenIn(question, { ...channels, person }))
			.sort((a, b) => a.since - b.since || (a.question.sessionId < b.question.sessionId ? -1 : 1))
			.sort((a, b) => placeOf(a) - placeOf(b));
		// Old sessions have waited for a day, or since before the list was first read.
		const old = (listed?.sessions ?? []).filter(({ since, isNew }) => !isNew || since <= now - DAY_MS);
		// A few old sessions are shown like others, so that nobody has to look behind a button.
		const oldIds = new Set(old.length <= MOST_WAITING_SHOWN ? [] : old.map(({ sessionId }) => sessionId));
		const snoozeOf = ({ question: { sessionId }, fingerprint }: VisibleQuestion) =>
			snoozes.find((one) => one.until > now && one.session.sessionId === sessionId && one.fingerprint === fingerprint);
		const isFolded = ({ question: { sessionId }, isRaised, handOver }: VisibleQuestion) =>
			isRaised && handOver === null && oldIds.has(sessionId);
		const { snoozed = [], questions = [] } = Object.groupBy(seen, (question) =>
			snoozeOf(question) !== undefined ? 'snoozed' : isFolded(question) ? 'folded' : 'questions',
		);
		const backAt = snoozed.flatMap((question) => snoozeOf(question)?.until ?? []);
		return { listed, channels, seen, oldIds, snoozed, questions, backAt };
	}

	/** The first question of a person's inbox that is of another session than this; null: none is known. */
	async function next(person: Person, exceptSessionId: string, now: number) {
		const [open, listed] = await ofWorkspace(person.teamId);
		const others = open.filter(({ question }) => question.sessionId !== exceptSessionId);
		// Every receipt calls this, so Slack is asked about the person only if something may wait for them.
		if (others.length === 0 || (await accessPolicy.checkAbsent(person, ANYWHERE, 'home')).refusal !== null) return null;
		const [found] = (await waitingFor(person, [others, listed], { need: 'home', now, alsoOf: [] })).questions;
		if (found === undefined) return null;
		const { sessionId, messageIndex } = found.question;
		const { channelId, threadTs } = found.askedIn;
		// It is opened as from an inbox, not in its channel.
		return { sessionId, messageIndex, origin: { channelId, threadTs, isCopy: true as const } };
	}

	/** The content of this inbox at `now`. `againAt`: when to build it again, because a part is missing; else null. */
	async function build({ person, page, viewId, isAsked, shownAt, attempts }: DueView, now: number) {
		// A window, or an act in Home, comes before the many Homes that are only opened or kept current.
		const isAct = isAsked && shownAt !== null && attempts === 0;
		const need = viewId !== null || isAct ? 'look' : 'home';
		const { refusal, retryAt = null } = await accessPolicy.checkAbsent(person, ANYWHERE, need);
		if (refusal !== null) {
			const isUnknown = refusal === 'could_not_check';
			const content =
				isUnknown && retryAt !== null ? ({ kind: 'waiting' } as const) : ({ kind: 'refused', refusal } as const);
			return { content, againAt: isUnknown ? Math.max(retryAt ?? 0, now + ASK_AGAIN_MS) : null };
		}
		const read = reads.drafts(serviceUrl, person, MOST_DRAFTS);
		const [waitsFor, isWatching, { ownAnswers, lastAnswers }, drafts] = await Promise.all([
			Promise.all([ofWorkspace(person.teamId), read]).then(([known, drafts]) =>
				waitingFor(person, known, { need, now, alsoOf: drafts.map(({ question }) => question) }),
			),
			reads.isWatching(serviceUrl, person.teamId),
			ownAnswersOf(person, now),
			read,
		]);
		const { listed, channels, seen, oldIds, snoozed, questions, backAt } = waitsFor;
		const pageCount = Math.max(1, Math.ceil(questions.length / PER_PAGE));
		const unseen = listed === null ? [] : await othersThan([...questions, ...snoozed], listed, now);
		const others = unseen.filter(({ sessionId }) => channels.mayAnswer(sessionId));
		const old = others.filter(({ sessionId }) => oldIds.has(sessionId));
		const fresh = others.filter(({ sessionId }) => !oldIds.has(sessionId)).reverse();
		const shownPage = Math.min(page, pageCount + Math.ceil(old.length / PER_PAGE) - 1);
		const { shown, unreadableCount } = await questionsOfPage(pageOf(questions, shownPage), person, now);
		const snoozedIds = snoozed.map(({ question }) => question.sessionId);
		const [only = null] = (snoozed.length === 1 ? await reads.snapshots(serviceUrl, snoozedIds) : []).values();
		return {
			content: {
				kind: 'shown' as const,
				/** How many questions wait for the person, without those that they snoozed. */
				total: questions.length,
				snoozed: snoozed.length === 0 ? null : { count: snoozed.length, nextAt: Math.min(...backAt), only },
				/** Counts from 0, up to the last page. From `waiting.old.firstPage` on it shows no questions. */
				page: shownPage,
				/** The questions of this page. */
				questions: shown,
				/** Questions of this page stored with another key. */
				unreadableCount,
				/** False when Slack did not tell the person's channels: only the direct messages with the app are shown. */
				channelsKnown: channels.againAt === null,
				/** Sessions that wait, without those whose question is shown or snoozed; null: they are not listed. */
				waiting: listed && {
					/** The newest first. */
					shown: fresh.slice(0, MOST_WAITING_SHOWN),
					total: fresh.length,
					/** Probably abandoned ones, the first listed first, on their own pages after those of questions. */
					old: { total: old.length, firstPage: pageCount, shown: pageOf(old, shownPage - pageCount) },
					why: listed.why,
				},
				isWatching,
				ownAnswers,
				/** On the first page, like drafts. */
				lastAnswers: shownPage > 0 ? [] : lastAnswers,
				/** The newest first; `askedIn`: where the person may see the question. */
				drafts: (shownPage > 0 ? [] : drafts).map((draft) => {
					const asked = seen.find(({ question }) => question.sessionId === draft.question.sessionId);
					// While Slack does not tell groups, the draft is shown as allowed.
					const isAllowed = channels.againAt !== null || channels.mayAnswer(draft.question.sessionId);
					return { ...draft, isAllowed, askedIn: asked?.askedIn ?? null };
				}),
			},
			againAt: channels.againAt,
		};
	}

	return {
		build,
		/** The first question that waits for the author of an answer, of another session; null: none is known. */
		nextOf: ({ person, question }: Answer) => next(person, question.sessionId, clock.now()),
	};
}

export type InboxBuilder = ReturnType<typeof createInboxContent>;
export type InboxContent = DeepReadonly<Awaited<ReturnType<InboxBuilder['build']>>['content']>;
export type ShownInbox = Extract<InboxContent, { kind: 'shown' }>;
export type InboxQuestion = ShownInbox['questions'][number];
export type InboxWaiting = NonNullable<ShownInbox['waiting']>;
export type InboxDraft = ShownInbox['drafts'][number];

/** Somebody's answers, newest first, without repeated presses of the same choice. */
function withoutRepeats(newest: readonly Answer[]): readonly Answer[] {
	const seen = new Set<string>();
	return newest.filter((answer) => {
		if (!isSecondChoice(answer)) return true;
		const count = seen.size;
		seen.add(JSON.stringify([answer.question, answer.fingerprint, textsOf(answer)]));
		const isOwn = firstPersonOf(answer)?.userId === answer.person.userId;
		return seen.size > count && !(isOwn && firstAnswerOf(answer)?.same === true);
	});
}

/** An open question in the one channel through which the person answers it. */
type VisibleQuestion = ReturnType<typeof asSeenIn>[number];

/** The entries of a page; none for a page below 0. */
function pageOf<Entry>(entries: readonly Entry[], page: number): readonly Entry[] {
	return page < 0 ? [] : entries.slice(page * PER_PAGE, (page + 1) * PER_PAGE);
}

/**
 * The question in one channel where the person sees it, preferably with buttons. `isRaised`: only `watch all` found it.
 */
function asSeenIn(
	{ channels, ...question }: OpenQuestion,
	{ person, allowed, joined }: { person: Person; allowed: ReadonlySet<string>; joined: ReadonlySet<string> },
) {
	const { handOver } = question;
	const handedIn = handOver?.to === person.userId ? handOver.channelId : null;
	const places = channels.filter(({ channelId: id }) => allowed.has(id) && (joined.has(id) || id === handedIn));
	const askedIn = places.find(({ buttons }) => buttons) ?? places[0];
	return askedIn === undefined ? [] : [{ ...question, askedIn, isRaised: places.every(({ isRaised }) => isRaised) }];
}

/** Calls with the same key in one turn of the event loop share one call of `load`, which begins after them. */
function shareNext<Result>(load: (key: string) => Promise<Result>) {
	const waiting = new Map<string, Promise<Result>>();
	const begin = async (key: string) => {
		await Promise.resolve();
		waiting.delete(key);
		return load(key);
	};
	return (key: string): Promise<Result> => {
		const shared = waiting.get(key) ?? begin(key);
		waiting.set(key, shared);
		return shared;
	};
}
