import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HAND_OVER } from '../sandbox/gallery/shapes/samples.ts';
import { ANSWER_STATES } from '../src/domain/answer.ts';
import { snapshotOf } from '../src/domain/session-snapshot.ts';
import { homeView, inboxModal } from '../src/screens/inbox.ts';
import {
	type InboxContent,
	type InboxDraft,
	type InboxQuestion,
	MOST_DRAFTS,
	MOST_LAST_ANSWERS,
	MOST_OWN_ANSWERS,
	PER_PAGE,
} from '../src/screens/inbox-content.ts';
import { answerOf, item, now } from './slack/support/answers.ts';
import { expectSafeView } from './slack/support/check.ts';
import { CANARY, hostileSession } from './slack/support/hostile-session.ts';
import { hostileText } from './slack/support/hostile-text.ts';
import { expectVoices, foreign, IMITATIONS } from './slack/support/voices.ts';
import { runs } from './support/runs.ts';
import { gatedResponse } from './support/sessions.ts';

type Shown = Extract<InboxContent, { kind: 'shown' }>;

const askedIn = {
	channelId: 'C0OURS1',
	threadTs: '1795250400.000100',
	watchedBy: 'U0EXAMPLE1',
	discreet: false,
	buttons: true,
	isRaised: false,
};
const sessionIds = hostileText.map((text) => text.slice(0, 400).toWellFormed() || 'x');

const answers = fc
	.record({
		state: fc.constantFrom(...ANSWER_STATES),
		sessionId: sessionIds,
		items: fc.array(
			fc.oneof(
				fc.record({ title: hostileText, value: fc.option(hostileText) }).map(({ title, value }) => item(title, value)),
				hostileText.map((title) => item(title, CANARY, { secret: true })),
			),
			{ maxLength: 40 },
		),
	})
	.map(({ state, sessionId, items }) =>
		answerOf({
			state,
			question: { service: 'https://service.example', sessionId, messageIndex: 1 },
			content: { kind: 'readable', items, other: null },
			origin: { channelId: 'C0OURS1', threadTs: null },
		}),
	);

const handOver = { ...HAND_OVER, channelId: 'C0OURS1', from: 'U0OURS2', to: 'U0OURS1' };

const questions = fc.tuple(hostileSession, sessionIds).map(([raw, sessionId]): InboxQuestion[] => {
	const session = gatedResponse({ session: raw }, sessionId);
	const snapshot = session === null ? null : snapshotOf(session, now);
	if (snapshot === null || snapshot.question === null) return [];
	return [
		{
			question: { service: 'https://service.example', sessionId, messageIndex: snapshot.question.messageIndex },
			fingerprint: snapshot.question.fingerprint,
			since: now - 3_600_000,
			askedIn,
			handOver,
			isRaised: false,
			sessionName: snapshot.name,
			view: snapshot.question,
			answering: ['U0OURS2', 'U0OURS3'],
		},
	];
});

const drafts = fc.tuple(sessionIds, hostileText).map(
	([sessionId, text]): InboxDraft => ({
		formId: 'form',
		person: { teamId: 'T1', userId: 'U0OURS1' },
		question: { service: 'https://service.example', sessionId, messageIndex: 1 },
		fingerprint: 'f',
		shownHash: 'h',
		values: { 0: text },
		updatedAt: now,
		askedIn,
		isAllowed: true,
		isClosed: text.length % 2 === 0,
		sessionName: text,
	}),
);

/** Each with an id of its own, and as many as a view may hold. */
function filled<Value>(most: number, values: readonly Value[], withId: (value: Value, id: string) => Value): Value[] {
	return Array.from({ length: most }, (_, index) => values[index % values.length]).flatMap((value, index) =>
		value === undefined ? [] : [withId(value, `id-${index}`)],
	);
}

const inboxes = fc
	.record({
		questions: fc.array(questions, { minLength: 1, maxLength: 3 }).map((found) => found.flat()),
		answers: fc.array(answers, { minLength: 1, maxLength: 4 }),
		drafts: fc.array(drafts, { minLength: 1, maxLength: 3 }),
	})
	.map((some): Shown => {
		const withAnswerId = <A extends { id: string }>(answer: A, id: string) => ({ ...answer, id });
		return {
			kind: 'shown',
			total: 35,
			snoozed: { count: 4, nextAt: now + 900_000, only: null },
			page: 1,
			questions: filled(PER_PAGE, some.questions, (value, id) => ({
				...value,
				question: { ...value.question, sessionId: `${id}${value.question.sessionId}`.slice(0, 400).toWellFormed() },
			})),
			unreadableCount: 3,
			channelsKnown: false,
			waiting: null,
			isWatching: true,
			ownAnswers: { shown: filled(MOST_OWN_ANSWERS, some.answers, withAnswerId), total: 12 },
			drafts: filled(MOST_DRAFTS, some.drafts, (value, formId) => ({ ...value, formId })),
			lastAnswers: filled(MOST_LAST_ANSWERS, some.answers, withAnswerId),
		};
	});

function modelOf(content: InboxContent, name: string) {
	const inbox = { followedUntil: now + 600_000, person: { teamId: 'T1', userId: 'U0OURS1' } };
	return { inbox, content, receipt: { now, adminContact: name }, names: { displayName: () => name }, isEnding: false };
}

describe('hostile inboxes', () => {
	it('shows full pages of hostile texts without mentions, links or secrets, in views that Slack accepts', () => {
		fc.assert(
			fc.property(inboxes, hostileText, (content, name) => {
				const home = homeView(modelOf(content, name));
				expectSafeView(home);
				expectSafeView(inboxModal(modelOf(content, name)));
				// Slack's limit is 100.
				expect(home.blocks.length).toBeLessThanOrEqual(90);
			}),
			{ numRuns: runs(19) },
		);
	});

	it('marks text from outside and never begins with it', () => {
		const text = fc.constantFrom(...IMITATIONS).map(foreign);
		fc.assert(
			fc.property(inboxes, fc.tuple(text, text, text), (content, [name, title, value]) => {
				const marked: Shown = {
					...content,
					questions: content.questions.map((question) => ({
						...question,
						sessionName: name,
						view: {
							...question.view,
							context: value,
							items: question.view.items.map((one) => ({ ...one, title, description: value })),
							quick: null,
						},
						question: { ...question.question, sessionId: '3f9a2c1d' },
					})),
					ownAnswers: { shown: [foreignAnswer(title, value)], total: 1 },
					drafts: content.drafts.map((draft) => ({
						...draft,
						question: { ...draft.question, sessionId: '3f9a2c1d' },
						values: { 0: value },
					})),
					lastAnswers: [foreignAnswer(title, value)],
				};
				expectVoices(homeView(modelOf(marked, name)));
				expectVoices(inboxModal(modelOf(marked, name)));
			}),
			{ numRuns: runs(19) },
		);
	});
});

function foreignAnswer(title: string, value: string) {
	return answerOf({ state: 'waiting', content: { kind: 'readable', items: [item(title, value)], other: null } });
}
