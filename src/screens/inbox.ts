import {
	type Answer,
	agentMayBeIdle,
	firstAnswerOf,
	firstEndingOf,
	forOthers,
	hasArrived,
	isFailed,
	isSecondChoice,
	itemsOf,
	repeatsIn,
} from '../domain/answer.ts';
import { masked, maskedNames } from '../domain/masking.ts';
import { isBlank, oneLine } from '../domain/shown-text.ts';
import { HOUR_MS, MINUTE_MS } from '../kernel/clock.ts';
import { COMMAND } from '../kernel/command-name.ts';
import { hashOf } from '../kernel/values.ts';
import {
	answerAgainButton,
	type Button,
	button,
	buttons,
	context,
	type HomeView,
	heading,
	inRow,
	type KnownBlock,
	labelAboutSession,
	type ModalView,
	modal,
	moreMenu,
	row,
	section,
	textMessage,
} from '../slack/blocks.ts';
import { ASKING_SLACK, errorWords } from '../slack/error-view.ts';
import { ACTIONS, CALLBACKS, encodeMetadata, encodeTarget, newMetadata } from '../slack/ids.ts';
import {
	agoText,
	andMoreWords,
	counted,
	idIfAmbiguous,
	mentionOf,
	momentOf,
	type Names,
	placeWords,
	sessionTitle,
	valueLine,
} from '../slack/phrases.ts';
import {
	bold,
	joined,
	lines,
	plainWords,
	rich,
	richText,
	sentences,
	template,
	type Words,
} from '../slack/rich-text.ts';
import type { SlackCore } from '../slack/slack-core.ts';
import type { WaitingSession } from '../store/watch.ts';
import type { DueView } from '../surfaces/view-store.ts';
import type { InboxLook } from '../surfaces/views.ts';
import { answerTitle, labelAboutAnswer, stateLine, storedTitle } from './answer.ts';
import {
	type InboxBuilder,
	type InboxContent,
	type InboxDraft,
	type InboxQuestion,
	type InboxWaiting,
	PER_PAGE,
	type ShownInbox,
} from './inbox-content.ts';
import { claimsWords, handOverLine, openQuestionParts, QUESTION_CUT } from './question.ts';
import { type ReceiptContext, receiptButtons, receiptContext } from './receipt.ts';
import { noListWords } from './watch.ts';

export interface InboxModel {
	readonly inbox: Pick<DueView, 'followedUntil' | 'person'>;
	readonly content: InboxContent;
	/** `now` in whole minutes. */
	readonly receipt: ReceiptContext;
	/** The inbox is about to stop its updates. */
	readonly isEnding: boolean;
	readonly names: Names;
}

/** The metadata of an inbox, without an origin. Rows with a block_id of their own name one. */
const METADATA = newMetadata({ sessionId: '', formId: '' });

/** The Home tab, or words in its place. */
export function homeView(shown: InboxModel | Words): HomeView {
	const { home } = CALLBACKS;
	return { type: 'home', callback_id: home, private_metadata: encodeMetadata(METADATA), blocks: blocksOf(shown) };
}

/** An inbox in a window, or words in its place. */
export function inboxModal(shown: InboxModel | Words): ModalView {
	const blocks = blocksOf(shown);
	return modal({ callbackId: CALLBACKS.inbox, title: 'Home', metadata: METADATA, notifyOnClose: true, blocks });
}

/** Draws inboxes, in the Home tab and in windows. */
export function createInboxDrawing(
	core: Pick<SlackCore, 'config' | 'clock' | 'directory'>,
	{ build }: Pick<InboxBuilder, 'build'>,
) {
	return async (inbox: DueView, now: number): Promise<InboxLook> => {
		const { content, againAt } = await build(inbox, now);
		const held = content.kind === 'shown' ? content.questions.flatMap(({ handOver }) => handOver ?? []) : [];
		await core.directory.recallNames(held.flatMap(({ from, to }) => [from, to]));
		// All ages change once a minute, at the same moment, so that drawings are equal in between.
		const receipt = { ...receiptContext(core), now: Math.floor(now / MINUTE_MS) * MINUTE_MS };
		// As `nextAt` in views.ts: after this drawing, only an event draws the inbox again.
		const model = { inbox, content, receipt, isEnding: now + MINUTE_MS >= inbox.followedUntil, names: core.directory };
		const view = inbox.viewId === null ? homeView(model) : inboxModal(model);
		return {
			view,
			key: hashOf(JSON.stringify(view)),
			againAt,
			backAt: content.kind === 'shown' ? (content.snoozed?.nextAt ?? null) : null,
			isRefused: content.kind === 'refused',
		};
	};
}

export const INBOX_LOADING = '⏳ Looking for questions…';
export const INBOX_WAITING = `⏳ ${ASKING_SLACK} This page fills by itself.`;

const isModel = (shown: InboxModel | Words): shown is InboxModel => typeof shown !== 'string' && 'content' in shown;

const blocksOf = (shown: InboxModel | Words) => (isModel(shown) ? inboxBlocks(shown) : section(shown));

function inboxBlocks(model: InboxModel): KnownBlock[] {
	const { inbox, content, receipt, isEnding } = model;
	const { adminContact } = receipt;
	if (content.kind === 'waiting') return section(INBOX_WAITING);
	if (content.kind === 'refused') return section(errorWords(content.refusal, { adminContact }).line);
	const { total, snoozed, page, questions, channelsKnown, unreadableCount, waiting, isWatching, ownAnswers } = content;
	const first = page * PER_PAGE;
	const shownCount = questions.length + unreadableCount;
	const oldCount = waiting?.old.total ?? 0;
	const isEmpty = total === 0 && snoozed === null && channelsKnown && oldCount === 0;
	const sessions = questions.map(sessionOf);
	const which = shownCount > 0 ? pageWords('Question', first + 1, shownCount, total) : '';
	const until = rich`Updates stop at ${momentOf(inbox.followedUntil, 'seconds')}`;
	const refresh = isEnding ? button(ACTIONS.inboxRefresh, 'Refresh', { value: String(page) }) : null;
	return [
		heading(`${total === 0 ? '' : '✋ '}${waitingCountWords(total, snoozed?.count ?? 0, oldCount, waiting?.total)}`),
		...ownAnswers.shown.filter(needsDecision).flatMap((answer) => ownAnswerEntry(answer, receipt.now)),
		...context(andMoreWords(ownAnswers.total - ownAnswers.shown.length, 'answers')),
		// Presses stand above the questions, because their author has only seconds for *Undo*.
		...ownAnswers.shown.filter(isUndoable).flatMap((answer) => ownAnswerEntry(answer, receipt.now)),
		...(snoozed === null
			? []
			: [...section(snoozedWords(snoozed)), ...buttons(button(ACTIONS.showSnoozed, 'Show now', { value: 'all' }))]),
		...section(total > 0 && waiting !== null && waiting.old.shown.length > 0 ? QUESTIONS_HIDDEN : ''),
		...section(channelsKnown ? '' : CHANNELS_UNKNOWN),
		...section(isEmpty ? emptyWords(isWatching, waiting?.why === null) : ''),
		...context(unreadableWords(unreadableCount)),
		...questions.flatMap((question, at) => questionEntry(question, sessions, model, at === 0)),
		...context(which),
		...buttons(...pageButtons(page, first, total), refresh),
		...(waiting === null ? [] : waitingEntries(waiting, page, receipt)),
		...part('Drafts', content.drafts.flatMap(draftEntry)),
		...part('Your last answers', [
			...ownAnswers.shown
				.filter((answer) => !needsDecision(answer) && !isUndoable(answer))
				.flatMap((answer) => lastAnswerEntry(answer, receipt.now, receiptButtons(answer)[0])),
			...content.lastAnswers.flatMap((answer, index, all) =>
				lastAnswerEntry(answer, receipt.now, dismissButton(answer) ?? againButton(answer, all.slice(0, index))),
			),
		]),
		...context(isEnding ? until : ''),
	];
}

/** `first`: the place of the first entry on this page. */
function pageButtons(page: number, first: number, total: number): (Button | null)[] {
	const after = total - first - PER_PAGE;
	return [
		first === 0 || first >= total ? null : button(ACTIONS.inboxOlder, `Previous ${PER_PAGE}`, { value: `${page - 1}` }),
		after <= 0 ? null : button(ACTIONS.inboxNewer, `Next ${Math.min(PER_PAGE, after)}`, { value: `${page + 1}` }),
	];
}

const sessionOf = ({ sessionName: name, question: { sessionId } }: InboxQuestion) => ({ name, sessionId });

/** At most 3 blocks. Only the first question's *Answer* is green. */
function questionEntry(
	entry: InboxQuestion,
	shown: ReturnType<typeof sessionOf>[],
	{ inbox, receipt, names }: InboxModel,
	isFirst: boolean,
): KnownBlock[] {
	const { userId } = inbox.person;
	const { askedIn, since, handOver, question, view } = entry;
	const { sessionId, messageIndex } = question;
	const { channelId, watchedBy } = askedIn;
	const place = placeWords(channelId, watchedBy === userId ? null : mentionOf(watchedBy));
	const id = idIfAmbiguous(shown, sessionOf(entry));
	const holding = { handOver, reader: userId };
	const asked = openQuestionParts(view, {
		sessionId,
		sessionName: entry.sessionName,
		discreet: askedIn.discreet,
		room: 'entry',
		choices: askedIn.buttons ? { channelId, readAt: since } : null,
		holding,
		menu: 'inbox',
	});
	const small = joined(
		sessionTitle(entry.sessionName, sessionId),
		id,
		place,
		askedSinceWords(since, receipt.now),
		asked.more,
		asked.note === QUESTION_CUT ? '' : asked.note,
		handOverLine(holding, names),
		claimsWords(entry.answering),
	);
	const controls = asked.row.map((one) => (isFirst || one?.type !== 'button' ? one : withoutStyle(one)));
	return [
		...richText(...asked.asked, ...asked.said),
		...context(small),
		...inRow(buttons(...controls), askedIn, `question ${messageIndex} ${sessionId}`),
	];
}

function withoutStyle({ style: _green, ...one }: Button): Button {
	return one;
}

function waitingEntries({ shown, total, old, why }: InboxWaiting, page: number, receipt: ReceiptContext): KnownBlock[] {
	const { now, adminContact } = receipt;
	return part('Other sessions that ask', [
		...section(
			why !== null ? sentences('⏸️', noListWords(why, adminContact)) : total === 0 ? '' : othersAskWords(total),
		),
		...sessionEntries(shown, now),
		...context(andMoreWords(total - shown.length, 'sessions')),
		...oldEntries(old, page, now),
	]);
}

/** One line about old sessions; on their own pages, the sessions too. */
function oldEntries({ total, firstPage, shown }: InboxWaiting['old'], page: number, now: number): KnownBlock[] {
	if (total === 0) return [];
	const words = `💤 ${counted(total, 'session has', 'sessions have')} asked for a day.`;
	const show = button(ACTIONS.inboxNewer, 'Show', { value: String(firstPage) });
	if (shown.length === 0) return row(words, show);
	const first = (page - firstPage) * PER_PAGE;
	return [
		...row(words, button(ACTIONS.inboxOlder, 'Hide', { value: '0' })),
		...context(pageWords('Session', first + 1, shown.length, total)),
		...sessionEntries(shown, now),
		...buttons(...pageButtons(page, first, total)),
	];
}

function sessionEntries(sessions: readonly WaitingSession[], now: number): KnownBlock[] {
	const shown = maskedNames(sessions);
	return shown.flatMap(({ sessionId, name, since, isNew, gaveWay }) => {
		const answer = button(ACTIONS.answer, 'Answer', { value: encodeTarget({ sessionId, messageIndex: null }) });
		const id = idIfAmbiguous(shown, { sessionId, name });
		const asked = askedSinceWords(since, now, isNew);
		const followed = gaveWay ? 'no longer followed in a channel' : '';
		const words = `✋ ${joined(sessionTitle(name, sessionId), id, asked, followed)}`;
		const entry = row(words, labelAboutSession(sessionId, id === '' ? name : '')(answer));
		return inRow(entry, METADATA.origin, `session ${sessionId}`);
	});
}

function part(title: string, entries: readonly KnownBlock[]): KnownBlock[] {
	return entries.length === 0 ? [] : [heading(title), ...entries];
}

function ownAnswerEntry(answer: Answer, now: number): KnownBlock[] {
	const place = [answer.origin, `answer ${answer.id}`] as const;
	if (isUndoable(answer)) {
		const undo = labelAboutAnswer(answer)(button(ACTIONS.undo, 'Undo', { value: answer.id }));
		const words = joined(answerTitle(answer), answeredWords(answer), 'sends in a moment');
		return inRow(row(words, undo), ...place);
	}
	const [first, ...others] = [...receiptButtons(answer), dismissButton(answer)];
	return [...section(answerLine(answer, now)), ...inRow(buttons(first ?? null, ...moreMenu(...others)), ...place)];
}

/** For an answer that failed for good; null while it waits for its author, and if nothing went wrong. */
function dismissButton(answer: Answer): Button | null {
	const isOver = needsDecision(answer) && answer.state !== 'waiting';
	const dismiss = button(ACTIONS.dismiss, 'Dismiss', { value: answer.id });
	return isOver ? labelAboutAnswer(answer)(dismiss) : null;
}

/** Null if a newer answer to the session stands above, if the answer did not arrive, and if the session is over. */
function againButton(answer: Answer, newer: readonly Answer[]): Button | null {
	const {
		fingerprint,
		question: { sessionId },
	} = answer;
	const isEnd = !hasArrived(answer.state) || ENDED_OUTCOMES.includes(answer.agentOutcome);
	if (isEnd || newer.some(({ question }) => question.sessionId === sessionId)) return null;
	return labelAboutAnswer(answer)(answerAgainButton({ sessionId, fingerprint }));
}

const ENDED_OUTCOMES: readonly Answer['agentOutcome'][] = ['completed', 'failed', 'stopped'];

/** Whether somebody else's answer came first and nothing was sent, as its author was told. */
const isLostRace = ({ state, putStartedAt }: Answer) => state === 'conflicted' && putStartedAt === null;
const needsDecision = (answer: Answer) => (isFailed(answer.state) && !isLostRace(answer)) || agentMayBeIdle(answer);

function lastAnswerEntry(answer: Answer, now: number, accessory: Button | null = null): KnownBlock[] {
	const words = answerLine(answer, now);
	// A row is plain text. Only an answer that came second has a mention, and it has no button.
	if (accessory === null) return context(words);
	return inRow(row(plainWords(words), accessory), answer.origin, `last ${answer.id}`);
}

/** Whether its author can still take an answer back. A person who presses too late is told so. */
const isUndoable = ({ press, state, attempts }: Answer) => press !== null && state === 'accepted' && attempts === 0;

/** `Order chairs · Which colour? · You: grey · delivered · 5 min ago`. Shows no secret. */
function answerLine(answer: Answer, now: number): Words {
	const { acceptedAt } = answer;
	const second = secondChoiceWords(answer);
	const outcome = second === '' ? joined(answeredWords(answer), stateLine(answer, 'author')) : second;
	return joined(answerTitle(answer), outcome, roundedAgo(acceptedAt, now));
}

/** `Which colour? · You: grey`; empty if the text is gone. */
function answeredWords(answer: Answer): string {
	const [item, ...others] = itemsOf(answer).filter(({ value, wiped }) => value !== null || wiped);
	if (item === undefined) return '';
	const first = forOthers(item, repeatsIn(answer));
	const more = andMoreWords(others.length, others.length === 1 ? 'answer' : 'answers');
	return joined(storedTitle(first.title, 60), sentences(`You: ${valueLine(first, 80)}`, more));
}

/** `Grace was first: Sand · You: Graphite`; empty unless another person's answer came first. */
function secondChoiceWords(answer: Answer): Words {
	const first = isSecondChoice(answer) && firstEndingOf(answer) === null ? firstAnswerOf(answer) : null;
	if (first === null) return '';
	const { person, values } = first;
	if (person?.userId === answer.person.userId) return '';
	const items = itemsOf(answer);
	const at = items.findIndex(({ value }) => value !== null);
	const who = person === null ? 'Somebody in the dashboard' : mentionOf(person.userId);
	const theirs = valueLine({ value: values[at] ?? null, secret: values[at] == null }, 80);
	return joined(
		rich`${who} was first: ${theirs}`,
		`You: ${valueLine({ value: items[at]?.value ?? null, secret: false }, 80)}`,
	);
}

function draftEntry({ question, values, updatedAt, formId, askedIn, ...draft }: InboxDraft): KnownBlock[] {
	const { sessionName = '', isClosed, isAllowed } = draft;
	const { sessionId, messageIndex } = question;
	const text = oneLine(masked(Object.values(values).find((value) => !isBlank(value)) ?? '').text, 120);
	const title = rich`📝 *${sessionTitle(sessionName, sessionId)}*`;
	const why = isClosed ? 'no longer asked' : isAllowed ? '' : 'you may not answer it any more';
	const offered =
		why !== ''
			? [
					button(ACTIONS.copyDraft, 'Copy text', { value: formId }),
					button(ACTIONS.discardDraft, 'Discard', { value: formId }),
				]
			: [button(ACTIONS.answer, 'Continue', { value: encodeTarget({ sessionId, messageIndex }) })];
	return [
		...section(joined(title, text, why, momentOf(updatedAt))),
		...inRow(
			buttons(...offered.map(labelAboutSession(sessionId, sessionName))),
			askedIn ?? METADATA.origin,
			`draft ${formId}`,
		),
	];
}

/** The headline, as plain text. `oldCount`: old sessions; `otherCount`: listed sessions whose question is not shown. */
export function waitingCountWords(total: number, snoozedCount: number, oldCount = 0, otherCount = 0): string {
	const snoozed = snoozedCount === 0 ? '' : `, ${counted(snoozedCount, 'is', 'are')} snoozed`;
	const old = oldCount === 0 ? '' : ` ${counted(oldCount, 'old session asks', 'old sessions ask')}, see below.`;
	const others = counted(otherCount, 'other session asks', 'other sessions ask');
	if (total === 0 && otherCount > 0) return `No question of your channels${snoozed}. ${others}.${old}`;
	if (total === 0) return `No ${old === '' ? '' : 'new '}question for you${snoozed}.${old}`;
	return `${counted(total, 'question')} for you${snoozed}`;
}

function snoozedWords({ count, nextAt, only }: NonNullable<ShownInbox['snoozed']>): Words {
	const one = only === null ? '1 question' : bold(sessionTitle(only.name, only.sessionId));
	const what = count === 1 ? rich`${one} is snoozed. It comes` : `${count} questions are snoozed. The next one comes`;
	return rich`💤 Only your Home hides ${count === 1 ? 'it' : 'them'}: ${what} back here ${momentOf(nextAt)}`;
}

/**
 * To a person who snoozed a question. `timeZone`: the zone that was used because Slack does not tell theirs; or null.
 */
export function snoozedMessage(snoozed: { name: string; sessionId: string }, until: number) {
	const what = rich`💤 *${sessionTitle(snoozed.name, snoozed.sessionId)}* is snoozed for you; nobody else notices.`;
	return textMessage(lines(what, rich`Home shows it again ${momentOf(until)}`));
}

function unreadableWords(count: number): string {
	const questions = counted(count, 'question');
	return count === 0 ? '' : `⚠️ ${questions} on this page cannot be read here right now. Open the card in the channel.`;
}

/** `Questions 11 to 20 of 34`; empty when the page shows all. `first` counts from 1. */
function pageWords(what: 'Question' | 'Session', first: number, count: number, total: number): string {
	if (total <= count) return '';
	const which = count === 1 ? `${what} ${first}` : `${what}s ${first} to ${first + count - 1}`;
	return `${which} of ${total}`;
}

/** `asked 12 min ago`; `isKnown` false: `asked more than …`, because it may be longer. */
export const askedSinceWords = (since: number, now: number, isKnown = true) =>
	`asked ${isKnown ? '' : 'more than '}${roundedAgo(since, now)}`;

/** Rounded to 5 minutes from 10 minutes on, and to hours from an hour on, so that Home changes seldom. */
function roundedAgo(at: number, now: number): string {
	const ms = Math.max(0, now - at);
	const step = ms < 10 * MINUTE_MS ? MINUTE_MS : ms < HOUR_MS ? 5 * MINUTE_MS : HOUR_MS;
	return agoText(now - Math.floor(ms / step) * step, now);
}

/** On a page of old sessions. Its button *Hide* leads back to the questions. */
export const QUESTIONS_HIDDEN = rich`Your questions are not on this page of old sessions: *Hide* shows them.`;

export const othersAskWords = (total: number) =>
	`${counted(total, 'session asks', 'sessions ask')}. Anybody may answer.`;

/** What to do when no question waits. `discovers`: sessions that nobody watches are shown too. */
function emptyWords(isWatching: boolean, discovers: boolean): Words {
	const come =
		'New questions that you may answer, of the sessions that your channels watch, appear here by themselves.';
	if (discovers) return rich`${come} \`${COMMAND} watch all\` brings those of all sessions into a channel.`;
	return isWatching
		? rich`${come} To watch another session, type \`${COMMAND} watch\` and its id in a channel.`
		: template(
				'No session is watched yet. `{command} watch` and an id, typed in a channel, bring its questions there and ' +
					'here.',
				{ command: COMMAND },
			);
}

export const CHANNELS_UNKNOWN =
	'⚠️ Slack did not tell which channels you are in, so questions from channels are missing here. Handraise is ' +
	'asking again.';
