import { type HandOver, MOST_HAND_OVERS } from '../domain/hand-over.ts';
import type { Mask } from '../domain/masking.ts';
import { lookDifferent, looksOfLabels } from '../domain/quick-answer.ts';
import { type AnswerMarks, isSecretValue } from '../domain/secrecy.ts';
import type { Question } from '../domain/session.ts';
import type { ItemView, QuestionView } from '../domain/session-snapshot.ts';
import { type CutMark, createCutMark } from '../domain/texts.ts';
import type { Form } from '../slack/form/build.ts';
import { MOST_FIELDS } from '../slack/form/fields.ts';
import {
	ACTIONS,
	BUTTON_LABELS,
	type ButtonLabel,
	CHOOSE_IDS,
	type Choice,
	encodeChoice,
	encodeQuestionMark,
	encodeSnooze,
	encodeTarget,
	type QuestionMark,
	questionHash,
	SNOOZE_LENGTHS,
	type SnoozeLength,
} from '../slack/ids.ts';
import {
	andMoreWords,
	answerButton,
	type Button,
	button,
	context,
	counted,
	durationText,
	type KnownBlock,
	moreMenu,
	type Names,
	personMrkdwn,
	personName,
	saying,
	sectionsOf,
	sentences,
	spokenName,
	valueMrkdwn,
} from '../slack/parts.ts';
import {
	cutTo,
	firstCharactersMrkdwn,
	oneLine,
	plain,
	quoted,
	quotedBold,
	quotedMarkdown,
	quotedNameMrkdwn,
	quotedTitleMrkdwn,
	titleText,
	withoutListed,
	withoutMarks,
} from '../slack/text.ts';

/** How many items of a question a screen shows, and UTF-16 units of mrkdwn for each of its parts. */
const QUESTION_LIMITS = {
	post: { items: 3, context: 2_500, title: 250, description: 500 },
	/** A card shows more than the question. */
	card: { items: 3, context: 1_200, title: 250, description: 500 },
	/** A list draws its own lines: what is longer has no options there. */
	entry: { items: 2, context: 45, title: 120, description: 250 },
} as const;

type Room = keyof typeof QUESTION_LIMITS;

/** Below a question with a part cut: it has no buttons with options. mrkdwn. */
export const QUESTION_CUT = 'Part of the question is cut here. *Answer…* shows the rest, or says where to read it.';
/** Below one that hides something. mrkdwn. */
export const QUESTION_HIDES = '🔒 •••• hides what looks like a password or key. *Answer…* can show it.';
/** With it, Slack folds no part of a section behind "see more": for all of a question above its buttons. */
export const UNFOLDED = { expand: true } as const;

/**
 * In mrkdwn, what the agent wrote above the items (`said`), the first open items, and how many are left out (`more`).
 * `labels`: of the buttons below, which say what the lines of a list say.
 */
function questionBody(question: QuestionView, room: Room, labels: readonly string[] = []) {
	const limits = QUESTION_LIMITS[room];
	const mark = createCutMark(question.quick === null);
	const said = quotedMarkdown(withoutListed(question.context, labels), limits.context, mark.onCut);
	const asked = question.items.filter((item) => item.open).slice(0, limits.items);
	const leftOut = question.openCount - asked.length;
	const isAlone = asked.length === 1;
	const items = asked.map(({ title, description }, index) => {
		const name =
			quotedBold(titleText(title, labels), limits.title, mark.onCut) || (isAlone ? '' : `> *Question ${index + 1}*`);
		// Of a long list, the titles say what it is about.
		const more = leftOut > 0 ? '' : quotedMarkdown(withoutListed(description, labels), limits.description, mark.onCut);
		// The question comes last, above its buttons.
		return (isAlone ? `${more}\n${name}` : `${name}\n${more}`).trim();
	});
	return { said, items, more: andMoreWords(leftOut), isWhole: !mark.isCut };
}

interface Showing {
	readonly sessionId: string;
	readonly sessionName?: string;
	/** Like a secret, it may not be told where it does not stand. */
	readonly discreet: boolean;
	readonly room?: Room;
	/** Where one press may answer, and when the read of the question began; null: not here. */
	readonly choices?: Pick<Choice, 'channelId' | 'readAt'> | null;
	/** For *Hand over* and *Give back*; null: without. */
	readonly holding?: Holding | null;
	readonly snoozes?: boolean;
	/** What else a post offers in its menu; left out: no menu. */
	readonly menu?: { readonly hasScreenshot: boolean };
}

/**
 * An open question and its buttons: one for each option that one press can send unless a part is cut, one that opens
 * the form if Slack can show it, and those for whoever does not answer. `note`: why it has no form, or a part is cut.
 */
export function openQuestion(question: QuestionView, showing: Showing) {
	const { sessionId, room = 'post', choices = null, holding = null, snoozes = false, menu } = showing;
	const { messageIndex, fingerprint, openCount } = question;
	const target = { sessionId, messageIndex };
	const mark = { sessionId, fingerprint };
	const noForm = openCount > MOST_FIELDS ? noFormWords({ kind: 'tooMany', count: openCount }, false) : '';
	const others = moreMenu(
		...(holding === null ? [] : handOverButtons(holding, mark)),
		...(snoozes ? snoozeButtons(mark) : []),
		...(menu === undefined ? [] : postMenu(mark, menu, noForm === '')),
	);
	const whole = questionBody(question, room);
	const options = choices === null || !whole.isWhole ? [] : optionButtons(question, { sessionId, ...choices });
	const body = options.length === 0 ? whole : questionBody(question, room, question.quick?.options);
	const hasOptions = options.length > 0;
	const other = button(ACTIONS.answer, 'Other answer…', { value: encodeTarget(target) });
	// Its window shows what is asked, and has the button to the dashboard.
	const open = noForm === '' ? answerButton(target) : openSessionButton(sessionId);
	const row = hasOptions ? [...options, other, ...others] : [open, ...others];
	return {
		/** In one section, one bar stands beside all that the agent says. */
		blocks: (headline: string): KnownBlock[] => {
			const lines = [headline, body.said, ...body.items].filter((text) => text !== '');
			return [...sectionsOf(lines, UNFOLDED), ...context(body.more)];
		},
		row: row.map(sayingQuestion(question, showing)),
		hasOptions,
		note: noForm || (question.hides === true ? QUESTION_HIDES : body.isWhole ? '' : QUESTION_CUT),
	};
}

const openSessionButton = (sessionId: string) =>
	button(ACTIONS.open, 'Open session', { value: encodeTarget({ sessionId, messageIndex: null }) });

/** `opensSession`: no other button of the post does. */
function postMenu(
	mark: QuestionMark,
	{ hasScreenshot }: NonNullable<Showing['menu']>,
	opensSession: boolean,
): (Button | null)[] {
	const value = encodeTarget({ sessionId: mark.sessionId, messageIndex: null });
	return [
		button(ACTIONS.snooze, 'Snooze for me', { value: encodeSnooze({ length: '1h', hash: questionHash(mark) }) }),
		hasScreenshot ? button(ACTIONS.showScreenshot, 'Screenshot', { value }) : null,
		opensSession ? openSessionButton(mark.sessionId) : null,
	];
}

/** Anybody may hand over what nobody has; otherwise only its holder may, unless they got it by the last hand-over. */
function handOverButtons({ handOver, reader = null }: Holding, mark: QuestionMark): (Button | null)[] {
	const isHeld = handOver !== null && handOver.to === reader;
	const mayHandOver = handOver === null || (isHeld && handOver.count < MOST_HAND_OVERS);
	const value = encodeQuestionMark(mark);
	return [
		isHeld ? button(ACTIONS.giveBack, 'Give back', { value }) : null,
		mayHandOver ? button(ACTIONS.handOver, 'Hand over', { value }) : null,
	];
}

/** Decisions that are also labels of ours, in windows where no option of an agent stands. */
const DECISIONS: ReadonlySet<string> = new Set([
	'Back',
	'Cancel',
	'Close',
	'Continue',
	'Discard',
	'Save',
	'Send',
	'Try again',
]);
const OWN_LABELS = looksOfLabels(BUTTON_LABELS.filter((label) => !DECISIONS.has(label)));
/** Slack's limit for the value of a button. */
const MAX_VALUE_LENGTH = 2_000;
/** UTF-16 units. In JSON a character can take six. */
const TITLE_LENGTH = 120;

/** None where a value would be too long, or an option looks like a button of ours. */
function optionButtons(
	{ messageIndex, fingerprint, shownHash, quick, items, arrival }: QuestionView,
	place: Pick<Choice, 'sessionId' | 'channelId' | 'readAt'>,
): Button[] {
	const item = quick === null ? undefined : items[quick.position];
	if (quick === null || item === undefined || !lookDifferent(quick.options, OWN_LABELS)) return [];
	const { position, options } = quick;
	const title = cutTo(item.title, TITLE_LENGTH);
	const row = CHOOSE_IDS.flatMap((action_id, index): Button[] => {
		const option = options[index];
		if (option === undefined) return [];
		const shown = { messageIndex, fingerprint, shownHash, position, title, option, arrival: arrival ?? null };
		const value = encodeChoice({ ...place, ...shown });
		return [{ type: 'button', action_id, text: plain(option, 75), value }];
	});
	return row.some(({ value = '' }) => value.length > MAX_VALUE_LENGTH) ? [] : row;
}

const SNOOZE_LABELS = {
	'1h': 'Snooze for 1 h',
	tomorrow: 'Snooze until tomorrow 9:00',
} as const satisfies Readonly<Record<SnoozeLength, ButtonLabel>>;

/** For a menu: several buttons in one row need different ids. */
function snoozeButtons(mark: QuestionMark): Button[] {
	return SNOOZE_LENGTHS.map((length) =>
		button(ACTIONS.snooze, SNOOZE_LABELS[length], { value: encodeSnooze({ length, hash: questionHash(mark) }) }),
	);
}

/** Why Slack cannot show a form for a question, and where to answer it. mrkdwn. */
export function noFormWords(form: Exclude<Form, { kind: 'fields' | 'refused' }>, hasDashboard: boolean): string {
	const why =
		form.kind === 'tooMany'
			? `📋 It asks ${form.count.toLocaleString('en-US')} questions at once, more than Slack can show in one form.`
			: '📋 The question itself is so long that the session service would not accept an answer.';
	return `${why} Please answer it ${elsewhereWords(hasDashboard)}.`;
}

/** What the texts of a screen are cut to, and hide. */
export type Marks = { readonly mark: CutMark; readonly mask: Mask };

/** Items of a question, at most about 3,000 characters. */
const MOST_READ = 4;

/** The open items, for somebody who may only read them. mrkdwn. */
export function askedItemsWords({ items, openItems }: Question, { mark: { onCut }, mask }: Marks): string {
	const shown = openItems.slice(0, MOST_READ).map((position) => {
		const { title = '', description = '' } = items[position] ?? {};
		return [quotedBold(mask.read(titleText(title)), 200, onCut), quotedMarkdown(mask.read(description), 400, onCut)]
			.filter(Boolean)
			.join('\n');
	});
	return sentences(shown.join('\n'), andMoreWords(openItems.length - shown.length));
}
export function elsewhereWords(hasDashboard: boolean): string {
	return hasDashboard ? 'in the dashboard, with the button below' : 'in the dashboard';
}

/** Beside the text of a message that has files too. */
export const ONLY_TEXT =
	'📎 Only this text goes to the agent, not the file. If the agent needs it, add a link or its text to your answer.';

/** Title and value of an item that is not open: at most about 700 characters of mrkdwn. */
export function answeredItem({ title, withheld, ...item }: Omit<ItemView, 'open' | 'description'>, position: number) {
	const head = `*${quotedTitleMrkdwn(titleText(title), 200) || `Question ${position + 1}`}*`;
	if (withheld && !item.secret) return `${head}\n(not shown in channels)`;
	return `${head}\n${valueMrkdwn(item, (text) => quoted(text, 500))}`;
}

/** `“Which flight?”`, in one line; of several open items, the first and how many more. mrkdwn. */
export function askedLine({ items, openCount, context: said }: QuestionView): string {
	const { title = '', description = '' } = items.find(({ open }) => open || openCount === 0) ?? {};
	const asked = oneLine(title, LINE_LENGTH) || oneLine(description, LINE_LENGTH) || said;
	const first = quotedTitleMrkdwn(asked, LINE_LENGTH);
	return first === '' && openCount > 1 ? counted(openCount, 'field') : sentences(first, andMoreWords(openCount - 1));
}

const LINE_LENGTH = 150;

/** What has a value, or was left empty on purpose: with it, the open items may mean something else. */
export function filledItems(question: Question, marks: readonly AnswerMarks[], { read }: Mask): string[] {
	const open = new Set(question.openItems);
	const filled = question.items
		.map((item, position) => ({ ...item, position }))
		.filter(({ position }) => !open.has(position));
	// Slack takes ten fields in a block.
	const shown = filled.slice(0, 9).map(({ title, value, position }) => {
		const secret = isSecretValue(marks, question, position);
		return answeredItem(
			{ title: read(title), value: value === '' ? null : read(value), secret, withheld: false },
			position,
		);
	});
	return [...shown, andMoreWords(filled.length - 9)].filter((text) => text !== '');
}

interface Holding {
	readonly handOver: HandOver | null;
	/** Slack user id of the reader, who may be the holder; null: a channel. */
	readonly reader?: string | null;
}

/** `Grace has it (from Ada)`, mrkdwn; empty for nobody. `names`: null mentions people; a new message notifies them. */
export function handOverLine({ handOver, reader = null }: Holding, names: Names | null): string {
	if (handOver === null) return '';
	const { from, to } = handOver;
	const nameOf = (userId: string) => (names === null ? personMrkdwn(userId) : personName(userId, names));
	return `${to === reader ? 'You have' : `${nameOf(to)} has`} it (from ${nameOf(from)})`;
}

/** `Ada is answering. The first answer counts.`; empty when nobody is. mrkdwn. */
export function claimsWords(userIds: readonly string[]): string {
	if (userIds.length === 0) return '';
	const people = userIds.slice(0, 3).map((userId) => personMrkdwn(userId));
	if (userIds.length > 3) people.push(`${userIds.length - 3} more`);
	return `${people.join(', ')} ${userIds.length === 1 ? 'is' : 'are'} answering. The first answer counts.`;
}

/** What phones show of a notification, in characters. */
const SHOWN_CHARACTERS = 250;
/* UTF-16 units. A longer part is cut anyway. */
const TEXT_LENGTH = 400;
const NAME_LENGTH = 60;
const PART_LENGTH = 1_000;
/** Of each item when there are several. */
const SHORT_PART_LENGTH = 80;

/**
 * The `text` of a message with a question, for notifications and screen readers: a line of at most 400 UTF-16 units,
 * escaped for mrkdwn. It begins with our words, never an agent's, and tells nothing of a secret, or when `discreet`.
 */
export function questionText(shown: ShownQuestion): string {
	const { question, sessionName, waitedMs, changed = false } = shown;
	const asks = 'An agent asks';
	const told = toldWords(shown);
	if (told === null) return `${asks} for an answer.`;
	const about = [
		withoutMarks(quotedNameMrkdwn(sessionName, NAME_LENGTH + 2)),
		waitedMs !== null && waitedMs >= 60_000 ? `waiting ${durationText(waitedMs)}` : '',
	].filter(Boolean);
	const end = about.length === 0 ? '' : ` (${about.join(', ')})`;
	const several = question.openCount > 1 ? `${asks} ${counted(question.openCount, 'question')}` : null;
	const opening = changed ? 'An agent asks something else now' : several;
	const text = told === '' ? (opening ?? `${asks} for an answer`) : `${opening ?? asks}: ${told}`;
	return firstCharactersMrkdwn(text, SHOWN_CHARACTERS, TEXT_LENGTH - end.length) + end;
}

interface ShownQuestion {
	readonly question: Pick<QuestionView, 'context' | 'items' | 'openCount'>;
	readonly sessionName: string;
	/** Since the agent asked; null: not told. */
	readonly waitedMs: number | null;
	readonly discreet: boolean;
	/** It asked something else before. */
	readonly changed?: boolean;
}

/** What `questionText` says of the question; null when nothing of it may be told. The read found what is secret. */
export function toldWords({ question, discreet }: Pick<ShownQuestion, 'question' | 'discreet'>): string | null {
	const open = question.items.filter((item) => item.open);
	if (discreet || open.some((item) => item.secret)) return null;
	const asked = question.openCount > 1 ? severalItems(open, question.openCount) : oneItem(open[0]);
	if (asked !== '') return asked;
	// The items say nothing, so the text above them counts. It may ask for a secret if another item does.
	const isTold = open.length > 0 && !question.items.some((item) => item.secret);
	return isTold ? oneLine(question.context, PART_LENGTH) : '';
}

/** Buttons say what it asks, and the session's name; that alone if nothing of the question may be told. */
export function sayingQuestion(question: QuestionView, { sessionId, sessionName, discreet }: Showing) {
	const name = spokenName(sessionId, sessionName);
	if (!toldWords({ question, discreet })) return saying(name);
	const open = question.items.flatMap((item) => (item.open ? [item.title, item.description] : []));
	const asked = [...open, question.context].map((text) => oneLine(text, 45)).find((text) => text !== '');
	const more = andMoreWords(question.openCount - 1);
	return saying(sentences(asked ?? '', more === '' ? '' : `${more},`, name));
}

function severalItems(open: readonly ItemView[], openCount: number): string {
	const parts = open
		.map(({ title, description }) => oneLine(title, SHORT_PART_LENGTH) || oneLine(description, SHORT_PART_LENGTH))
		.map((part) => part.replace(/(?<![\s.:;,])[\s.:;,]+$/, ''))
		.filter((part) => part !== '');
	return parts.length > 0 && openCount > parts.length ? `${parts.join('; ')}; …` : parts.join('; ');
}

/** `Title: description`; a title with a mark at its end needs no colon. */
function oneItem(item: ItemView | undefined): string {
	const title = oneLine(item?.title ?? '', PART_LENGTH);
	const description = oneLine(item?.description ?? '', PART_LENGTH);
	if (title === '' || description === '') return title + description;
	if (description.startsWith(title) && !/^[\p{L}\p{N}]/u.test(description.slice(title.length))) return description;
	return /[.!?…:;,。！？：]$/.test(title) ? `${title} ${description}` : `${title}: ${description}`;
}
