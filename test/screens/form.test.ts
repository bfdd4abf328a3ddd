import type { KnownBlock, ModalView } from '@slack/types';
import { describe, expect, it } from 'vitest';
import type { ReadMessage, ReadSession } from '../../src/domain/gate.ts';
import { SCREENSHOT_TEXT } from '../../src/screens/details.ts';
import { type SessionModel, sessionModal } from '../../src/screens/form.ts';
import { NOTICES } from '../../src/screens/form-notices.ts';
import { HIDES_ANSWER } from '../../src/slack/form/build.ts';
import { decodeMetadata, newMetadata } from '../../src/slack/ids.ts';
import { momentOf, statusWords } from '../../src/slack/phrases.ts';
import { notificationText } from '../../src/slack/rich-text.ts';
import { answerOf } from '../slack/support/answers.ts';
import { expectSafeView } from '../slack/support/check.ts';
import { type AskedItem, fieldsOf, sessionAsking, textsOf } from '../slack/support/questions.ts';
import { whatHappened } from '../support/sentences.ts';
import { buildSessionModel } from '../support/session-model.ts';
import { saying } from '../support/sessions.ts';

const dateOf = (at: number) => notificationText(momentOf(at));
const now = Date.parse('2026-11-20T08:40:00Z');

function show(session: ReadSession, more: Partial<SessionModel> = {}): ModalView {
	const view = sessionModal(buildSessionModel(session, now, more));
	expectSafeView(view);
	return view;
}

const asking = (more: Partial<ReadSession> = {}) => sessionAsking([{ title: 'Which hall?' }], more);
const step = (content: string, actions: ReadMessage['actions'] = []): ReadMessage => ({ ...saying(content), actions });
const steps = (count: number) => Array.from({ length: count }, (_, at) => step(`did ${at + 1}.`));
const typesOf = (view: ModalView) => view.blocks.map(({ type }) => type);

describe('sessionModal with an open question', () => {
	it("shows the agent's text once, then the fields, then everything else", () => {
		const view = show(asking({ status: 'humanInput', name: 'Book <a> hall', startTime: '2026-11-20T08:35:00Z' }));
		const [headline, said] = textsOf(view.blocks);
		expect(headline).toBe(`✋ *Book <a> hall* ${statusWords('humanInput').words} · step 1`);
		expect(said).toBe('> I need to know something.');
		expect(textsOf(view.blocks).filter((text) => text.includes('I need to know'))).toHaveLength(1);
		expect(typesOf(view).slice(0, 4)).toEqual(['rich_text', 'rich_text', 'input', 'actions']);
		expect(view.title.text).toBe('Answer');
		// One item, and plain text already.
		expect(buttonsOf(view).slice(0, 2)).toEqual([HIDES_ANSWER, 'Refresh']);
		expect(view).toMatchObject({ submit: { text: 'Send answer' }, close: { text: 'Cancel' }, notify_on_close: true });
	});

	it('shows the screenshot below what the agent wrote, and once', () => {
		const session = asking({ lastScreenshotUrl: 'https://bucket.example/shot.png' });
		const images = (view: ModalView) => (JSON.stringify(view).match(/"image_url"/g) ?? []).length;
		const view = show(session);
		const image = { type: 'image', image_url: session.lastScreenshotUrl, alt_text: SCREENSHOT_TEXT };
		expect(textsOf(view.blocks).slice(1, 3)).toEqual(['> I need to know something.', 'at bucket.example']);
		expect(view.blocks[2]).toMatchObject(image);
		expect([images(view), images(show(session, { withoutImages: true }))]).toEqual([1, 0]);
		expect(entriesOf(view)).toContain('Open the screenshot');
		const saying = (content: string) => session.messages.map((message) => ({ ...message, content }));
		expect(show({ ...session, messages: saying('') }).blocks[1]).toMatchObject(image);
	});

	it('has at most 50 words of its own for a question with two options', () => {
		const ours = 'aaa';
		const step3 = step(ours, [{ kind: 'click', text: '' }]);
		const session = sessionAsking([{ title: ours, description: 'One of: aaa 1, aaa 2' }], {
			name: ours,
			status: 'humanInput',
			sessionDetails: ours,
			lastScreenshotUrl: 'https://bucket.example/shot.png',
		});
		const messages = session.messages.toSpliced(1, 0, step3, step3).map((one) => ({ ...one, content: ours }));
		const words = wordsOf(show({ ...session, messages }, { offersWatch: true }));
		expect(words.length, words.join(' ')).toBeLessThanOrEqual(50);
	});

	it('stores the question, the form and the time of the read in its metadata', () => {
		const view = show(asking({ sessionId: 'somebody-else' }));
		// The requested id, not the one in the service's response.
		expect(JSON.stringify(view)).not.toContain('somebody-else');
		const metadata = decodeMetadata(view.private_metadata);
		expect(metadata).toMatchObject({
			sessionId: '3f9a2c1d',
			messageIndex: 1,
			formId: 'form-1',
			fields: [0],
			readAt: now,
		});
		expect(metadata?.fingerprint).toMatch(/^[0-9a-f]{32}$/);
	});

	it('offers to return from optional fields and from plain text fields', () => {
		const metadata = { ...newMetadata({ sessionId: 'x', formId: 'f' }), partial: true, plainText: true };
		const view = show(asking(), { metadata });
		expect(entriesOf(view)).toEqual(['Answer all', 'Suggested fields', HIDES_ANSWER]);
		expect(textsOf(view.blocks)).toContain('More');
		expect(textsOf(view.blocks).join()).toContain('You can leave fields empty.');
	});

	it.each<[what: string, items: AskedItem[], words: RegExp]>([
		['more items than a form has', Array.from({ length: 91 }, () => ({ title: 'a' })), /It asks 91 questions at once/],
		[
			'more text than the service accepts',
			[{ title: 'x'.repeat(100_000) }],
			/so long that the session service would not accept an answer/,
		],
	])('says that a question has %s, and where to answer', (_what, items, words) => {
		const view = show(sessionAsking(items));
		expect(textsOf(view.blocks).join('\n')).toMatch(words);
		expect(textsOf(view.blocks).join('\n')).toContain('Please answer it in the dashboard, with the button below.');
		expect(view.submit).toBeUndefined();
		expect(fieldsOf(view.blocks)).toEqual([]);
		const alone = show(sessionAsking(items), { dashboardUrl: null });
		expect(textsOf(alone.blocks).join('\n')).toMatch(/Please answer it in the dashboard\.$/m);
	});
});

describe('sessionModal at the limits of Slack', () => {
	const described = Array.from({ length: 70 }, (_, at) => ({
		title: `${at}`,
		description: `${'x'.repeat(200)}\nOne of: A, B`,
	}));

	it('drops the last details before fields or buttons', () => {
		const session = sessionAsking(described, {
			sessionDetails: 'About',
			lastScreenshotUrl: 'https://bucket.example/shot.png',
			files: Array.from({ length: 20 }, (_, at) => ({ filename: `f${at}`, signedUrl: null })),
		});
		const view = show({ ...session, messages: [...steps(10), ...session.messages] });
		expect(view.blocks).toHaveLength(100);
		expect(fieldsOf(view.blocks)).toHaveLength(70);
		expect(buttonsOf(view)).toContain('Refresh');
		expect(textsOf(view.blocks).join()).not.toContain('f7');
		expect(textsOf(show({ ...session, messages: steps(3) }).blocks).join()).toContain('f7');
	});

	it.each([
		['with descriptions and choices', 30, `${'x'.repeat(200)}\nOne of: A, B`],
		['as bare inputs', 90, 'x'.repeat(200)],
	])('fits a form of the most items %s and everything around it', (_what, count, description) => {
		// The first is longer than a label, so the dashboard is offered too.
		const open = Array.from({ length: count }, (_, at) => ({
			title: `${at}`.repeat(at === 0 ? 2_500 : 1),
			description,
		}));
		const filled = Array.from({ length: 14 }, () => ({ title: 'x'.repeat(300), value: '&'.repeat(4_000) }));
		const session = sessionAsking([...filled, ...open], { name: 'Hall', status: 'humanInput' });
		const view = show(session, {
			metadata: { ...newMetadata({ sessionId: '3f9a2c1d', formId: 'form-1' }), partial: true },
			readAt: now - 600_000,
			secret: [14, 15],
			notices: [NOTICES.prefilled('Your earlier answer')],
			claims: ['U0OURS2'],
			offersWatch: true,
		});
		expect(fieldsOf(view.blocks)).toHaveLength(count === 30 ? 31 : 90);
		expect(view.blocks.length).toBeLessThanOrEqual(100);
		expect(JSON.stringify(view.blocks)).toContain('and 5 more');
		expect(buttonsOf(view)).toEqual(expect.arrayContaining(['Open in the dashboard', 'Refresh']));
		expect(JSON.stringify(view.blocks)).toContain('"Answer all"');
	});

	it('shows as many notices as fit', () => {
		const values = Array.from({ length: 9 }, () => 'x'.repeat(5000));
		const notice = NOTICES.answeredMeanwhile('U0OURS2', values, null, now);
		const view = show(asking(), { notices: Array.from({ length: 6 }, () => notice) });
		expect(textsOf(view.blocks)[1]?.match(/Answered meanwhile/g)).toHaveLength(6);
	});
});

describe('sessionModal without an open question', () => {
	it.each([
		['active', 'The agent is working and has no question right now.'],
		['paused', 'The session is paused and has no question right now.'],
		['completed', 'The agent is done. It takes no more answers.'],
		['failed', 'The session failed. It takes no more answers.'],
		['stopped', 'The session was stopped. It takes no more answers.'],
		['dreaming', 'There is no question to answer right now.'],
	])('explains the status %s and has no Submit', (status, words) => {
		const view = show({ ...asking(), status, messages: [step('a')] });
		expect(textsOf(view.blocks)).toContain(words);
		expect(view.submit).toBeUndefined();
		expect(decodeMetadata(view.private_metadata)).toMatchObject({ messageIndex: null, fingerprint: null, fields: [] });
	});

	const waiting = (messages: readonly ReadMessage[]) =>
		textsOf(show({ ...asking(), status: 'humanInput', messages }).blocks);
	const answered = sessionAsking([{ title: 'Which hall?', value: 'The blue one' }]).messages;
	const LOOK = 'Look at its latest message, or at the session in the dashboard.';
	const NOTHING = `The agent waits for a person, but it asked nothing that can be answered here. ${LOOK}`;
	it.each([
		['asked nothing in fields', [step('Log in, please.')], NOTHING],
		['has said nothing', [], NOTHING],
		[
			'went on after its last question and waits again',
			[...answered, step('Log in, please.')],
			`The agent waits for a person. Its last question was answered, and it asked nothing new that can be answered here. ${LOOK}`,
		],
	])('says where to look when the agent waits and %s', (_, messages, words) => {
		expect(waiting(messages)).toContain(words);
	});

	it('says that the newest question was answered, and by whom if that is known', () => {
		expect(waiting(answered)).toContain('The newest question has been answered. The agent should continue soon.');
		const session = { ...asking(), status: 'humanInput', messages: answered };
		const person = { teamId: 'T0OURS', userId: 'U0OURS2' };
		const settledBy = answerOf({ state: 'delivered', person, acceptedAt: now });
		const by = 'The newest question has been answered by <@U0OURS2>.';
		expect(textsOf(show(session, { settledBy }).blocks)).toContain(
			`${by} The agent should continue soon. ${dateOf(now)}`,
		);
		// Its field is empty again.
		const emptied = { settledBy, emptied: 'The field is empty now', question: null };
		expect(textsOf(show({ ...asking(), status: 'humanInput' }, emptied).blocks)).toContain(
			`${by} ✅ Delivered. The field is empty now. ${dateOf(now)}`,
		);
	});

	it('shows a session of which only the id is known', () => {
		expect(textsOf(show({ ...asking(), messages: [] }).blocks)[0]).toBe('⚙️ *session 3f9a2c1d* · working · no step yet');
	});
});

describe('notices', () => {
	const at = now - 600_000;
	const OWN = { state: 'waiting', acceptedAt: at, agentOutcome: null, lastError: null } as const;
	it.each([
		[NOTICES.questionChanged(true), 'The question has changed. This is the new one, with your text where it fits.'],
		[NOTICES.draftRestored(at), `Your text is back in the fields, from ${dateOf(at)}`],
		[
			NOTICES.stale(whatHappened('unavailable'), at, now),
			`${whatHappened('unavailable')} You see the session as it was 10 min ago.`,
		],
		[NOTICES.ownAnswer({ ...OWN, state: 'delivering' }), `⏳ Sending… · your answer of ${dateOf(at)}`],
		[
			NOTICES.ownAnswer(OWN),
			`Not delivered: your decision. Sending another one replaces it · your answer of ${dateOf(at)}`,
		],
		[
			NOTICES.answeredMeanwhile('U0OURS2', ['Hall <A>', null], at, now),
			'Answered meanwhile by <@U0OURS2>, 10 min ago.\n> Hall <A>\n(hidden)',
		],
		[NOTICES.answeredMeanwhile(null, [], null, now), 'Answered meanwhile by somebody in the dashboard.'],
	])('shows a notice above the question: %j', (notice, words) => {
		expect(textsOf(show(asking(), { notices: [notice] }).blocks)[1]).toContain(words);
	});

	it('says that the agent has gone on, and names the people who are answering', () => {
		const session = asking();
		const view = show({ ...session, messages: [...session.messages, step('next')] });
		expect(textsOf(view.blocks)[1]).toBe(
			'👣 The agent has continued since it asked this. You can still answer, but it may not read it.',
		);
		const claims = ['U0OURS1', 'U0OURS2'];
		expect(textsOf(show(asking(), { claims }).blocks).slice(1, 4).join('')).toBe(
			'<@U0OURS1>,<@U0OURS2>are answering. The first answer counts.',
		);
	});
});

describe('the steps', () => {
	const done = { ...asking(), status: 'completed' };

	it('shows the steps newest first, with actions in words', () => {
		const view = show({
			...done,
			messages: [
				step('**Looked** around', [{ kind: 'open', text: 'example.com' }]),
				{ ...step('psst'), role: 'whisper' },
			],
		});
		expect(textsOf(view.blocks).slice(2)).toEqual([
			'*whisper* says\n> psst',
			'> *Looked* around',
			'Step 1 · opened example.com',
			'Session 3f9a2c1d',
		]);
	});

	it('turns the steps five at a time, up to the last page', () => {
		const session = { ...done, messages: steps(12) };
		const page = (number: number) => {
			const metadata = { ...newMetadata({ sessionId: 'x', formId: 'f' }), page: number };
			const view = show(session, { metadata });
			const said = textsOf(view.blocks).filter((text) => text.startsWith('> did '));
			return { said, buttons: buttonsOf(view), page: decodeMetadata(view.private_metadata)?.page };
		};
		expect(page(0).said).toEqual(['> did 12.', '> did 11.', '> did 10.', '> did 9.', '> did 8.']);
		expect(page(0).buttons).toEqual(['Older steps', 'Refresh', 'History', 'Open in the dashboard']);
		expect(page(1).buttons).toEqual(['Newer steps', 'Older steps', 'Refresh', 'History', 'Open in the dashboard']);
		expect(page(2)).toMatchObject({ said: ['> did 2.', '> did 1.'], page: 2 });
		expect(page(99)).toEqual(page(2));
	});
});

describe('session details', () => {
	const rich = {
		...asking(),
		status: 'completed',
		messages: [
			saying('Book **a hall**.', 'user'),
			step('done', [{ kind: 'done', text: '# Booked\n[Hall A](https://a.example)' }]),
		],
		sessionDetails: 'Nightly run',
		files: [
			{ filename: 'offer.pdf', signedUrl: 'https://bucket.example/offer?sig=1' },
			{ filename: '<x>', signedUrl: 'javascript:alert(1)' },
		],
		lastScreenshotUrl: 'https://bucket.example/shot.png',
	} satisfies ReadSession;

	it('shows result, task, details, files and screenshot', () => {
		const view = show(rich);
		const texts = textsOf(view.blocks);
		expect(texts).toContain("*The agent's result*\n> *# Booked*\n> Hall A (https://a.example)");
		expect(texts).toContain('*Task*\n> Book *a hall*.');
		expect(texts).toContain('*About*\n> Nightly run');
		expect(view.blocks).toContainEqual(expect.objectContaining({ type: 'image', image_url: rich.lastScreenshotUrl }));
		const files = (view.blocks as KnownBlock[]).filter(
			(block) => block.type === 'section' && block.text?.text.startsWith('📄'),
		);
		expect(files).toEqual([
			expect.objectContaining({ accessory: expect.objectContaining({ url: 'https://bucket.example/offer?sig=1' }) }),
			expect.not.objectContaining({ accessory: expect.anything() }),
		]);
	});

	it('shows the age of the read, and a button for watching where nobody does', () => {
		const view = show(rich, { readAt: now - 100_000, offersWatch: true });
		expect(textsOf(view.blocks).at(-1)).toBe('Session 3f9a2c1d · read 1 min ago');
		expect(buttonsOf(view)).toEqual(['Refresh', 'Watch in this channel', 'History', 'Open in the dashboard']);
		// The card's menu ends it.
		expect(buttonsOf(show(rich, { offersWatch: false }))).toEqual(['Refresh', 'History', 'Open in the dashboard']);
	});

	it('links to the session in the dashboard, and shows no image after Slack could not load it', () => {
		const metadata = newMetadata({ sessionId: 'a b&c=\ud800', formId: 'f' });
		const url = 'https://dash.example/sessions/session?id=a%20b%26c%3D%EF%BF%BD';
		expect(JSON.stringify(show(rich, { metadata }))).toContain(url);
		const view = show(rich, { withoutImages: true });
		expect(typesOf(view)).not.toContain('image');
		expect(textsOf(view.blocks)[1]).toContain('Slack could not load the screenshot');
	});
});

/** The entries of the first menu. */
function entriesOf(view: ModalView): string[] {
	return (view.blocks as KnownBlock[]).flatMap((block) => {
		const menu = block.type === 'section' ? block.accessory : undefined;
		return menu?.type === 'overflow' ? menu.options.map(({ text }) => text.text) : [];
	});
}

/** What stands in a view besides the agent's words, which are `aaa` with numbers. */
function wordsOf(view: ModalView): string[] {
	const texts: string[] = [];
	JSON.stringify(view, (key, value: unknown) => {
		if (key === 'private_metadata' || key === 'alt_text' || key === 'options' || key === 'submit') return undefined;
		if (key === 'text' && typeof value === 'string') texts.push(value);
		return value;
	});
	return texts
		.flatMap((text) => text.match(/[\p{L}\p{N}]+/gu) ?? [])
		.filter((word) => !/^(?:aaa|3f9a2c1d)$/.test(word));
}

function buttonsOf(view: ModalView): string[] {
	return (view.blocks as KnownBlock[]).flatMap((block) =>
		block.type === 'actions' ? block.elements.flatMap((one) => (one.type === 'button' ? [one.text.text] : [])) : [],
	);
}
