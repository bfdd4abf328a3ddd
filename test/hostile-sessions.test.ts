import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openQuestion, type Session } from '../src/domain/session.ts';
import { snapshotOf } from '../src/domain/session-snapshot.ts';
import { watchCard } from '../src/screens/card.ts';
import { loadingModal, type SessionModel, sessionModal } from '../src/screens/form.ts';
import { NOTICES } from '../src/screens/form-notices.ts';
import { watchPost } from '../src/screens/notice.ts';
import { askedPost, settledQuestionPost } from '../src/screens/question-post.ts';
import { answerCard, errorMessage, errorModal, errorWords } from '../src/slack/error-view.ts';
import { readForm } from '../src/slack/form/fields.ts';
import { decodeMetadata, newMetadata } from '../src/slack/ids.ts';
import { createLinks } from '../src/slack/links.ts';
import { readView } from '../src/slack/request.ts';
import { answerOf, now } from './slack/support/answers.ts';
import { expectSafeMessage, expectSafeView } from './slack/support/check.ts';
import { hostileSession } from './slack/support/hostile-session.ts';
import { hostileText } from './slack/support/hostile-text.ts';
import { answeredContent, askedContent, postContext } from './slack/support/posts.ts';
import { stateOf } from './slack/support/slack-state.ts';
import { runs } from './support/runs.ts';
import { gatedResponse } from './support/sessions.ts';

const sessionId = hostileText.map((text) => text.slice(0, 400).toWellFormed() || 'x');

/** How the modal is shown. */
const view = fc.record({
	sessionId: fc.oneof({ weight: 3, arbitrary: fc.constant('3f9a2c1d') }, sessionId),
	page: fc.nat(130),
	partial: fc.boolean(),
	plainText: fc.boolean(),
	drafts: fc.array(hostileText, { maxLength: 6 }),
	displayName: hostileText,
	withoutImages: fc.boolean(),
	watched: fc.boolean(),
	dashboard: fc.boolean(),
	claims: fc.nat(5),
});

describe('hostile sessions', () => {
	it('shows a hostile session in a modal without mentions or links and reads its fields back in full', () => {
		fc.assert(
			fc.property(hostileSession, view, (raw, chosen) => {
				const session = gatedResponse({ session: raw }, chosen.sessionId);
				fc.pre(session !== null);
				const model = modelOf(session, chosen);
				const modal = sessionModal(model);
				expectSafeView(modal);
				expect(modal.submit !== undefined).toBe(modal.blocks.some((block) => block.type === 'input'));
				expectFieldsComeBack(model, modal);
				const again = sessionModal({ ...model, metadata: metadataOf(modal), now: now + 60_000 });
				expect(fieldIds(again)).toEqual(fieldIds(modal));
				expectSafeView(again);
			}),
			{ numRuns: runs(150) },
		);
	});

	it('keeps hostile ids and codes harmless in loading views, errors and cards', () => {
		fc.assert(
			fc.property(hostileSession, view, hostileText, (raw, chosen, code) => {
				const session = gatedResponse({ session: raw }, chosen.sessionId);
				fc.pre(session !== null);
				const { metadata } = modelOf(session, chosen);
				const context = { kept: 'text', adminContact: chosen.displayName } as const;
				expectSafeView(loadingModal(newMetadata({ ...metadata, sessionName: session.name })));
				expectSafeView(errorModal(code, metadata, context));
				expectSafeMessage(errorMessage(code, chosen.sessionId, context));
				expectSafeMessage(answerCard(chosen.sessionId));
			}),
			{ numRuns: runs(88) },
		);
	});

	it('shows a hostile session in a card and posts without mentions, links or signed addresses', () => {
		fc.assert(
			fc.property(hostileSession, sessionId, hostileText, fc.boolean(), (raw, id, name, isAnswered) => {
				const session = gatedResponse({ session: raw }, id);
				fc.pre(session !== null);
				const snapshot = { ...snapshotOf(session, now), sessionId: id };
				const names = { displayName: () => name };
				const card = watchCard({
					snapshot,
					isEndTold: false,
					link: null,
					unreadCode: isAnswered ? 'session_missing' : null,
					checkedAt: now,
					discreet: isAnswered,
					asks: isAnswered,
					claimedBy: [name],
					handOver: null,
					isUpdate: true,
					ended: isAnswered ? null : 'channelShared',
					adminContact: name,
					names,
					dashboardUrl: 'https://dash.example',
				});
				expectSafeMessage(card);
				expect(JSON.stringify(card)).not.toContain('"url":"https://bucket.example');
				const standing = isAnswered ? answerOf({ person: { teamId: 'T1', userId: name } }) : null;
				const options = { standing, names, adminContact: name, discreet: isAnswered };
				const post = postContext({ ...options, sessionId: id, snapshot, now });
				expectSafeMessage(watchPost({ kind: 'status', from: snapshot.status, to: snapshot.status }, post));
				if (snapshot.question === null) return;
				expectSafeMessage(settledQuestionPost(answeredContent(snapshot.question, name), 'answered', post));
				expectSafeMessage(askedPost(askedContent(snapshot.question), false, post));
			}),
			{ numRuns: runs(50) },
		);
	});
});

type Chosen = typeof view extends fc.Arbitrary<infer Value> ? Value : never;

function modelOf(session: Session, chosen: Chosen): SessionModel {
	const question = openQuestion(session);
	const draft: Record<number, string> = {};
	chosen.drafts.forEach((text, at) => {
		const position = question?.openItems[at];
		if (position !== undefined) draft[position] = text;
	});
	return {
		session,
		readAt: now - 30_000,
		question,
		metadata: {
			...newMetadata({ sessionId: chosen.sessionId, formId: 'form', origin: { channelId: 'C1', threadTs: '1.2' } }),
			page: chosen.page,
			partial: chosen.partial,
			plainText: chosen.plainText,
		},
		draft,
		notices: [
			NOTICES.questionChanged(true),
			NOTICES.answeredMeanwhile('U0OURS2', [chosen.displayName, null], now, now),
			NOTICES.draftRestored(now - 1000),
			NOTICES.prefilled('Your earlier answer'),
			NOTICES.stale(errorWords(chosen.displayName).what, now - 1000, now),
			NOTICES.ownAnswer({ state: 'waiting', acceptedAt: now - 5000, agentOutcome: null, lastError: null }),
		],
		claims: Array.from({ length: chosen.claims }, (_, at) => (at === 1 ? chosen.displayName : `U0OURS${at}`)),
		now,
		dashboardUrl: chosen.dashboard ? 'https://dash.example' : null,
		links: createLinks({ serviceUrl: 'https://service.example', dashboardUrl: null }),
		offersWatch: chosen.watched,
		withoutImages: chosen.withoutImages,
	};
}

function expectFieldsComeBack(model: SessionModel, modal: ReturnType<typeof sessionModal>): void {
	const metadata = metadataOf(modal);
	const { choices } = readView({ id: 'V1', blocks: modal.blocks });
	for (const untouched of ['kept', 'null', 'absent'] as const) {
		const { values, fieldErrors } = readForm({
			values: stateOf(modal, untouched),
			choices,
			metadata,
			draft: model.draft,
		});
		expect(Object.keys(values).map(Number)).toEqual(metadata.fields);
		for (const position of metadata.offered) {
			const offered = model.draft[position]?.toWellFormed() ?? '';
			// "yes" is offered as the option "Yes".
			expect(values[position]).toBe(/^\s*(?:yes|no)\s*$/i.test(offered) ? values[position] : offered);
			expect(values[position]?.toLowerCase().trim()).toBe(offered.toLowerCase().trim());
		}
		for (const position of metadata.fields) {
			if (!metadata.offered.includes(position)) expect(values[position]).toBe('');
		}
		expect(fieldIds(modal)).toEqual(expect.arrayContaining(Object.keys(fieldErrors)));
	}
}

function metadataOf(modal: ReturnType<typeof sessionModal>) {
	const metadata = decodeMetadata(modal.private_metadata);
	if (metadata === null) throw new Error('the metadata cannot be read back');
	return metadata;
}

function fieldIds(modal: ReturnType<typeof sessionModal>): (string | undefined)[] {
	return modal.blocks.flatMap((block) => (block.type === 'input' ? [block.block_id] : []));
}
