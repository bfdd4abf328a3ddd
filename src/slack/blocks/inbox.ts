import type { HeaderBlock, HomeView, KnownBlock, ModalView, StaticSelect } from '@slack/types';
import type { ActRefusal } from '../../answers/access-policy.ts';
import type { Answer, AnswerItem } from '../../answers/answer.ts';
import type { OnCut } from '../../cut.ts';
import {
	type AskedIn,
	type Inbox,
	type InboxContent,
	type InboxDraft,
	type InboxQuestion,
	type InboxWaiting,
	OLD_PER_PAGE,
	QUESTIONS_PER_PAGE,
} from '../../inbox/inbox.ts';
import { SNOOZE_LENGTHS } from '../../inbox/snooze.ts';
import type { QuickAnswer } from '../../questions/quick-answer.ts';
import type { WaitingSession } from '../../watches/discovered.ts';
import type { ItemView } from '../../watches/session-snapshot.ts';
import { ACTIONS, CALLBACKS, encodeSnooze, encodeTarget, inboxRowId, type QuestionMark, questionHash } from '../ids.ts';
import { encodeMetadata, newMetadata } from '../metadata.ts';
import { isBlank, plain, quotedLine, quotedMarkdown, quotedNameMrkdwn } from '../text.ts';
import { receiptHeadline } from '../words/answers.ts';
import { noListWords } from '../words/discovery.ts';
import { errorWords } from '../words/errors.ts';
import { inboxHandOverLine } from '../words/hand-over.ts';
import {
	CHANNELS_UNKNOWN,
	emptyWords,
	followedWords,
	NO_WINDOW,
	oldSessionsWords,
	ownStateLine,
	pageWords,
	QUESTIONS_HIDDEN,
	SENT_SOON,
	SNOOZE_LABELS,
	snoozedWords,
	unreadableWords,
	waitingBeforeWords,
	waitingCountWords,
	waitingSessionsWords,
	waitingSinceWords,
} from '../words/inbox.ts';
import { claimsWords } from '../words/notices.ts';
import { personMrkdwn } from '../words/people.ts';
import { QUESTION_CUT } from '../words/question-text.ts';
import { andMoreWords, joined, sessionIdMrkdwn, sessionTitle } from '../words/sessions.ts';
import { momentMrkdwn } from '../words/times.ts';
import { placeMrkdwn } from '../words/watching.ts';
import {
	type ButtonLabel,
	button,
	buttons,
	context,
	divider,
	giveBackButton,
	handOnButtons,
	type MessageContent,
	menu,
	message,
	modal,
	section,
	UNFOLDED,
} from './parts.ts';
import { answerButtons, hasOption, noForm } from './quick-answer.ts';
import { type ReceiptContext, receiptButtons, receiptIcon } from './receipt.ts';

export interface InboxModel {
	readonly inbox: Pick<Inbox, 'openedAt' | 'person'>;
	readonly content: InboxContent;
	/** Whether questions offer short options as buttons. */
	readonly quickAnswers: boolean;
	/** `now` in whole minutes. */
	readonly receipt: ReceiptContext;
}

type Shown = Extract<InboxContent, { kind: 'shown' }>;

/** What is pressed in an inbox belongs to no channel, except in rows with an id of their own. */
const METADATA = newMetadata({ sessionId: '', formId: '' });

/** The inbox in the Home tab. */
export function homeView(model: InboxModel): HomeView {
	return homeOf(inboxBlocks(model));
}

/** A Home tab that only says why there is no inbox. mrkdwn. */
export function homeNotice(words: string): HomeView {
	return homeOf(section(words));
}

function homeOf(blocks: KnownBlock[]): HomeView {
	return { type: 'home', callback_id: CALLBACKS.home, private_metadata: encodeMetadata(METADATA), blocks };
}

/** The inbox in a window. */
export function inboxModal(model: InboxModel): ModalView {
	return inboxWindow(inboxBlocks(model));
}

/** Opens before the content is put together. */
export function inboxLoadingModal(): ModalView {
	return inboxWindow(section('⏳ Looking for questions that wait for you…'));
}

function inboxWindow(blocks: readonly KnownBlock[]): ModalView {
	return modal({ callbackId: CALLBACKS.inbox, title: 'Inbox', metadata: METADATA, notifyOnClose: true, blocks });
}

/** For an expired trigger. */
export function noInboxWindow(): MessageContent {
	return message('Your inbox could not be opened in a window.', section(NO_WINDOW));
}

/** To a person about a question that they snoozed. mrkdwn. */
export function snoozedMessage(words: string): MessageContent {
	return message(words, section(words));
}

function inboxBlocks({ inbox, content, quickAnswers, receipt }: InboxModel): KnownBlock[] {
	if (content.kind === 'refused') return section(refusalWords(content.refusal, receipt.adminContact));
	const { total, snoozed, page, questions, channelsKnown, unreadableCount, waiting, isWatching } = content;
	const { userId } = inbox.person;
	const pageRow = buttons(...pageButtons(content));
	const isOfQuestions = questions.length + unreadableCount > 0;
	const oldCount = waiting?.old.total ?? 0;
	const isEmpty = total === 0 && snoozed === null && channelsKnown && oldCount === 0;
	return [
		heading(`${total === 0 ? '' : '✋ '}${waitingCountWords(total, snoozed?.count ?? 0, oldCount)}`),
		// Above the questions: who has just pressed a button has a few seconds for *Undo*.
		...content.ownAnswers.shown.filter(isUndoable).flatMap((answer) => ownAnswerEntry(answer, receipt)),
		...snoozedLine(snoozed),
		...context(
			isOfQuestions
				? pageWords('Question', page * QUESTIONS_PER_PAGE + 1, questions.length + unreadableCount, total)
				: '',
		),
		...section(total > 0 && waiting !== null && waiting.old.shown.length > 0 ? QUESTIONS_HIDDEN : ''),
		...section(channelsKnown ? '' : CHANNELS_UNKNOWN),
		...section(isEmpty ? emptyWords(isWatching, waiting?.why === null) : ''),
		...context(unreadableCount === 0 ? '' : unreadableWords(unreadableCount)),
		...questions.flatMap((question) => questionEntry(question, { quickAnswers, userId }, receipt)),
		...(pageRow.length === 0 ? [] : [divider(), ...pageRow]),
		...(waiting === null ? [] : waitingEntries(waiting, page, receipt)),
		...ownAnswerEntries(content, receipt),
		...draftEntries(content),
		...lastAnswerEntries(content),
		divider(),
		...context(followedWords(inbox.openedAt)),
		...buttons(button(ACTIONS.inboxRefresh, 'Refresh', { value: String(page) })),
	];
}

function snoozedLine(snoozed: Shown['snoozed']): KnownBlock[] {
	if (snoozed === null) return [];
	return section(snoozedWords(snoozed.count, snoozed.nextAt), {
		accessory: button(ACTIONS.showSnoozed, 'Show now', { value: 'all' }),
	});
}

function heading(text: string): HeaderBlock {
	// Slack takes 150 characters.
	return { type: 'header', text: plain(text, 150) };
}

/** Why somebody sees no inbox. mrkdwn. */
export function refusalWords(refusal: ActRefusal, adminContact: string | null): string {
	return `🔒 ${errorWords(refusal, { kept: 'nothing', adminContact }).text}`;
}

function pageButtons({ total, page }: Shown) {
	const after = total - (page + 1) * QUESTIONS_PER_PAGE;
	const isPastQuestions = total <= page * QUESTIONS_PER_PAGE;
	return [
		page === 0 || isPastQuestions ? null : toPage(ACTIONS.inboxOlder, `Previous ${QUESTIONS_PER_PAGE}`, page - 1),
		after <= 0 ? null : toPage(ACTIONS.inboxNewer, `Next ${Math.min(QUESTIONS_PER_PAGE, after)}`, page + 1),
	];
}

function toPage(actionId: typeof ACTIONS.inboxOlder | typeof ACTIONS.inboxNewer, label: ButtonLabel, page: number) {
	return button(actionId, label, { value: String(page) });
}

/** Items of a question whose text is shown; the form shows all. */
const ITEMS_SHOWN = 2;

/** Five options of 30 characters with what stands between them. */
const MAX_OPTIONS_LENGTH = 250;

/** At most about 1,000 characters and 4 blocks. */
function questionEntry(
	entry: InboxQuestion,
	{ quickAnswers, userId }: Pick<InboxModel, 'quickAnswers'> & { userId: string },
	{ names, now }: ReceiptContext,
): KnownBlock[] {
	const { question, askedIn, since, view, sessionName, answering, handOver } = entry;
	const { sessionId, messageIndex } = question;
	const asked = view.items.filter((item) => item.open).slice(0, ITEMS_SHOWN);
	const moreCount = view.openCount - asked.length;
	const { channelId, watchedBy } = askedIn;
	const whose = watchedBy === userId ? null : personMrkdwn(watchedBy, names);
	const place = { sessionId, channelId, readAt: since };
	const mark = { sessionId, fingerprint: view.fingerprint };
	let isWhole = true;
	const onCut: OnCut = (isNote) => {
		isWhole &&= isNote === true && view.quick !== null;
	};
	const said = quotedMarkdown(view.context, 250, onCut);
	const besideOptions = asked.map((item) => itemLine(item, view.quick, onCut));
	const rows = answerButtons(view, place, quickAnswers && askedIn.buttons && isWhole, [
		...(handOver?.to === userId ? [giveBackButton(mark)] : []),
		...(handOver === null || handOver.to === userId ? handOnButtons(mark, handOver) : []),
		snoozeMenu(mark),
	]);
	const text = [
		`*${sessionTitle(sessionName, sessionId)}*`,
		said,
		...(rows.some(hasOption) ? besideOptions : asked.map((item) => itemLine(item, null))),
		andMoreWords(moreCount, moreCount === 1 ? 'question' : 'questions'),
		noForm(view),
	];
	return [
		divider(),
		...section(text.filter((line) => line !== '').join('\n'), UNFOLDED),
		...context(
			isWhole || noForm(view) !== '' ? '' : QUESTION_CUT,
			joined(placeMrkdwn(channelId, whose), waitingSinceWords(since, now)),
			inboxHandOverLine(handOver, userId, names),
			claimsWords(answering, names),
		),
		...inRow(rows, askedIn, `question ${messageIndex} ${sessionId}`),
	];
}

/** The sessions that wait for somebody, watched or not. */
function waitingEntries(
	{ shown, total, old, why }: InboxWaiting,
	page: number,
	{ now, adminContact }: ReceiptContext,
): KnownBlock[] {
	const waitingWords = total === 0 && old.total > 0 ? '' : waitingSessionsWords(total);
	return [
		divider(),
		heading('Other waiting sessions'),
		...section(why === null ? waitingWords : `⏸️ ${noListWords(why, adminContact)}`),
		...shown.flatMap((session) => waitingEntry(session, now)),
		...context(andMoreWords(total - shown.length, 'sessions')),
		...oldEntries(old, page, now),
	];
}

/** One line, and on their own pages the sessions. */
function oldEntries({ total, firstPage, shown }: InboxWaiting['old'], page: number, now: number): KnownBlock[] {
	if (total === 0) return [];
	const words = oldSessionsWords(total);
	if (shown.length === 0) return section(words, { accessory: toPage(ACTIONS.inboxNewer, 'Show', firstPage) });
	const first = (page - firstPage) * OLD_PER_PAGE;
	const after = total - first - OLD_PER_PAGE;
	return [
		...section(words, { accessory: toPage(ACTIONS.inboxOlder, 'Hide', 0) }),
		...context(pageWords('Session', first + 1, shown.length, total)),
		...shown.flatMap((session) => waitingEntry(session, now)),
		...buttons(
			first === 0 ? null : toPage(ACTIONS.inboxOlder, `Previous ${OLD_PER_PAGE}`, page - 1),
			after <= 0 ? null : toPage(ACTIONS.inboxNewer, `Next ${Math.min(OLD_PER_PAGE, after)}`, page + 1),
		),
	];
}

function waitingEntry({ sessionId, name, since, isNew }: WaitingSession, now: number): KnownBlock[] {
	const value = encodeTarget({ sessionId, messageIndex: null });
	const waits = isNew ? waitingSinceWords(since, now) : waitingBeforeWords(since);
	return section(`✋ ${joined(`*${sessionTitle(name, sessionId)}*`, waits)}`, {
		block_id: inboxRowId({ channelId: null, threadTs: null }, `session ${sessionId}`),
		accessory: button(ACTIONS.open, 'Open', { value }),
	});
}

function snoozeMenu(mark: QuestionMark): StaticSelect {
	const hash = questionHash(mark);
	const options = SNOOZE_LENGTHS.map((length) => ({
		label: SNOOZE_LABELS[length],
		value: encodeSnooze({ length, hash }),
	}));
	return menu(ACTIONS.snooze, 'Snooze', options);
}

/** `shownOptions`: those that have buttons. */
function itemLine({ title, description }: ItemView, shownOptions: QuickAnswer | null, onCut?: OnCut): string {
	const isRepeated = shownOptions !== null && onlyListsOptions(description, shownOptions);
	const text = isRepeated ? '' : quotedLine(description, 120, onCut);
	return `❓ *${quotedNameMrkdwn(title, 120, onCut) || 'Question'}*\n${text}`.trimEnd();
}

/** Whether the description tells nothing that the buttons below it do not say. False in doubt. */
function onlyListsOptions(description: string, { options }: QuickAnswer): boolean {
	if (description.length > MAX_OPTIONS_LENGTH) return false;
	const others = options.toSorted((a, b) => b.length - a.length).reduce(withoutOption, description);
	return /^(?:one of|or|[\s/:,;.?•*()-])*$/i.test(others);
}

function withoutOption(text: string, option: string): string {
	return text.toLowerCase().replaceAll(option.toLowerCase(), ',');
}

/** Rows of buttons with an id that tells where they belong. */
function inRow(
	rows: readonly KnownBlock[],
	{ channelId, threadTs }: Pick<AskedIn, 'threadTs'> & { readonly channelId: string | null },
	key: string,
): KnownBlock[] {
	return rows.map((row) => ({ ...row, block_id: inboxRowId({ channelId, threadTs }, key) }));
}

/** Answers that are under way or need a decision. */
function ownAnswerEntries({ ownAnswers: { shown, total } }: Shown, receipt: ReceiptContext): KnownBlock[] {
	const others = shown.filter((answer) => !isUndoable(answer));
	const more = context(andMoreWords(total - shown.length, 'answers'));
	if (others.length === 0 && more.length === 0) return [];
	return [divider(), heading('Your answers'), ...others.flatMap((answer) => ownAnswerEntry(answer, receipt)), ...more];
}

function ownAnswerEntry(answer: Answer, receipt: ReceiptContext): KnownBlock[] {
	return [
		...section(`${receiptIcon(answer)} ${ownAnswerWords(answer)}\n${answerLine(answer)}`),
		...context(isUndoable(answer) ? '' : momentMrkdwn(answer.acceptedAt)),
		...inRow(ownAnswerButtons(answer, receipt), answer.origin, `answer ${answer.id}`),
	];
}

/** Whether its author can take it back. Whoever presses too late is told. */
function isUndoable({ press, state, attempts }: Answer): boolean {
	return press !== null && state === 'accepted' && attempts === 0;
}

function ownAnswerWords(answer: Answer): string {
	return isUndoable(answer) ? SENT_SOON : receiptHeadline(answer);
}

function ownAnswerButtons(answer: Answer, receipt: ReceiptContext): KnownBlock[] {
	if (!isUndoable(answer)) return receiptButtons(answer, receipt);
	return buttons(button(ACTIONS.undo, 'Undo', { value: answer.id }));
}

/** `3f9a2c1d, “Which colour?”: “grey”`. Never a secret. mrkdwn. */
function answerLine({ question, content }: Answer): string {
	const id = `*${sessionIdMrkdwn(question.sessionId)}*`;
	const items = content.kind === 'readable' ? content.items.filter(({ value, wiped }) => value !== null || wiped) : [];
	const [first] = items;
	if (first === undefined) return id;
	const title = quotedNameMrkdwn(first.title, 60);
	const more =
		items.length === 1 ? '' : ` ${andMoreWords(items.length - 1, items.length === 2 ? 'answer' : 'answers')}`;
	return `${joined(id, title)}: ${valueMrkdwn(first)}${more}`;
}

function valueMrkdwn({ value, secret }: AnswerItem): string {
	if (secret) return '(hidden)';
	return value === null || isBlank(value) ? '(left empty)' : quotedNameMrkdwn(value, 80);
}

function draftEntries({ drafts }: Shown): KnownBlock[] {
	if (drafts.length === 0) return [];
	return [divider(), heading('Drafts'), ...drafts.flatMap(draftEntry)];
}

function draftEntry({ question, values, updatedAt, formId, askedIn }: InboxDraft): KnownBlock[] {
	const { sessionId, messageIndex } = question;
	const text = Object.values(values).find((value) => !isBlank(value)) ?? '';
	const origin = { channelId: askedIn?.channelId ?? null, threadTs: askedIn?.threadTs ?? null };
	return section(
		`📝 ${joined(`*${sessionIdMrkdwn(sessionId)}*`, quotedNameMrkdwn(text, 120), momentMrkdwn(updatedAt))}`,
		{
			block_id: inboxRowId(origin, `draft ${formId}`),
			accessory: button(ACTIONS.answer, 'Continue', { value: encodeTarget({ sessionId, messageIndex }) }),
		},
	);
}

function lastAnswerEntries({ lastAnswers }: Shown): KnownBlock[] {
	if (lastAnswers.length === 0) return [];
	return [
		divider(),
		heading('Your last answers'),
		...lastAnswers.flatMap((answer) =>
			context(joined(answerLine(answer), ownStateLine(answer), momentMrkdwn(answer.acceptedAt))),
		),
	];
}
