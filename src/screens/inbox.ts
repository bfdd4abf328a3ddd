import type { Core } from '../core.ts';
import {
	type Answer,
	agentMayStand,
	firstDueAt,
	firstEndingOf,
	firstOf,
	forOthers,
	hasArrived,
	isFailed,
	isSecondChoice,
	itemsOf,
	repeatsIn,
} from '../domain/answer.ts';
import { masked, maskedNames } from '../domain/masking.ts';
import { HOUR_MS, hashOf, MINUTE_MS } from '../kernel/basics.ts';
import { COMMAND } from '../kernel/command-name.ts';
import { ASKING_SLACK, errorWords } from '../slack/error-view.ts';
import { ACTIONS, CALLBACKS, encodeMetadata, encodeTarget, inboxRowId, newMetadata } from '../slack/ids.ts';
import {
	andMoreWords,
	answerAgainButton,
	type Button,
	button,
	buttons,
	context,
	counted,
	durationText,
	type HomeView,
	heading,
	inRow,
	joined,
	type KnownBlock,
	type ModalView,
	modal,
	momentMrkdwn,
	moreMenu,
	personMrkdwn,
	placeMrkdwn,
	sayingSession,
	section,
	sentences,
	sessionIdMrkdwn,
	sessionTitle,
	textMessage,
	valueMrkdwn,
} from '../slack/parts.ts';
import { isBlank, quotedTitleMrkdwn, withoutListed, withoutMarks } from '../slack/text.ts';
import type { WaitingSession } from '../store/watch.ts';
import type { DueView } from '../surfaces/view-store.ts';
import type { InboxLook } from '../surfaces/views.ts';
import { sayingOf, stateLine, storedTitle, titleOf } from './answer.ts';
import {
	type InboxBuilder,
	type InboxContent,
	type InboxDraft,
	type InboxQuestion,
	type InboxWaiting,
	PER_PAGE,
	type ShownInbox,
} from './inbox-content.ts';
import { askedLine, claimsWords, handOverLine, openQuestion, QUESTION_CUT } from './question.ts';
import { type ReceiptContext, receiptButtons, receiptContext } from './receipt.ts';
import { idAmong, noListWords } from './watch.ts';

export interface InboxModel {
	readonly inbox: Pick<DueView, 'followedUntil' | 'person'>;
	readonly content: InboxContent;
	/** `now` in whole minutes. */
	readonly receipt: ReceiptContext;
}

/** What is pressed in an inbox belongs to no channel, except in rows with an id of their own. */
const METADATA = newMetadata({ sessionId: '', formId: '' });

/** The inbox in the Home tab, or words (mrkdwn) why there is none. */
export function homeView(shown: InboxModel | string): HomeView {
	const { home } = CALLBACKS;
	return { type: 'home', callback_id: home, private_metadata: encodeMetadata(METADATA), blocks: inboxBlocks(shown) };
}

/** The inbox in a window, or words (mrkdwn) before the content is put together. */
export function inboxModal(shown: InboxModel | string): ModalView {
	const blocks = inboxBlocks(shown);
	return modal({ callbackId: CALLBACKS.inbox, title: 'Inbox', metadata: METADATA, notifyOnClose: true, blocks });
}

/** Draws inboxes, in the Home tab and in windows. */
export function createInboxDrawing(core: Pick<Core, 'config' | 'clock'>, { build }: Pick<InboxBuilder, 'build'>) {
	return async (inbox: DueView, now: number): Promise<InboxLook> => {
		const { content, againAt } = await build(inbox, now);
		// Ages change once a minute, all in the same moment.
		const receipt = { ...receiptContext(core), now: Math.floor(now / MINUTE_MS) * MINUTE_MS };
		const model = { inbox, content, receipt };
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

export const INBOX_LOADING = '⏳ Looking for questions that wait for you…';
export const INBOX_WAITING = `⏳ ${ASKING_SLACK} This page fills by itself.`;

function inboxBlocks(shown: InboxModel | string): KnownBlock[] {
	if (typeof shown === 'string') return section(shown);
	const { inbox, content, receipt } = shown;
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
	const until = `Live until ${momentMrkdwn(inbox.followedUntil, 'seconds')}`;
	return [
		heading(`${total === 0 ? '' : '✋ '}${waitingCountWords(total, snoozed?.count ?? 0, oldCount, waiting?.total)}`),
		...ownAnswers.shown.filter(needsDecision).flatMap(ownAnswerEntry),
		...context(andMoreWords(ownAnswers.total - ownAnswers.shown.length, 'answers')),
		// Above the questions: who has just pressed a button has a few seconds for *Undo*.
		...ownAnswers.shown.filter(isUndoable).flatMap(ownAnswerEntry),
		...section(snoozed === null ? '' : snoozedWords(snoozed), {
			accessory: button(ACTIONS.showSnoozed, 'Show now', { value: 'all' }),
		}),
		...section(total > 0 && waiting !== null && waiting.old.shown.length > 0 ? QUESTIONS_HIDDEN : ''),
		...section(channelsKnown ? '' : CHANNELS_UNKNOWN),
		...section(isEmpty ? emptyWords(isWatching, waiting?.why === null) : ''),
		...context(unreadableWords(unreadableCount)),
		...questions.flatMap((question) => questionEntry(question, sessions, shown)),
		...buttons(...pageButtons(page, first, total), button(ACTIONS.inboxRefresh, 'Refresh', { value: String(page) })),
		...(waiting === null ? [] : waitingEntries(waiting, page, receipt)),
		...part('Drafts', content.drafts.flatMap(draftEntry)),
		...part('Your last answers', [
			...ownAnswers.shown
				.filter((answer) => !needsDecision(answer) && !isUndoable(answer))
				.flatMap((answer) => lastAnswerEntry(answer, receiptButtons(answer)[0])),
			...content.lastAnswers.flatMap((answer, index, all) =>
				lastAnswerEntry(answer, dismissButton(answer) ?? againButton(answer, all.slice(0, index))),
			),
		]),
		...context(joined(which, until)),
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

/** At most about 1,400 characters and 2 blocks. Options stand below the whole question; else a line of it is enough. */
function questionEntry(entry: InboxQuestion, shown: ReturnType<typeof sessionOf>[], { inbox, receipt }: InboxModel) {
	const { userId } = inbox.person;
	const { askedIn, since, handOver, question, view } = entry;
	const { sessionId, messageIndex } = question;
	const { channelId, watchedBy } = askedIn;
	const place = placeMrkdwn(channelId, watchedBy === userId ? null : personMrkdwn(watchedBy));
	const id = idAmong(shown, sessionOf(entry));
	const holding = { handOver, reader: userId };
	const asked = openQuestion(view, {
		sessionId,
		sessionName: entry.sessionName,
		discreet: askedIn.discreet,
		room: 'entry',
		choices: askedIn.buttons ? { channelId, readAt: since } : null,
		holding,
		snoozes: true,
	});
	const { options = [], position = -1 } = (asked.hasOptions ? view.quick : null) ?? {};
	const lines = [
		joined(sessionTitle(entry.sessionName, sessionId), id, place, waitingSinceWords(since, receipt.now)),
		`*${askedLine(view)}*`,
		// A line of a phone, in marks, because a context block has no bars. What is longer has no options here.
		quotedTitleMrkdwn(withoutListed(view.context, options).replace(MARKDOWN, ''), 47),
		quotedTitleMrkdwn(withoutListed(view.items[position]?.description ?? '', options).replace(MARKDOWN, ''), 300),
		asked.note === QUESTION_CUT ? '' : asked.note,
		handOverLine(holding, null),
		claimsWords(entry.answering),
	];
	// One small block: ten questions fit on little more than a phone's screen.
	const words = context(lines.filter((line) => line !== '').join('\n'));
	return [...words, ...inRow(buttons(...asked.row), askedIn, `question ${messageIndex} ${sessionId}`)];
}

function waitingEntries({ shown, total, old, why }: InboxWaiting, page: number, receipt: ReceiptContext): KnownBlock[] {
	const { now, adminContact } = receipt;
	return part('Other waiting sessions', [
		...section(why !== null ? `⏸️ ${noListWords(why, adminContact)}` : total === 0 ? '' : waitingSessionsWords(total)),
		...sessionEntries(shown, now),
		...context(andMoreWords(total - shown.length, 'sessions')),
		...oldEntries(old, page, now),
	]);
}

/** One line, and on their own pages the sessions. */
function oldEntries({ total, firstPage, shown }: InboxWaiting['old'], page: number, now: number): KnownBlock[] {
	if (total === 0) return [];
	const words = `💤 ${counted(total, 'session has', 'sessions have')} waited for a day.`;
	const show = button(ACTIONS.inboxNewer, 'Show', { value: String(firstPage) });
	if (shown.length === 0) return section(words, { accessory: show });
	const first = (page - firstPage) * PER_PAGE;
	return [
		...section(words, { accessory: button(ACTIONS.inboxOlder, 'Hide', { value: '0' }) }),
		...context(pageWords('Session', first + 1, shown.length, total)),
		...sessionEntries(shown, now),
		...buttons(...pageButtons(page, first, total)),
	];
}

function sessionEntries(sessions: readonly WaitingSession[], now: number): KnownBlock[] {
	const shown = maskedNames(sessions);
	return shown.flatMap(({ sessionId, name, since, isNew, gaveWay }) => {
		const answer = button(ACTIONS.answer, 'Answer', { value: encodeTarget({ sessionId, messageIndex: null }) });
		const id = idAmong(shown, { sessionId, name });
		const waits = isNew ? waitingSinceWords(since, now) : `waiting since before ${momentMrkdwn(since)}`;
		const followed = gaveWay ? 'no longer followed in a channel' : '';
		return section(`✋ ${joined(`*${sessionTitle(name, sessionId)}*`, id, waits, followed)}`, {
			block_id: inboxRowId(METADATA.origin, `session ${sessionId}`),
			accessory: sayingSession(sessionId, id === '' ? name : '')(answer),
		});
	});
}

function part(title: string, entries: readonly KnownBlock[]): KnownBlock[] {
	return entries.length === 0 ? [] : [heading(title), ...entries];
}

function ownAnswerEntry(answer: Answer): KnownBlock[] {
	const undo = sayingOf(answer)(button(ACTIONS.undo, 'Undo', { value: answer.id }));
	const [first, ...others] = isUndoable(answer) ? [undo] : [...receiptButtons(answer), dismissButton(answer)];
	const row = buttons(first ?? null, ...moreMenu(...others));
	return [...section(answerLine(answer)), ...inRow(row, answer.origin, `answer ${answer.id}`)];
}

/** Null while it waits for its author, and where nothing went wrong. */
function dismissButton(answer: Answer): Button | null {
	const isOver = needsDecision(answer) && answer.state !== 'waiting';
	const dismiss = button(ACTIONS.dismiss, 'Dismiss', { value: answer.id });
	return isOver ? sayingOf(answer)(dismiss) : null;
}

/** Null where a newer answer to the session stands above, and where the session is over. */
function againButton(answer: Answer, newer: readonly Answer[]): Button | null {
	const {
		fingerprint,
		question: { sessionId },
	} = answer;
	const isEnd = !hasArrived(answer.state) || ENDS.includes(answer.agentOutcome);
	if (isEnd || newer.some(({ question }) => question.sessionId === sessionId)) return null;
	return sayingOf(answer)(answerAgainButton({ sessionId, fingerprint }));
}

const ENDS: readonly Answer['agentOutcome'][] = ['completed', 'failed', 'stopped'];

const needsDecision = (answer: Answer) => (isFailed(answer.state) && !isSecondChoice(answer)) || agentMayStand(answer);

function lastAnswerEntry(answer: Answer, accessory: Button | null = null): KnownBlock[] {
	if (accessory === null) return context(answerLine(answer));
	return section(answerLine(answer), { block_id: inboxRowId(answer.origin, `last ${answer.id}`), accessory });
}

/** Whether its author can take it back. Whoever presses too late is told. */
const isUndoable = ({ press, state, attempts }: Answer) => press !== null && state === 'accepted' && attempts === 0;

/** `“Order chairs” · “Which colour?”: “grey” · ✅ Delivered · 20 Nov 2026, 08:19 UTC`. Never a secret. mrkdwn. */
function answerLine(answer: Answer): string {
	const [item, ...others] = itemsOf(answer).filter(({ value, wiped }) => value !== null || wiped);
	const first = item && forOthers(item, repeatsIn(answer));
	const more = andMoreWords(others.length, others.length === 1 ? 'answer' : 'answers');
	const value = first === undefined ? '' : valueMrkdwn(first, (text) => quotedTitleMrkdwn(text, 80));
	const told = first === undefined ? '' : `${storedTitle(first.title, 60)}: ${value} ${more}`.trim();
	const title = `*${titleOf(answer)}*`;
	if (isUndoable(answer)) return joined(title, told, `sends at ${momentMrkdwn(firstDueAt(answer), 'seconds')}`);
	return joined(
		title,
		secondChoiceWords(answer) || joined(told, stateLine(answer, 'author')),
		sessionIdMrkdwn(answer.question.sessionId),
		momentMrkdwn(answer.acceptedAt),
	);
}

/** `Grace answered first: Sand (yours: Graphite)`; empty unless somebody else did, and where texts are gone. mrkdwn. */
function secondChoiceWords(answer: Answer): string {
	const first = isSecondChoice(answer) && firstEndingOf(answer) === null ? firstOf(answer) : null;
	if (first === null) return '';
	const { person, values } = first;
	if (person?.userId === answer.person.userId) return '';
	const items = itemsOf(answer);
	const at = items.findIndex(({ value }) => value !== null);
	const show = (text: string | null | undefined) => {
		const option = quotedTitleMrkdwn(text ?? '', 80);
		// Words alone cannot look like ours.
		return /^“[\p{L}\p{N} -]*”$/u.test(option) ? withoutMarks(option) : option;
	};
	const who = person === null ? 'Somebody outside Slack' : personMrkdwn(person.userId);
	return `${who} answered first: ${show(values[at]) || '(hidden)'} (yours: ${show(items[at]?.value)})`;
}

function draftEntry({ question, values, updatedAt, formId, askedIn, ...draft }: InboxDraft): KnownBlock[] {
	const { sessionName = '', isClosed, isAllowed } = draft;
	const { sessionId, messageIndex } = question;
	const text = quotedTitleMrkdwn(masked(Object.values(values).find((value) => !isBlank(value)) ?? '').text, 120);
	const title = `📝 *${sessionTitle(sessionName, sessionId)}*`;
	const why = isClosed ? 'no longer asked' : isAllowed ? '' : 'you may not answer it any more';
	const row =
		why !== ''
			? [
					button(ACTIONS.copyDraft, 'Copy text', { value: formId }),
					button(ACTIONS.discardDraft, 'Discard', { value: formId }),
				]
			: [button(ACTIONS.answer, 'Continue', { value: encodeTarget({ sessionId, messageIndex }) })];
	return [
		...section(joined(title, text, why, sessionIdMrkdwn(sessionId), momentMrkdwn(updatedAt))),
		...inRow(buttons(...row.map(sayingSession(sessionId, sessionName))), askedIn ?? METADATA.origin, `draft ${formId}`),
	];
}

const MARKDOWN = /^[ \t]{0,3}(?:#{1,6}|[-*+>])[ \t]+|\*\*|`/gm;

/** `oldCount`: sessions in one line below; `otherCount`: those of which the person sees no question. Plain text. */
export function waitingCountWords(total: number, snoozedCount: number, oldCount = 0, otherCount = 0): string {
	const snoozed = snoozedCount === 0 ? '' : `, ${counted(snoozedCount, 'is', 'are')} snoozed`;
	const old = oldCount === 0 ? '' : ` ${counted(oldCount, 'old session waits', 'old sessions wait')}, see below.`;
	const others = counted(otherCount, 'other session does', 'other sessions do');
	if (total === 0 && otherCount > 0) return `No question of your channels waits${snoozed}. ${others}.${old}`;
	if (total === 0) return `No ${old === '' ? '' : 'new '}question waits for you${snoozed}.${old}`;
	return `${counted(total, 'question waits', 'questions wait')} for you${snoozed}`;
}

function snoozedWords({ count, nextAt, only }: NonNullable<ShownInbox['snoozed']>): string {
	const one = only === null ? '1 question' : sessionTitle(only.name, only.sessionId);
	const what = count === 1 ? `${one} is snoozed. It comes` : `${count} questions are snoozed. The next one comes`;
	return `💤 Only your inbox hides ${count === 1 ? 'it' : 'them'}: ${what} back here ${momentMrkdwn(nextAt)}`;
}

/** To a person who snoozed a question on its post, or (`timeZone`) whose own time zone Slack does not tell. */
export function snoozedMessage(snoozed: { name: string; sessionId: string }, until: number, timeZone: string | null) {
	const zone = timeZone === null ? '' : `That is 9:00 ${timeZone}: Slack did not tell Handraise your time zone.`;
	const what = `💤 ${sessionTitle(snoozed.name, snoozed.sessionId)} is snoozed for you; nobody else notices.`;
	return textMessage(`${sentences(what, zone)}\nYour inbox shows it again ${momentMrkdwn(until)}`);
}

function unreadableWords(count: number): string {
	const questions = counted(count, 'question');
	return count === 0 ? '' : `⚠️ ${questions} on this page cannot be read here right now. Open the card in the channel.`;
}

/** Which questions or sessions a page shows; `first` counts from 1. Empty when it shows all. */
function pageWords(what: 'Question' | 'Session', first: number, count: number, total: number): string {
	if (total <= count) return '';
	const which = count === 1 ? `${what} ${first}` : `${what}s ${first} to ${first + count - 1}`;
	return `${which} of ${total}`;
}

/** `waiting 12 min`. Rounded, so that an inbox changes seldom: to 5 minutes after 10, to hours after one hour. */
export function waitingSinceWords(since: number, now: number): string {
	const ms = Math.max(0, now - since);
	if (ms < MINUTE_MS) return 'asked just now';
	const step = ms < 10 * MINUTE_MS ? MINUTE_MS : ms < HOUR_MS ? 5 * MINUTE_MS : HOUR_MS;
	return `waiting ${durationText(Math.floor(ms / step) * step)}`;
}

/** On a page of old sessions, whose button *Hide* leads back to the questions. mrkdwn. */
export const QUESTIONS_HIDDEN = 'Your questions are not on this page of old sessions: *Hide* shows them.';

export const waitingSessionsWords = (total: number) =>
	`${counted(total, 'session waits', 'sessions wait')} for a person. Anybody may answer.`;

/** What to do when no question waits. `discovers`: whether sessions that nobody watches are shown too. */
export function emptyWords(isWatching: boolean, discovers: boolean): string {
	const come =
		'New questions that you may answer, of the sessions that your channels watch, appear here by themselves.';
	if (discovers) return `${come} \`${COMMAND} watch all\` brings those of all sessions into a channel.`;
	return isWatching
		? `${come} To watch another session, type \`${COMMAND} watch\` and its id in a channel.`
		: `No session is watched yet. \`${COMMAND} watch\` and an id, typed in a channel, bring its questions there and ` +
				'here.';
}

export const CHANNELS_UNKNOWN =
	'⚠️ Slack did not tell which channels you are in, so questions from channels are missing here. Handraise is ' +
	'asking again.';
