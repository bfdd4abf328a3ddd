import type { SettledHow } from '../../../src/domain/occurrences.ts';
import type { SessionKey } from '../../../src/domain/session.ts';
import type { QuestionView } from '../../../src/domain/session-snapshot.ts';
import type { WatchUpdate } from '../../../src/sessions/recording-store.ts';
import { sessionReads } from '../../../src/store/session-reads.ts';
import type { Watch } from '../../../src/store/watch.ts';
import { type AttemptResult, type DuePost, kindOf, type NewPost, type Post } from '../../../src/surfaces/post.ts';
import { addWatch, type newWatch, SERVICE, sessionView, storedWatch } from '../../sessions/support.ts';
import { type FoundChange, recordRead, type TestUpdate } from '../../support/found.ts';
import type { Subject } from '../contract.ts';
import { attemptAt, LEASE, present, spread, T0 } from '../support.ts';

export const C1 = { teamId: 'T1', channelId: 'C1' };
export const KEY = { service: SERVICE, sessionId: 's1' };

/** The result of a read; by default nothing has changed. */
export function read(overrides: Partial<TestUpdate> = {}): TestUpdate {
	return {
		nextRead: { at: T0 + 10_000, by: T0 + 12_000 },
		lastReadAt: T0,
		lastChangeAt: T0,
		failures: 0,
		overSince: null,
		earlyReadCount: 1,
		reads: sessionReads.parse({}),
		...overrides,
	};
}

/** A post with this key. */
export function said(watch: Watch, key: string): NewPost {
	const { id, teamId, channelId } = watch;
	const target = { kind: 'watch', watchId: id, teamId, channelId } as const;
	return { target, key, content: { kind: 'status', from: 'active', to: key } };
}

/** The update of a watch after a read. */
export function news(watch: Watch, overrides: Partial<WatchUpdate> = {}): WatchUpdate {
	const { id: watchId, revision } = watch;
	return { watchId, revision, changed: true, posts: [], card: null, end: null, ...overrides };
}

/** A question as channels see it, and how a read tells that it is asked and settled. */
export const QUESTION: QuestionView = {
	messageIndex: 1,
	fingerprint: 'f',
	shownHash: 'shown',
	goneOn: false,
	context: 'Why',
	items: [],
	itemCount: 1,
	openCount: 1,
	quick: null,
};
const { messageIndex, fingerprint, shownHash } = QUESTION;
export const ASKED = {
	kind: 'asked',
	question: { messageIndex, fingerprint, shownHash, answered: [], open: [0] },
	settled: null,
} as const satisfies FoundChange;
export const settled = (how: SettledHow): FoundChange => ({ kind: 'settled', how });
/** The session's snapshot with this question. */
export const askingView = (question = QUESTION) => ({ ...sessionView('s1'), question });

/** The post of the open question. */
export function asking(watch: Watch, key = 'question'): NewPost {
	return { ...said(watch, key), content: { kind: 'question', changed: false } };
}

/** A reminder in the channel of this watch, with its question. */
export function listed({ id: watchId, teamId, channelId, session }: Watch, key = 'list'): NewPost {
	const question = { watchId, sessionId: session.sessionId, questionId: 'question', postTs: '1.2', postedAt: T0 };
	const entry = { ...question, heldBy: null, stage: 'reminder', dueAt: T0, isLast: false } as const;
	return { target: { kind: 'channel', teamId, channelId }, key, content: { kind: 'reminder', entries: [entry] } };
}

/** The outcome of a call to Slack that shows a post, for the first time at `ts`. */
export function shownAt(
	{ content, ts: posted }: Post,
	ts: string,
	overrides: Partial<Extract<AttemptResult, { kind: 'shown' }>> = {},
): AttemptResult {
	const isLast = kindOf(content).isCurrent !== true;
	return { kind: 'shown', ts: posted ?? ts, key: 'looks', isLast, ...overrides };
}

/** Whether nothing of it is to be shown yet. */
const isHeldReminder = ({ content, ts }: Pick<Post, 'content' | 'ts'>) =>
	ts === null && content.kind === 'reminder' && content.entries.length === 0;

/** The key of a post as it was queued: the store adds which time a question is asked. */
export const keyOf = ({ post: { key, content }, question }: DuePost) =>
	content.kind === 'question' && question !== null ? key.replace(question.id, '') : key;

/** Typical uses of a watch store. */
export function watchActs(subject: Subject) {
	const store = () => subject.store;
	const replica = () => subject.replica;

	/** The stored watch, ended or not. */
	const stored = (id: string) => storedWatch(subject.store.db, id);

	const added = (overrides: Parameters<typeof newWatch>[0] = {}): Promise<Watch> =>
		addWatch(store().watches, overrides);

	/** Takes the session and records a read of it. */
	async function recorded(
		watches: readonly WatchUpdate[],
		update = read(),
		{ takenAt = T0, now, session = KEY }: { takenAt?: number; now?: number; session?: SessionKey } = {},
	) {
		await store().sessions.takeDue(SERVICE, LEASE, 10, takenAt);
		return recordRead(store(), { session, token: LEASE.token }, { update, watches, now: now ?? takenAt });
	}

	/** What became of the attempt with this lease to show a post. */
	const ended = (post: Post, result: AttemptResult, now = T0, { token } = LEASE) =>
		store().posts.endAttempt(post, token, result, now);

	const unwatch = (id: string) => store().watches.end(id, 'unwatched', { now: T0, posts: [] });

	/** Takes the post that is due first, of as many as may be taken. */
	async function next(now = T0, limit = 1): Promise<DuePost> {
		return present((await store().posts.takeDue(LEASE, limit, now))[0]);
	}

	/**
	 * Takes and posts everything that is next in its stream's order, and draws nothing again; returns keys. Reminders
	 * stay held.
	 */
	const posted = (now = T0) => attempted(({ post }) => post.ts === null && !isHeldReminder(post), now);

	/** Draws again what is due and shown; returns keys. */
	const drawn = (now = T0) => attempted(({ post }) => post.ts !== null, now);

	async function attempted(isWanted: (due: DuePost) => boolean, now: number): Promise<string[]> {
		const lease = { ...LEASE, token: 'attempted' };
		const due = (await store().posts.takeDue(lease, 50, now)).filter(isWanted);
		for (const one of due) {
			await store().posts.beginAttempt(one.post.id, lease.token, attemptAt(now));
			await store().posts.endAttempt(one.post, lease.token, shownAt(one.post, `ts-${keyOf(one)}`), now);
		}
		await store().posts.release([lease.token]);
		return due.map(keyOf);
	}

	/** A watch whose card and question stand, and nothing is marked. */
	async function asked(): Promise<Watch> {
		const watch = await added();
		await posted();
		const update = read({ nextRead: { at: T0, by: T0 }, snapshot: askingView(), questions: [ASKED] });
		await recorded([news(watch, { posts: [asking(watch)] })], update);
		await posted();
		await drawn();
		await spread(subject.store);
		return watch;
	}

	/** The newest card of a watch, as stored. */
	async function cardOf(watchId: string) {
		return (await postsOf(watchId)).findLast(({ kind }) => kind === 'card');
	}

	/** The posts of a watch as stored, in the order in which they were planned. */
	async function postsOf(watchId: string) {
		await spread(subject.store);
		const posts = subject.replica.db.read.selectFrom('posts').selectAll().where('watchId', '=', watchId);
		return posts.orderBy('stream').orderBy('number').execute();
	}

	/** All questions as stored, in the order in which they were asked. */
	const questionRows = () => subject.replica.db.read.selectFrom('questions').selectAll().orderBy('number').execute();

	return {
		store,
		replica,
		questionRows,
		stored,
		added,
		recorded,
		ended,
		unwatch,
		next,
		posted,
		drawn,
		asked,
		cardOf,
		postsOf,
	};
}

/** Sorts rows that come in any order. */
export const byText = (one: unknown, other: unknown) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);
