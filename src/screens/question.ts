import { type HandOver, MOST_HAND_OVERS } from '../domain/hand-over.ts';
import { titleText, withoutListed } from '../domain/listed-options.ts';
import type { Mask } from '../domain/masking.ts';
import { lookDifferent, looksOfLabels } from '../domain/quick-answer.ts';
import { type AnswerSecrecy, isSecretValue } from '../domain/secrecy.ts';
import type { Question } from '../domain/session.ts';
import type { ItemSnapshot, QuestionSnapshot } from '../domain/session-snapshot.ts';
import { cutTo, oneLine } from '../domain/shown-text.ts';
import { type CutCheck, createCutCheck, cutText } from '../domain/texts.ts';
import { agentLine, agentText } from '../slack/agent-text.ts';
import {
	answerButton,
	type Button,
	button,
	context,
	type KnownBlock,
	labelAbout,
	moreMenu,
	plain,
} from '../slack/blocks.ts';
import type { Form } from '../slack/form/build.ts';
import { MOST_FIELDS } from '../slack/form/fields.ts';
import {
	ACTIONS,
	BUTTON_LABELS,
	CHOOSE_IDS,
	encodeChoice,
	encodeQuestionRef,
	encodeSnooze,
	encodeTarget,
	type PressedOption,
	type QuestionRef,
	questionHash,
} from '../slack/ids.ts';
import { andMoreWords, counted, mentionOf, type Names, personName, spokenName, valuePieces } from '../slack/phrases.ts';
import {
	bold,
	line,
	listed,
	type Piece,
	piecesText,
	quote,
	rich,
	richText,
	sentences,
	type Words,
} from '../slack/rich-text.ts';

/** UTF-16 units of what a screen shows of a question's parts. */
const QUESTION_LIMITS = {
	post: { context: 1_800, title: 250, description: 400 },
	/** For a message that does not hold as much. */
	short: { context: 700, title: 120, description: 200 },
	/** For an entry of a list, each text in one line. A longer question has no option buttons there. */
	entry: { context: 140, title: 150, description: 140 },
} as const;

type Room = keyof typeof QUESTION_LIMITS;
/** Sizes of a question in a message, which uses the first that fits. */
export const POST_ROOMS = ['post', 'short'] as const satisfies readonly Room[];

/** The most titles of items in a post. */
const MOST_TITLES = 5;

/** Below a question that is cut, and so has no option buttons. */
export const QUESTION_CUT = 'Part of the question is cut here. Answer… shows the rest, or says where to read it.';
/** Below a question with masked text. */
export const QUESTION_HIDES = '🔒 •••• hides what looks like a password or key. Answer… can show it.';
/**
 * Option buttons need a text above them of at most this length. Slack may fold a longer one, and people have to see
 * what they approve.
 */
export const MOST_ABOVE_OPTIONS = { characters: 600, lines: 12 } as const;

/**
 * `said`: what the agent wrote above the items; `asked`: the item, or the titles of several; `more`: how many are left
 * out. `labels`: of the option buttons below, whose list the text need not repeat.
 */
function questionBody(question: QuestionSnapshot, room: Room, labels: readonly string[] = []) {
	const limits = QUESTION_LIMITS[room];
	const cutCheck = createCutCheck(question.quick === null);
	const textOf = (text: string, limit: number) =>
		(room === 'entry' ? agentLine : agentText)(text, limit, cutCheck.onCut);
	const said = textOf(question.context, limits.context);
	const open = question.items.filter((item) => item.open);
	const shown = open.slice(0, MOST_TITLES);
	const title = (item: ItemSnapshot) =>
		quote(bold(oneLine(titleText(item.title, labels), limits.title, cutCheck.onCut)));
	const [only] = question.openCount === 1 ? open : [];
	if (only === undefined && room === 'entry') {
		return { said, asked: quote(bold(askedLine(question))), more: '', isWhole: false };
	}
	const asked =
		only === undefined
			? shown.flatMap((item, at) => [title(item), quote(bold(`Question ${at + 1}`))].find(isSomething) ?? [])
			: [...title(only), ...textOf(withoutListed(only.description, labels), limits.description)];
	const more = only === undefined ? andMoreWords(question.openCount - shown.length) : '';
	return { said, asked, more, isWhole: !cutCheck.isCut };
}

const isSomething = (pieces: readonly unknown[]) => pieces.length > 0;

/** Whether Slack shows all of the text without folding it. */
function isShort(pieces: readonly Piece[]): boolean {
	const text = piecesText(pieces);
	return text.length <= MOST_ABOVE_OPTIONS.characters && text.split('\n').length <= MOST_ABOVE_OPTIONS.lines;
}

interface Showing {
	readonly sessionId: string;
	readonly sessionName?: string;
	/** The channel is discreet: labels of buttons and notifications repeat nothing of the question. */
	readonly discreet: boolean;
	readonly room?: Room;
	/** For option buttons: their channel, and when the read of the question began; null: no option buttons. */
	readonly choices?: Pick<PressedOption, 'channelId' | 'readAt'> | null;
	/** For *Hand over* and *Give back*; null: without. */
	readonly holding?: Holding | null;
	/** The menu beside the buttons: of a question's post, of an entry in an inbox; left out: none. */
	readonly menu?: 'post' | 'inbox';
}

/**
 * An open question and its buttons: for each option that one press can send, unless the text is cut; for the form, if
 * Slack can show it; and for what else people can do. `note`: why there is no form, or that the text is cut or masked.
 */
export function openQuestionParts(question: QuestionSnapshot, showing: Showing) {
	const { sessionId, room = 'post', choices = null, holding = null, menu } = showing;
	const { messageIndex, fingerprint, openCount } = question;
	const target = { sessionId, messageIndex };
	const ref = { sessionId, fingerprint };
	const noForm = openCount > MOST_FIELDS ? noFormWords({ kind: 'tooMany', count: openCount }, false) : '';
	const others = moreMenu(
		...(holding === null ? [] : handOverButtons(holding, ref)),
		menu === undefined ? null : snoozeButton(ref),
		// Without a form, a button of the post opens the session.
		menu === 'post' && noForm === '' ? openSessionButton(sessionId) : null,
	);
	const whole = questionBody(question, room);
	const brief = questionBody(question, room, question.quick?.options);
	// Options that become buttons need not be in the text.
	const isTooLong = brief.isWhole && !isShort([...brief.said, ...brief.asked]);
	const isOffered = choices !== null && brief.isWhole && !isTooLong;
	const options = isOffered ? optionButtons(question, { sessionId, ...choices }) : [];
	const hasOptions = options.length > 0;
	const body = hasOptions ? brief : whole;
	const other = button(ACTIONS.answer, 'Other answer…', { value: encodeTarget(target) });
	// Without a form, the session's window shows what is asked, with a button to the dashboard.
	const open = noForm === '' ? answerButton(target) : openSessionButton(sessionId);
	const row = hasOptions ? [...options, other, ...others] : [open, ...others];
	return {
		said: body.said,
		asked: body.asked,
		more: body.more,
		/** One bar stands beside all that the agent says. */
		blocks: (headline: Words): KnownBlock[] => [
			...richText(...line(headline), ...body.said, ...body.asked),
			...context(body.more),
		],
		row: row.map(labelAboutQuestion(question, showing)),
		hasOptions,
		/** The text is whole, but too long for option buttons below it. */
		isTooLong,
		note: noForm || (question.hides === true ? QUESTION_HIDES : body.isWhole ? '' : QUESTION_CUT),
	};
}

const openSessionButton = (sessionId: string) =>
	button(ACTIONS.open, 'Open session', { value: encodeTarget({ sessionId, messageIndex: null }) });

/** Anybody may hand over a question without a holder; with one, only the holder, up to the most hand-overs. */
function handOverButtons({ handOver, reader = null }: Holding, ref: QuestionRef): (Button | null)[] {
	const isHeld = handOver !== null && handOver.to === reader;
	const mayHandOver = handOver === null || (isHeld && handOver.count < MOST_HAND_OVERS);
	const value = encodeQuestionRef(ref);
	return [
		isHeld ? button(ACTIONS.giveBack, 'Give back', { value }) : null,
		mayHandOver ? button(ACTIONS.handOver, 'Hand over', { value }) : null,
	];
}

/** Labels of ours that an agent's option may have, because they stand only in windows without such options. */
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
/** UTF-16 units of a title in a button's value. In JSON, a character can take six. */
const TITLE_LENGTH = 120;

/** The option buttons; none if a value is too long, or an option looks like a button of ours. */
function optionButtons(
	{ messageIndex, fingerprint, shownHash, quick, items, arrival }: QuestionSnapshot,
	place: Pick<PressedOption, 'sessionId' | 'channelId' | 'readAt'>,
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

const snoozeButton = (ref: QuestionRef) =>
	button(ACTIONS.snooze, 'Snooze for 1 h', { value: encodeSnooze({ length: '1h', hash: questionHash(ref) }) });

/** Why Slack cannot show a form for a question, and where to answer it. */
export function noFormWords(form: Exclude<Form, { kind: 'fields' | 'refused' }>, hasDashboard: boolean): string {
	const why =
		form.kind === 'tooMany'
			? `📋 It asks ${form.count.toLocaleString('en-US')} questions at once, more than Slack can show in one form.`
			: '📋 The question itself is so long that the session service would not accept an answer.';
	return `${why} Please answer it ${elsewhereWords(hasDashboard)}.`;
}

/** `cut` notes whether a text of the screen was cut, `mask` hides credentials in them. */
export type TextFilter = { readonly cut: CutCheck; readonly mask: Mask };

/** The most items for somebody who may only read: about 3,000 characters. */
const MOST_READ = 4;

/** The open items, for somebody who may only read them. */
export function askedItems({ items, openItems }: Question, { cut: { onCut }, mask }: TextFilter): Piece[] {
	const shown = openItems.slice(0, MOST_READ).flatMap((position) => {
		const { title = '', description = '' } = items[position] ?? {};
		const name = quote(bold(oneLine(mask.read(titleText(title)), 200, onCut)));
		return [...name, ...agentText(mask.read(description), 400, onCut)];
	});
	return [...shown, ...line(andMoreWords(openItems.length - MOST_READ))];
}

export function elsewhereWords(hasDashboard: boolean): string {
	return hasDashboard ? 'in the dashboard, with the button below' : 'in the dashboard';
}

/** Beside the text of a message that has files too. */
export const ONLY_TEXT =
	'📎 Only this text goes to the agent, not the file. If the agent needs it, add a link or its text to your answer.';

/** Title and value of an answered item: at most about 700 characters. */
export function answeredItem(
	{ title, withheld, ...item }: Omit<ItemSnapshot, 'open' | 'description'>,
	position: number,
	room: (typeof POST_ROOMS)[number] = 'post',
): Piece[] {
	const limits = room === 'post' ? { title: 200, value: 500 } : { title: 100, value: 150 };
	const head = line(bold(oneLine(titleText(title), limits.title) || `Question ${position + 1}`));
	if (withheld && !item.secret) return [...head, ...line('(not shown in channels)')];
	return [...head, ...valuePieces(item, limits.value)];
}

/** `Which flight?`, in one line; for several open items, the first one and how many more. */
export function askedLine({ items, openCount, context: said }: QuestionSnapshot, limit = LINE_LENGTH): string {
	const { title = '', description = '' } = items.find(({ open }) => open || openCount === 0) ?? {};
	const texts = [title, description, said].map((text) => oneLine(text, limit));
	const first = texts.find((text) => text !== '') ?? '';
	return first === '' && openCount > 1 ? counted(openCount, 'field') : sentences(first, andMoreWords(openCount - 1));
}

const LINE_LENGTH = 150;
/** Lengths of a line in a list of a message, which uses the first that fits. */
export const LINE_LENGTHS = [LINE_LENGTH, 60, 30] as const;

/** The items that are not open, with their values. The open items may need them as context. */
export function filledItems(question: Question, secrecy: readonly AnswerSecrecy[], { read }: Mask): Piece[] {
	const open = new Set(question.openItems);
	const filled = question.items
		.map((item, position) => ({ ...item, position }))
		.filter(({ position }) => !open.has(position));
	const shown = filled.slice(0, MOST_FILLED).flatMap(({ title, value, position }) => {
		const secret = isSecretValue(secrecy, question, position);
		return answeredItem(
			{ title: read(title), value: value === '' ? null : read(value), secret, withheld: false },
			position,
		);
	});
	return [...shown, ...line(andMoreWords(filled.length - MOST_FILLED))];
}

const MOST_FILLED = 9;

interface Holding {
	readonly handOver: HandOver | null;
	/** Slack user id of the reader, who may be the holder; null: a channel. */
	readonly reader?: string | null;
}

/** `Grace has it (from Ada)`; empty for nobody. Mentions nobody. */
export function handOverLine({ handOver, reader = null }: Holding, names: Names): string {
	if (handOver === null) return '';
	const { from, to } = handOver;
	return `${to === reader ? 'You have' : `${personName(to, names)} has`} it (from ${personName(from, names)})`;
}

/** `Ada is answering. The first answer counts.`; empty when nobody is. */
export function claimsWords(userIds: readonly string[]): Words {
	if (userIds.length === 0) return '';
	const people = userIds.slice(0, 3).map(mentionOf);
	if (userIds.length > 3) people.push(`${userIds.length - 3} more`);
	return rich`${listed(...people)} ${userIds.length === 1 ? 'is' : 'are'} answering. The first answer counts.`;
}

/** UTF-16 units that phones show of a notification. */
const TEXT_LENGTH = 250;
const NAME_LENGTH = 60;
const PART_LENGTH = 1_000;
/** UTF-16 units of each item when there are several. */
const SHORT_PART_LENGTH = 80;

/**
 * A question in a line of about 300 UTF-16 units, for notifications and screen readers. It begins with our words, never
 * with an agent's. Of a secret, or if `discreet`, it says only that an agent asks.
 */
export function questionText(shown: ShownQuestion): string {
	const { question, sessionName, changed = false } = shown;
	const asks = 'An agent asks';
	const told = toldWords(shown);
	if (told === null) return `${asks} for an answer.`;
	const about = oneLine(sessionName, NAME_LENGTH);
	const end = about === '' ? '' : ` (${about})`;
	const several = question.openCount > 1 ? `${asks} ${counted(question.openCount, 'question')}` : null;
	const opening = changed ? 'An agent asks something else now' : several;
	const text = told === '' ? (opening ?? `${asks} for an answer`) : `${opening ?? asks}: ${told}`;
	return cutText(text.replace(/\s+/g, ' '), TEXT_LENGTH) + end;
}

interface ShownQuestion {
	readonly question: Pick<QuestionSnapshot, 'context' | 'items' | 'openCount'>;
	readonly sessionName: string;
	readonly discreet: boolean;
	/** The message asked something else before. */
	readonly changed?: boolean;
}

/** What `questionText` says of the question; null when nothing of it may be told. Secrets are known from the read. */
export function toldWords({ question, discreet }: Pick<ShownQuestion, 'question' | 'discreet'>): string | null {
	const open = question.items.filter((item) => item.open);
	if (discreet || open.some((item) => item.secret)) return null;
	const asked = question.openCount > 1 ? severalItems(open, question.openCount) : oneItem(open[0]);
	if (asked !== '') return asked;
	// The items are blank, so the text above them is used, unless an item is secret: then it may ask for that.
	const isTold = open.length > 0 && !question.items.some((item) => item.secret);
	return isTold ? oneLine(question.context, PART_LENGTH) : '';
}

/** Labels of buttons with what is asked and the session's name, or the name alone if the question may not be told. */
export function labelAboutQuestion(question: QuestionSnapshot, { sessionId, sessionName, discreet }: Showing) {
	const name = spokenName(sessionId, sessionName);
	if (!toldWords({ question, discreet })) return labelAbout(name);
	const open = question.items.flatMap((item) => (item.open ? [item.title, item.description] : []));
	const asked = [...open, question.context].map((text) => oneLine(text, 45)).find((text) => text !== '');
	const more = andMoreWords(question.openCount - 1);
	return labelAbout(sentences(asked ?? '', more === '' ? '' : `${more},`, name));
}

function severalItems(open: readonly ItemSnapshot[], openCount: number): string {
	const parts = open
		.map(({ title, description }) => oneLine(title, SHORT_PART_LENGTH) || oneLine(description, SHORT_PART_LENGTH))
		.map((part) => part.replace(/(?<![\s.:;,])[\s.:;,]+$/, ''))
		.filter((part) => part !== '');
	return parts.length > 0 && openCount > parts.length ? `${parts.join('; ')}; …` : parts.join('; ');
}

/** `Title: description`; a title that ends with punctuation needs no colon. */
function oneItem(item: ItemSnapshot | undefined): string {
	const title = oneLine(item?.title ?? '', PART_LENGTH);
	const description = oneLine(item?.description ?? '', PART_LENGTH);
	if (title === '' || description === '') return title + description;
	if (description.startsWith(title) && !/^[\p{L}\p{N}]/u.test(description.slice(title.length))) return description;
	return /[.!?…:;,。！？：]$/.test(title) ? `${title} ${description}` : `${title}: ${description}`;
}
