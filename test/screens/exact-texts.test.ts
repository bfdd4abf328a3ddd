import type { KnownBlock } from '@slack/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FULL_INBOX, GIANT_DRAFT, GIANT_QUESTION, inboxModelOf } from '../../sandbox/gallery/shapes/views.ts';
import type { Answer } from '../../src/domain/answer.ts';
import { decisionsAtEnd } from '../../src/domain/contract.ts';
import { titleText } from '../../src/domain/listed-options.ts';
import { masked } from '../../src/domain/masking.ts';
import { openQuestion } from '../../src/domain/session.ts';
import { snapshotOf } from '../../src/domain/session-snapshot.ts';
import { isBlank, neutralise } from '../../src/domain/shown-text.ts';
import { boundaryBefore } from '../../src/domain/texts.ts';
import { historyView, questionModal } from '../../src/screens/answer.ts';
import { endPost, watchCard } from '../../src/screens/card.ts';
import { filesMessage } from '../../src/screens/details.ts';
import { chooseItemModal, sessionModal } from '../../src/screens/form.ts';
import { NOTICES } from '../../src/screens/form-notices.ts';
import { handOverMetadata, handOverModal, handOverPost } from '../../src/screens/hand-over.ts';
import { homeView } from '../../src/screens/inbox.ts';
import { askedPost, settledQuestionPost } from '../../src/screens/question-post.ts';
import { receiptMessage, receiptModal } from '../../src/screens/receipt.ts';
import {
	digestPost,
	MOST_LISTED,
	type RemindedQuestion,
	reminderPost,
	settledReminderPost,
} from '../../src/screens/reminder.ts';
import { changedTooLate, chooseQuestion, replyOffer } from '../../src/screens/reply.ts';
import {
	outcomesMessage,
	unwatchedWords,
	WATCHES_PAGE,
	watchChooser,
	watchingWords,
	watchList,
	watchOutcomeWords,
} from '../../src/screens/watch.ts';
import { newMetadata } from '../../src/slack/ids.ts';
import { createLinks } from '../../src/slack/links.ts';
import type { Piece } from '../../src/slack/rich-text.ts';
import { answerOf, item, now } from '../slack/support/answers.ts';
import { showsAll } from '../slack/support/as-shown.ts';
import { hostileText } from '../slack/support/hostile-text.ts';
import { answeredContent, askedContent, postContext } from '../slack/support/posts.ts';
import { watchOf } from '../slack/support/watches.ts';
import { runs } from '../support/runs.ts';
import { buildSessionModel } from '../support/session-model.ts';
import { buildSession, readSession } from '../support/sessions.ts';

/** What comes from outside. */
interface Texts {
	readonly name: string;
	readonly title: string;
	readonly value: string;
	readonly said: string;
	readonly description: string;
	readonly result: string;
}

const ID = '3f9a2c1d';
const names = { displayName: () => 'Ada' };
const LINKS = createLinks({ serviceUrl: 'https://service.example', dashboardUrl: 'https://dash.example' });
const AGAIN = { id: 'x', sessionId: ID, messageIndex: 1 };

const list = <Value>(length: number, make: (at: number) => Value) => Array.from({ length }, (_, at) => make(at));

function readOf({ name, title, value, said, description, result }: Texts, { isAnswered = false, isOver = false } = {}) {
	const humanInput = [{ title, description, value: isAnswered ? value : '' }];
	const says = { role: 'assistant', actions: [], humanInput: [] };
	return readSession({
		sessionId: ID,
		status: isOver ? 'completed' : 'humanInput',
		name,
		sessionDetails: said,
		messages: [
			{ ...says, role: 'user', content: said },
			{ ...says, content: said, actions: [{ kind: 'other', text: title }] },
			{ ...says, content: said, humanInput },
			...(isOver ? [{ ...says, content: '', actions: [{ kind: 'done' as const, text: result }] }] : []),
		],
		files: [{ filename: name, signedUrl: 'https://bucket.example/file?sig=1' }],
	});
}

/** Every screen that shows texts from outside, by name. */
function screensOf(texts: Texts) {
	const { name, title, value, said, description } = texts;
	const session = buildSession(readOf(texts));
	const snapshot = snapshotOf(session, now);
	const over = snapshotOf(buildSession(readOf(texts, { isOver: true })), now);
	const question = snapshot.question;
	if (question === null) throw new Error('nothing is asked');
	const asked = askedContent(question);
	const several = {
		...question,
		items: list(9, (at) => ({ ...question.items[0], open: at < 6, value: at < 6 ? null : value, title, description })),
		openCount: 6,
		itemCount: 9,
		quick: null,
	} as typeof question;
	const kept = { context: said, items: [{ title, description }] };
	const content = {
		kind: 'readable',
		items: [item(title, value)],
		other: null,
		sessionName: name,
		asked: kept,
	} as const;
	const answer = answerOf({
		content,
		question: { service: 'https://service.example', sessionId: ID, messageIndex: 2 },
	});
	const other = { person: null, values: list(12, () => value), at: now, answerId: null, same: false };
	const lost = answerOf({
		...answer,
		state: 'conflicted',
		content: { ...content, items: list(12, () => item(title, value)), other },
	});
	const post = postContext({ sessionId: ID, snapshot, names, now, dashboardUrl: 'https://dash.example' });
	const pressed = answerOf({
		...answer,
		press: { undoUntil: now + 10_000 },
		fingerprint: question.fingerprint,
		shownHash: question.shownHash,
	});
	const card = {
		...post,
		snapshot,
		isEndTold: false,
		link: null,
		unreadCode: null,
		checkedAt: null,
		waitedMs: 0,
		asks: false,
	};
	const reminded = (sessionId: string, outcome = ''): RemindedQuestion => ({
		entry: {
			watchId: 'w',
			sessionId,
			questionId: sessionId,
			postTs: '1.1',
			postedAt: now,
			heldBy: 'U0OURS2',
			stage: 'reminder',
			dueAt: now,
			isLast: false,
		},
		question,
		sessionName: name,
		channelId: 'C0OURS1',
		discreet: false,
		threadOnly: false,
		handOver: null,
		link: null,
		outcome,
		steps: '',
		waitedMs: 900_000,
	});
	const about = { mention: null, names };
	const inbox = inboxModelOf({
		...FULL_INBOX,
		page: 0,
		total: 1,
		questions: [{ ...GIANT_QUESTION, handOver: null, answering: [], sessionName: name, view: question }],
		waiting: { shown: [], total: 0, old: { total: 0, firstPage: 1, shown: [] }, why: null },
		ownAnswers: { shown: [{ ...answer, state: 'refused' } as Answer], total: 1 },
		drafts: [{ ...GIANT_DRAFT, sessionName: name, values: { 0: value } }],
		lastAnswers: [{ ...answer, state: 'ended' } as Answer],
	})[0];
	const waiting = list(12, (at) => ({ sessionId: `${ID}${at}`, name, since: now, isNew: true, gaveWay: false }));
	const metadata = newMetadata({ sessionId: ID, formId: 'f' });
	const form = openQuestion(session);
	const target = { text: value, question, sessionName: name };
	const model = buildSessionModel(readOf(texts), now, {
		metadata,
		notices: [NOTICES.answeredMeanwhile('U0OURS2', [value], now, now)],
	});
	const error = { kept: 'nothing', adminContact: null } as const;
	return {
		post: askedPost(asked, false, post),
		'post of several': askedPost(askedContent(several), true, post),
		pressed: askedPost(asked, false, { ...post, standing: pressed }),
		settled: settledQuestionPost(answeredContent(question, value), 'answered', post),
		'settled by Ada': settledQuestionPost(answeredContent(question, value), 'answered', {
			...post,
			standing: answerOf({ ...pressed, state: 'resumed', press: { undoUntil: now - 60_000 }, deliveredAt: now }),
		}),
		'asked again': askedPost(asked, false, { ...post, lost: answerOf({ ...answer, positions: [0] }) }),
		card: watchCard({ ...card, snapshot: { ...snapshot, status: 'active', question: null } }),
		'card that asks': watchCard({ ...card, asks: true }),
		'card of the end': watchCard({ ...card, snapshot: over, ended: 'sessionOver' }),
		end: endPost('completed', { ...post, snapshot: over }),
		home: homeView(inbox),
		window: sessionModal(model),
		'window of the end': sessionModal(buildSessionModel(readOf(texts, { isOver: true }), now)),
		'window to choose an item': chooseItemModal(form as NonNullable<typeof form>, [0], { text: value }, metadata),
		'shown question': questionModal(answer),
		history: historyView(metadata, [answer], 1),
		receipt: receiptMessage(answerOf({ ...answer, state: 'refused' }), { now, adminContact: null }),
		'receipt of many': receiptMessage(lost, { now, adminContact: null }),
		'receipt in a window': receiptModal(lost, { now, adminContact: null }),
		reminder: reminderPost(reminded(ID), 900_000, about),
		digest: digestPost(
			list(MOST_LISTED, (at) => reminded(`${ID}${at}`)),
			about,
		),
		'digest with an answer': digestPost([reminded(ID), reminded('two', value.slice(0, 100))], about),
		'settled reminder': settledReminderPost(reminded(ID, 'Answered')),
		'hand-over': handOverPost(
			{ kind: 'handedOver', watchId: 'w', handOverId: 'h', from: 'U0OURS2' },
			asked,
			post,
			value,
		),
		'hand-over window': handOverModal(handOverMetadata({ sessionId: ID, fingerprint: 'f', channelId: 'C0OURS1' }), {
			question,
			sessionName: name,
			discreet: false,
		}),
		list: watchList(
			{ watches: list(WATCHES_PAGE, () => watchOf(snapshot)), total: 99 },
			{ channelId: 'C0OURS1', offset: WATCHES_PAGE },
		),
		chooser: watchChooser(waiting, now),
		'chooser of questions': chooseQuestion(
			value,
			list(10, () => ({ ...target, target: AGAIN })),
		),
		reply: replyOffer(
			{ ...AGAIN, channelId: 'C0OURS1', threadTs: '1', messageTs: '1', readAt: 0, arrival: null },
			target,
		),
		'changed reply': changedTooLate(value),
		files: filesMessage(session, LINKS),
		outcomes: outcomesMessage([
			watchingWords(list(9, () => [ID, name] as const)),
			unwatchedWords(ID, name),
			...list(18, () => watchOutcomeWords(ID, { kind: 'already', name } as never, error)),
		]),
	};
}

type Screens = ReturnType<typeof screensOf>;

/** Each text of an element, in order. */
function elementsIn(built: Screens[keyof Screens], wanted = ['text', 'plain_text', 'raw_text']): string[] {
	const found: string[] = [];
	JSON.stringify(built.blocks, (_, value) => {
		if (wanted.includes(value?.type)) found.push(value.text);
		return value;
	});
	return found;
}

/** Whether a place shows what it should. */
type Wanted = (shown: string) => boolean;

const NOTE = /… \([\d,]+ more characters?\)$/;
/** The same, cut once more. */
const NOTES = /(?:…(?: (?:\((?:[\d,]*(?: [a-z ]*)?)?)?)?)?…$|… \([\d,]+ more characters?\)$/;
/** A name or title of so many characters is cut before it is stored. */
const STORED_WHOLE = 200;

/** The text as a place of one line shows it: all of it, or its beginning and an ellipsis. */
function lineOf(whole: string, limit: number, before = ''): Wanted {
	const text = neutralise(whole).replace(/[\n\t]/g, ' ');
	const line = text.length <= limit ? text : `${text.slice(0, boundaryBefore(text, limit - 1))}…`;
	// Of what nobody sees, only so much is read.
	const isRead = whole.length <= 4 * limit;
	return (shown) => shown === before + line || (!isRead && isCut(shown.slice(before.length), whole));
}

/** The same of what was cut when it was stored: that counts characters that nobody sees. */
function storedLineOf(whole: string, limit: number): Wanted {
	const line = lineOf(whole, limit);
	return (shown) => line(shown) || (whole.length > STORED_WHOLE && isCut(shown, whole));
}

function isCut(shown: string, whole: string): boolean {
	const text = neutralise(whole).replace(/[\n\t]/g, ' ');
	return NOTES.test(shown) && isBeginning(shown.replace(NOTES, ''), text);
}

/** A mark of a direction beside the cut has another neighbour than in the text. */
const isBeginning = (part: string, text: string) =>
	text.startsWith(part.trimEnd().replace(/[\u200c-\u200f\u061c]$/, ''));

/** The text as a place of several lines shows it, by the limit of that. */
function partOf(whole: string, limit: number): Wanted {
	const text = neutralise(whole).trimEnd();
	if (text.length <= limit && whole.length <= 4 * limit) return (shown) => shown === text;
	return (shown) => NOTE.test(shown) && isBeginning(shown.replace(NOTE, ''), text);
}

type Place = readonly [screen: keyof Screens, text: (texts: Texts) => Wanted];
const title = ({ title: asked }: Texts) => titleText(asked);
/** Below the name of a file. */
const AT = '\nat bucket.example';
const PLACES: readonly Place[] = [
	['post', ({ name }) => storedLineOf(name, 150)],
	['post', (texts) => storedLineOf(title(texts), 250)],
	['post of several', (texts) => storedLineOf(title(texts), 250)],
	['pressed', ({ value }) => lineOf(masked(value).text, 120, 'Ada: ')],
	['card', ({ name }) => storedLineOf(name, 150)],
	['card that asks', (texts) => storedLineOf(title(texts), 250)],
	['card of the end', ({ name }) => storedLineOf(name, 150)],
	[
		'end',
		({ name }) =>
			(shown) =>
				/^✅ .* is done$/su.test(shown) && storedLineOf(name, 150)(shown.slice('✅ '.length, -' is done'.length)),
	],
	['home', (texts) => storedLineOf(title(texts), 150)],
	['home', ({ name }) => storedLineOf(name, 150)],
	['window', ({ name }) => lineOf(name, 150)],
	['window', (texts) => lineOf(title(texts), 1_900)],
	['window', ({ value }) => partOf(value, 300)],
	['window of the end', ({ name }) => lineOf(name, 150)],
	['window to choose an item', (texts) => lineOf(masked(title(texts)).text, 60, '1. ')],
	['window to choose an item', ({ value }) => partOf(value, 1_500)],
	['shown question', ({ name }) => lineOf(name, 150)],
	['shown question', ({ title: asked }) => lineOf(asked, 300)],
	['shown question', ({ value }) => partOf(masked(value).text, 2_700)],
	['history', ({ name }) => lineOf(name, 150)],
	['history', ({ value }) => partOf(masked(value).text, 2_700)],
	['receipt', ({ title: asked }) => lineOf(masked(asked).text, 200)],
	['receipt', ({ value }) => partOf(value, 2_700)],
	['reminder', ({ name }) => lineOf(name, 150)],
	['settled reminder', ({ name }) => lineOf(name, 150)],
	['hand-over', ({ name }) => storedLineOf(name, 150)],
	['hand-over', (texts) => storedLineOf(title(texts), 250)],
	['hand-over', ({ value }) => partOf(value, 300)],
	['chooser of questions', ({ value }) => partOf(value, 600)],
	['reply', ({ value }) => partOf(value, 600)],
	['changed reply', ({ value }) => partOf(value, 600)],
	['outcomes', ({ name }) => lineOf(name, 150)],
	[
		'files',
		({ name }) =>
			(shown) =>
				shown.endsWith(AT) && lineOf(name, 200, '📄 ')(shown.slice(0, -AT.length)),
	],
	[
		'settled',
		(texts) => {
			const [name, asked, value] = [texts.name, title(texts), texts.value].map((text) =>
				neutralise(text).replace(/[\n\t]/g, ' '),
			);
			const isWhole = [texts.name, texts.title, texts.value].every((text) => text.length <= 100);
			const whole = `✅ ${name} asked: ${asked}\nAnswered in the dashboard: ${value}`;
			return (shown) => (isWhole ? shown === whole : shown.startsWith('✅ '));
		},
	],
];

const UNITS = [
	...'`*_~<>&|:\\"\'#-[]()!.,; abcXYZ09'.split(''),
	...'``` ** :wave: <@U0HOSTILE> <!here> <#C0|x> &amp;'.split(' '),
	'\n',
	'\t',
];
const MORE = '\u202e \u200f \u2067 \u2069 “ ” „ « » ‘ ’ ″ 〝 ʼ é 漢 שלום مرحبا 👩‍👩‍👧‍👦 🇩🇪 🔒'.split(' ');
const outside = fc
	.oneof(
		{ weight: 6, arbitrary: fc.string({ unit: fc.constantFrom(...UNITS, ...MORE), minLength: 1, maxLength: 60 }) },
		{
			weight: 3,
			arbitrary: fc
				.tuple(
					fc.string({ unit: fc.constantFrom(...UNITS, ...MORE), minLength: 1, maxLength: 80 }),
					fc.integer({ min: 1, max: 5_000 }),
				)
				.map(([unit, length]) =>
					unit
						.repeat(Math.ceil(length / unit.length))
						.slice(0, length)
						.toWellFormed(),
				),
		},
		{ weight: 1, arbitrary: hostileText },
		{
			weight: 1,
			arbitrary: fc.constantFrom('"\\', '\\"', '"', '\\', '**a** ', '`a` ').map((unit) => unit.repeat(2_500)),
		},
	)
	.filter((text) => !isBlank(text));

const anyTexts: fc.Arbitrary<Texts> = fc.record({
	name: outside,
	title: outside,
	value: outside,
	said: outside,
	description: outside,
	result: outside,
});

const OURS = /^(?:sends at )?(?:<@U0\w+>|<!subteam\^S0\w+>|<#C\w+>|<!date\^\d+\^[^|<>]+\|[\w ,:]+>)[.,;:!?)]*$/;

describe('any text from outside', () => {
	it('is read back element by element where it stands alone: all of it, or its beginning and how it goes on', () => {
		fc.assert(
			fc.property(anyTexts, (texts) => {
				// A place without a title says so in words of ours, and one with options leaves them out.
				fc.pre(!isBlank(titleText(texts.title)) && decisionsAtEnd(texts.title) === null);
				const screens = screensOf(texts);
				// What looks like a credential is masked, and what looks secret is hidden.
				fc.pre(!JSON.stringify(screens).includes('••••'));
				const question = snapshotOf(buildSession(readOf(texts)), now).question;
				fc.pre(question?.quick === null && question.items.every(({ secret }) => !secret));
				const missing = PLACES.filter(([screen, of]) => {
					const expected = of(texts);
					return !elementsIn(screens[screen]).some((shown) => expected(shown));
				});
				expect(missing.map(([screen, of]) => [screen, of(texts), elementsIn(screens[screen])])).toEqual([]);
			}),
			{ numRuns: runs(60) },
		);
	});

	it('is in no mrkdwn, and no message is longer than Slack takes', () => {
		fc.assert(
			fc.property(anyTexts, (texts) => {
				const problems = Object.entries(screensOf(texts)).flatMap(([screen, built]) => {
					const isMessage = !('type' in built);
					const length = JSON.stringify(built.blocks).length;
					return [
						...elementsIn(built, ['mrkdwn']).flatMap((text) => (OURS.test(text) ? [] : [`${screen}: ${text}`])),
						...(isMessage && length > 12_000 ? [`${screen}: ${length} characters of JSON`] : []),
						...(JSON.stringify(built).includes('[object Object]') ? [`${screen}: an object as a text`] : []),
					];
				});
				expect(problems).toEqual([]);
			}),
			{ numRuns: runs(60) },
		);
	});

	it('has all of its characters but marks where it is a longer text of an agent', () => {
		fc.assert(
			fc.property(anyTexts, (texts) => {
				const screens = screensOf(texts);
				fc.pre(!JSON.stringify(screens).includes('••••'));
				/** Behind the bar or in a frame, one after the other. */
				const groups = (screen: keyof Screens) => {
					const all: Piece[][] = [];
					for (const block of screens[screen].blocks as KnownBlock[]) {
						all.push([]);
						for (const piece of block.type === 'rich_text' ? (block.elements as Piece[]) : []) {
							if (piece.type === 'rich_text_section') all.push([]);
							else all.at(-1)?.push(piece);
						}
					}
					return all.filter((group) => group.length > 0);
				};
				const { said, result } = texts;
				expect(groups('window of the end').some((group) => showsAll(group, said))).toBe(true);
				expect(groups('window of the end').some((group) => showsAll(group, result))).toBe(true);
			}),
			{ numRuns: runs(60) },
		);
	});
});
