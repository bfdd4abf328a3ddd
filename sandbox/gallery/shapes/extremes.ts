import { DEFAULT_CHANNEL_SETTINGS } from '../../../src/domain/channel-settings.ts';
import { type CardModel, watchCard } from '../../../src/screens/card.ts';
import { filesMessage } from '../../../src/screens/details.ts';
import { handOverPost, MOST_IN_NOTE } from '../../../src/screens/hand-over.ts';
import { watchPost } from '../../../src/screens/notice.ts';
import { askedPost, type PostContext, settledQuestionPost } from '../../../src/screens/question-post.ts';
import { digestPost, type RemindedQuestion, reminderPost } from '../../../src/screens/reminder.ts';
import { settingsChangedPost } from '../../../src/screens/settings.ts';
import { outcomesMessage, WATCHES_PAGE, watchList, watchOutcomeWords } from '../../../src/screens/watch.ts';
import {
	AT_WORK,
	answerOf,
	FLIGHTS,
	FULL_SETTINGS,
	GIANT,
	GIANT_SESSION,
	HAND_OVER,
	HOSTILE,
	LONGEST_ID,
	listOf,
	MARKDOWN_SESSION,
	MODEL,
	NOW,
	questionOf,
	SERVICE,
	SETTINGS_MODEL,
	type Shape,
	sessionOf,
	shapesOf,
	snapshotAtNow,
	USER_ID,
} from './samples.ts';
import { extremeViews } from './views.ts';

const NOTE = HOSTILE.repeat(2).slice(0, MOST_IN_NOTE);

const VIEWS = [null, ...[AT_WORK, GIANT_SESSION, sessionOf(HOSTILE)].map(snapshotAtNow)];
export const FULL_PAGE = listOf(WATCHES_PAGE, (index) => {
	const snapshot = VIEWS[index % VIEWS.length] ?? null;
	const session = { service: SERVICE, sessionId: snapshot?.sessionId ?? MODEL.sessionId };
	return { session, snapshot, lastChangeAt: NOW - 60_000 };
});

export const POST: PostContext = {
	...MODEL,
	snapshot: snapshotAtNow(AT_WORK),
	watchedBy: USER_ID,
	reader: null,
	ended: null,
	showAnswers: 'always',
};
export const GIANT_CARD: CardModel = {
	...POST,
	asks: true,
	isEndTold: false,
	link: null,
	unreadCode: 'session_missing',
	snapshot: snapshotAtNow(GIANT_SESSION),
	checkedAt: null,
	isUpdate: true,
};
export const GIANT_POST: PostContext = {
	...POST,
	sessionId: LONGEST_ID,
	snapshot: snapshotAtNow({ ...AT_WORK, name: GIANT }),
	standing: answerOf({ state: 'resumed' }),
	claimedBy: [USER_ID, USER_ID],
	adminContact: GIANT,
};

export const ESCALATION: RemindedQuestion = {
	...MODEL,
	entry: {
		watchId: 'watch',
		sessionId: LONGEST_ID,
		questionId: '',
		postTs: MODEL.threadTs,
		postedAt: NOW - 900_000,
		heldBy: USER_ID,
		stage: 'escalation',
		dueAt: NOW - 10_000,
		isLast: true,
	},
	question: questionOf(GIANT_SESSION),
	outcome: '',
	steps: '',
	waitedMs: 900_000,
	sessionName: GIANT,
	threadOnly: false,
	handOver: HAND_OVER,
	link: 'https://example.slack.com/archives/C0EXAMPLE1/p1795250400000100?thread_ts=1795250400.000100',
};

const escalationAs = (index: number) => ({ ...ESCALATION, entry: { ...ESCALATION.entry, questionId: `${index}` } });
export const REMINDER = { ...MODEL, mention: FULL_SETTINGS.mention };

let made: readonly Shape[] | null = null;

/** The largest and strangest views and messages, all invented. Drawn once: that takes seconds. */
export function extremes(): readonly Shape[] {
	made ??= drawn();
	return made;
}

function drawn(): Shape[] {
	const giant = questionOf(GIANT_SESSION);
	const readAt = NOW - 120_000;
	const handedOver = { kind: 'handedOver', watchId: 'watch', handOverId: '', from: USER_ID } as const;
	const answered = giant.items.map((item) => ({ ...item, open: false, value: GIANT }));
	const unreadable = { kind: 'unreadable', code: 'unauthorized' } as const;
	const error = { ...MODEL, adminContact: 'the people on call '.repeat(20) };
	const lines = listOf(20, () => watchOutcomeWords(LONGEST_ID, unreadable, error));
	return [
		...extremeViews(),
		...shapesOf(outcomesMessage, { 'as many long lines as there can be': [lines] }),
		...shapesOf(filesMessage, { 'too many': [sessionOf(GIANT), MODEL.links] }),
		...shapesOf(watchCard, {
			'everything giant': [GIANT_CARD],
			'with a menu': [{ ...GIANT_CARD, snapshot: snapshotAtNow(AT_WORK) }],
		}),
		...shapesOf(watchList, {
			'all sessions, and a middle page': [
				{ watches: FULL_PAGE, total: 1_000 },
				{ channelId: MODEL.channelId, offset: WATCHES_PAGE },
				['All sessions.'],
			],
		}),
		...shapesOf(askedPost, {
			'giant question': [{ question: giant, readAt }, false, GIANT_POST],
			'the most buttons': [{ question: questionOf(FLIGHTS), readAt }, false, POST],
			Markdown: [{ question: questionOf(MARKDOWN_SESSION), readAt }, false, POST],
		}),
		...shapesOf(settledQuestionPost, {
			'giant answered': [{ question: giant, readAt, answered }, 'answered', GIANT_POST],
		}),
		...shapesOf(watchPost, { 'giant end': [{ kind: 'watchEnded' }, { ...GIANT_POST, ended: 'channelShared' }] }),
		...shapesOf(handOverPost, { options: [handedOver, { question: questionOf(FLIGHTS), readAt }, POST, NOTE] }),
		...shapesOf(reminderPost, { escalation: [ESCALATION, 900_000, REMINDER] }),
		...shapesOf(digestPost, { many: [listOf(100, escalationAs), REMINDER] }),
		...shapesOf(settingsChangedPost, {
			'everything set': [
				{ kind: 'settingsChanged', by: USER_ID, before: DEFAULT_CHANNEL_SETTINGS, after: FULL_SETTINGS },
				{ ...MODEL, ...SETTINGS_MODEL },
			],
		}),
	];
}
