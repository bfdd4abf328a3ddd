import fc from 'fast-check';
import { describe, it } from 'vitest';
import type { ReadMessage } from '../../src/domain/gate.ts';
import { openQuestion, type Session } from '../../src/domain/session.ts';
import { type SessionSnapshot, snapshotOf } from '../../src/domain/session-snapshot.ts';
import { historyView } from '../../src/screens/answer.ts';
import { watchCard } from '../../src/screens/card.ts';
import { filesMessage } from '../../src/screens/details.ts';
import { chooseItemModal, loadingModal, sessionModal } from '../../src/screens/form.ts';
import { NOTICES } from '../../src/screens/form-notices.ts';
import { handOverPost } from '../../src/screens/hand-over.ts';
import { type PostedContent, watchPost } from '../../src/screens/notice.ts';
import { askedPost, settledQuestionPost } from '../../src/screens/question-post.ts';
import { receiptMessage, receiptModal } from '../../src/screens/receipt.ts';
import { formOffer } from '../../src/screens/reply.ts';
import { outcomesMessage, watchList, watchOutcomeWords } from '../../src/screens/watch.ts';
import { answerCard, errorMessage, errorModal, errorWords, stillWaitingMessage } from '../../src/slack/error-view.ts';
import { newMetadata } from '../../src/slack/ids.ts';
import { createLinks } from '../../src/slack/links.ts';
import { answerOf, item, now } from '../slack/support/answers.ts';
import { hostileText } from '../slack/support/hostile-text.ts';
import { answeredContent, askedContent, postContext } from '../slack/support/posts.ts';
import { expectVoices, foreign, IMITATIONS } from '../slack/support/voices.ts';
import { watchOf } from '../slack/support/watches.ts';
import { runs } from '../support/runs.ts';
import { buildSession } from '../support/sessions.ts';

const text = fc
	.oneof({ weight: 4, arbitrary: fc.constantFrom(...IMITATIONS) }, { weight: 1, arbitrary: hostileText })
	.map(foreign);
const texts = fc.array(text, { minLength: 8, maxLength: 8 });

/** A session in which every text comes from outside. */
const session = fc.record({ texts, items: fc.nat(34), asks: fc.boolean(), over: fc.boolean() }).map(build);

function build(chosen: { texts: readonly string[]; items: number; asks: boolean; over: boolean }): Session {
	const pick = (at: number) => chosen.texts[at % chosen.texts.length] ?? '';
	const says = (at: number, more: Partial<ReadMessage> = {}): ReadMessage => ({
		role: 'assistant',
		content: pick(at),
		actions: [
			{ kind: 'other', text: pick(at + 1) },
			{ kind: 'saveFile', text: pick(at + 2) },
		],
		humanInput: [],
		...more,
	});
	const items = Array.from({ length: chosen.items }, (_, at) => ({
		title: pick(at),
		description: pick(at + 3),
		value: chosen.asks ? '' : pick(at + 5),
	}));
	return buildSession({
		sessionId: pick(1).slice(0, 300).toWellFormed() || 'x',
		status: chosen.over ? 'completed' : chosen.asks ? 'humanInput' : pick(2),
		name: pick(0),
		messages: [
			says(1, { role: 'user' }),
			says(2, { role: pick(3) }),
			says(4, { role: 'user' }),
			says(5, chosen.over ? { actions: [{ kind: 'done', text: pick(6) }] } : {}),
			says(7, { humanInput: items }),
		],
		files: [{ filename: pick(3), signedUrl: 'https://bucket.example/file?sig=1' }],
		lastScreenshotUrl: 'https://bucket.example/shot.png',
		sessionDetails: pick(5),
	});
}

const LINKS = createLinks({ serviceUrl: 'https://service.example', dashboardUrl: null });

describe('text from outside is marked as such and never begins a view or message', () => {
	it('marks text from outside in the modal of a session', () => {
		fc.assert(
			fc.property(session, text, fc.boolean(), (given, name, plainText) => {
				const question = openQuestion(given);
				const { sessionId } = given;
				const values = [name, null, ''];
				expectVoices(
					sessionModal({
						session: given,
						readAt: now,
						question,
						metadata: { ...newMetadata({ sessionId, formId: 'form' }), plainText },
						draft: {},
						notices: [
							NOTICES.answeredMeanwhile(null, values, now, now),
							NOTICES.stale(errorWords(name).what, now, now),
						],
						claims: [name],
						now,
						dashboardUrl: 'https://dash.example',
						offersWatch: false,
						links: LINKS,
					}),
				);
				if (question === null) return;
				const metadata = newMetadata({ sessionId, formId: 'form' });
				expectVoices(chooseItemModal(question, question.openItems, { text: name }, metadata));
			}),
			{ numRuns: runs(38) },
		);
	});

	it('marks text from outside in cards, posts and lists of a watch', () => {
		fc.assert(
			fc.property(session, text, fc.boolean(), (given, name, isThere) => {
				const names = { displayName: () => name };
				const snapshot = { ...snapshotOf(given, now), sessionId: given.sessionId };
				const standing = isThere ? answerOf({ state: 'resumed', person: { teamId: 'T1', userId: name } }) : null;
				const card = {
					snapshot,
					names,
					isEndTold: false,
					link: null,
					unreadCode: isThere ? 'session_missing' : null,
					checkedAt: now,
					discreet: false,
					ended: null,
					adminContact: null,
					dashboardUrl: null,
					handOver: null,
					isUpdate: true,
					asks: isThere,
					claimedBy: [name],
				};
				expectVoices(watchCard(card));
				const { sessionId } = given;
				const post = postContext({ sessionId, snapshot, standing, names, now });
				for (const content of posts(snapshot, name)) expectVoices(watchPost(content, post));
				if (snapshot.question !== null) {
					const { question } = snapshot;
					const asked = askedContent(question);
					const handed = { watchId: 'w', handOverId: 'h' };
					expectVoices(handOverPost({ kind: 'handedOver', from: name, ...handed }, asked, post));
					expectVoices(handOverPost({ kind: 'givenBack', by: name, ...handed }, asked, post));
					expectVoices(askedPost(asked, false, post));
					expectVoices(
						formOffer({ id: 'form', sessionId, messageIndex: 1 }, { text: name, question, sessionName: name }),
					);
					expectVoices(settledQuestionPost(answeredContent(question, name), 'answered', post));
				}
				expectVoices(watchList({ watches: [watchOf(snapshot)], total: 1 }, { channelId: 'C1', offset: 0 }));
				expectVoices(filesMessage(given, LINKS));
			}),
			{ numRuns: runs(38) },
		);
	});

	it('marks text from outside in receipts, histories and replies', () => {
		fc.assert(
			fc.property(texts, (given) => {
				const [id = '', name = '', title = '', value = '', other = ''] = given;
				const sessionId = id.slice(0, 300).toWellFormed() || 'x';
				const question = { service: 'https://service.example', sessionId, messageIndex: 1 };
				const items = [item(title, value), item('', other), item(other, null, { secret: true })];
				const said = { person: null, values: [other, null, value], at: now, answerId: null, same: false };
				const answer = answerOf({ state: 'conflicted', question, content: { kind: 'readable', items, other: said } });
				const metadata = newMetadata({ sessionId, formId: 'form' });
				const receipt = { now, adminContact: null };
				const error = { kept: 'nothing', adminContact: null } as const;
				for (const view of [
					receiptModal(answer, receipt),
					historyView(metadata, [answer], 1),
					errorModal(name, metadata, error),
					loadingModal({ ...metadata, sessionId, sessionName: name }),
				]) {
					expectVoices(view);
				}
				const lines = [
					watchOutcomeWords(sessionId, { kind: 'over', status: name }, error),
					watchOutcomeWords(sessionId, { kind: 'unknownSession' }, error),
				];
				for (const message of [
					receiptMessage(answer, receipt),
					answerCard(sessionId),
					errorMessage(name, sessionId, error),
					stillWaitingMessage(sessionId),
					outcomesMessage(lines),
				]) {
					expectVoices(message);
				}
			}),
			{ numRuns: runs(38) },
		);
	});
});

function posts(view: SessionSnapshot, name: string): PostedContent[] {
	const { status, sessionId } = view;
	return [
		{ kind: 'status', from: name, to: status },
		{ kind: 'creatorTold', reason: 'botRemoved', channelId: 'C1', sessionIds: [sessionId, 'a'] },
		{ kind: 'creatorTold', reason: 'botRemoved', channelId: 'C1', sessionIds: [sessionId] },
	];
}
