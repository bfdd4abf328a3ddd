import type { Answer } from '../domain/answer.ts';
import { titleText } from '../domain/listed-options.ts';
import { createMask, credentialsOf, type Mask, masked } from '../domain/masking.ts';
import type { AnswerSecrecy } from '../domain/secrecy.ts';
import {
	ageOf,
	askingMessageIndex,
	assistantCountOf,
	isOver,
	isWaiting,
	type Question,
	questionAt,
	type Session,
} from '../domain/session.ts';
import type { SnapshotQuestion } from '../domain/session-snapshot.ts';
import { oneLine } from '../domain/shown-text.ts';
import { createCutCheck } from '../domain/texts.ts';
import { agentText } from '../slack/agent-text.ts';
import {
	answerAgainButton,
	button,
	buttons,
	context,
	dashboardButton,
	type KnownBlock,
	type ModalView,
	modal,
	moreMenu,
	plain,
	row,
	section,
} from '../slack/blocks.ts';
import { ASKING_SLACK } from '../slack/error-view.ts';
import { buildForm, type Form, HIDES_ANSWER, HIDES_ANSWERS } from '../slack/form/build.ts';
import { ACTIONS, CALLBACKS, encodeTarget, newMetadata, type ViewMetadata } from '../slack/ids.ts';
import type { Links } from '../slack/links.ts';
import {
	agoText,
	durationText,
	mentionOf,
	momentOf,
	sessionName,
	smallId,
	statusWords,
	stillWaitingWords,
	titleLine,
	waitingWords,
} from '../slack/phrases.ts';
import { bold, joined, line, quotedText, rich, richText, sentences, type Words } from '../slack/rich-text.ts';
import { MODAL_BYTES, stateLine } from './answer.ts';
import { screenshot, sessionDetails, stepCards } from './details.ts';
import type { Notice } from './form-notices.ts';
import {
	askedItems,
	claimsWords,
	elsewhereWords,
	filledItems,
	noFormWords,
	ONLY_TEXT,
	type TextFilter,
} from './question.ts';

/** The metadata of a session's window, with its name. */
export const metadataOf = (metadata: ViewMetadata, session: Session): ViewMetadata =>
	newMetadata({
		...metadata,
		sessionId: session.sessionId,
		sessionName: masked(session.name, credentialsOf(session)).text,
	});

/**
 * Opens before the session is read; closing it stops the read. `waitedMs`: shown above 0. `isKnown`: who the person is.
 */
export function loadingModal(metadata: ViewMetadata, { waitedMs = 0, isKnown = true } = {}): ModalView {
	const waiting = waitedMs === 0 ? '' : stillWaitingWords(waitedMs);
	const checking = isKnown ? '' : ASKING_SLACK;
	return modal({
		callbackId: CALLBACKS.loading,
		title: 'Session',
		metadata,
		close: 'Cancel',
		notifyOnClose: true,
		blocks: [
			...section(rich`⏳ Looking at ${sessionName(metadata.sessionId)}…`),
			...section(checking),
			...section(waiting),
		],
	});
}

/** Slack's limit for the options of a select. */
const MOST_OPTIONS = 100;
export const WHICH_QUESTION = 'Which question does it answer?';

/** Asks which item a chosen message answers. `positions`: the items that may be filled from text. */
export function chooseItemModal(
	question: Question,
	positions: readonly number[],
	{ text, withFiles = false }: { readonly text: string; readonly withFiles?: boolean },
	metadata: ViewMetadata,
): ModalView {
	const options = positions.slice(0, MOST_OPTIONS).map((position) => ({
		value: String(position),
		text: plain(`${position + 1}. ${oneLine(masked(titleText(question.items[position]?.title ?? '')).text, 60)}`, 75),
	}));
	return modal({
		callbackId: CALLBACKS.chooseItem,
		title: 'Answer',
		metadata,
		blocks: [
			...richText(...line(bold('Your message')), ...quotedText(text, 1_500)),
			...section(withFiles ? ONLY_TEXT : ''),
			...section(bold(WHICH_QUESTION)),
			...buttons({
				type: 'static_select',
				action_id: ACTIONS.chooseItem,
				placeholder: plain('Choose a question', 150),
				options,
			}),
		],
	});
}

/** Slack's limit for a view. */
const MODAL_BLOCKS = 100;
/** Steps on a page, if the form leaves room. */
const STEPS_PER_PAGE = 5;
const BLOCKS_PER_STEP = 3;
/** The most blocks around the form and the cards. */
const FIXED_BLOCKS = 14;

/** All times are milliseconds since the epoch. */
export interface SessionModel {
	readonly session: Session;
	readonly readAt: number;
	/** The session cannot be read: `session` is what is stored of it. Null or left out: it was read. */
	readonly stored?: Pick<SnapshotQuestion, 'step' | 'hides'> | null;
	/** See `arrivalSeen` of an answer. */
	readonly arrival?: number | null;
	readonly question: Question | null;
	/** If nothing is open: the answer that settled the newest question. */
	readonly settledBy?: (Pick<Answer, 'person' | 'acceptedAt'> & Parameters<typeof stateLine>[0]) | null;
	/** If nothing is open: words that a field of the newest question lost its value; else empty. */
	readonly emptied?: string;
	/** Metadata of the view as it is (`newMetadata` at first), with the `page`, `partial` and `plainText` to show. */
	readonly metadata: ViewMetadata;
	/** Values by position to fill the fields with: a draft, typed text, a chosen message. */
	readonly draft: Readonly<Record<number, string>>;
	/** Positions whose box is ticked; if left out, those that look secret. */
	readonly secret?: readonly number[];
	/** From our answers in this session: which values of filled items are secret. */
	readonly secrecy?: readonly AnswerSecrecy[];
	readonly notices: readonly Notice[];
	/** Ids of the other people who have the question in a form now. */
	readonly claims: readonly string[];
	readonly now: number;
	readonly dashboardUrl: string | null;
	readonly links: Links;
	readonly offersWatch: boolean;
	/** Why the person may not answer, and whom to ask. Null: they may. */
	readonly refused?: Words | null;
	readonly withoutImages?: boolean;
}

/** The session as a modal, with Submit only when there are fields. Its metadata says how to read the form back. */
export function sessionModal(model: SessionModel): ModalView {
	const mask = createMask(model.metadata.showsHidden && model.refused == null, credentialsOf(model.session));
	const { question, readAt, arrival = null } = model;
	const filter = { cut: createCutCheck(false), mask };
	const form = question && formOf(model, question, filter);
	const fields = form?.kind === 'fields' ? form : null;
	const room = MODAL_BLOCKS - FIXED_BLOCKS - (fields?.blocks.length ?? 0);
	const steps = stepCards(model.session, {
		page: model.metadata.page,
		perPage: Math.max(0, Math.min(STEPS_PER_PAGE, Math.floor(room / BLOCKS_PER_STEP))),
		asking: question?.messageIndex ?? null,
		mask,
	});
	const metadata = {
		...(fields?.metadata ?? {
			...model.metadata,
			messageIndex: question?.messageIndex ?? null,
			fingerprint: question?.fingerprint ?? null,
			fields: [],
			offered: [],
			shown: null,
		}),
		page: steps.page,
		readAt,
		arrival,
	};
	const asked = question === null || form === null ? nothingOpen(model) : questionBlocks(model, question, form, filter);
	const hasDashboardAbove = form !== null && form.kind !== 'refused' && (fields === null || filter.cut.isCut);
	const details = sessionDetails(model.session, model.links, mask);
	const { above, below } = steps.page === 0 ? details : { above: [], below: [] };
	// With a question, the screenshot stands below what the agent says.
	const picture = question === null ? pictureOrLink(model) : [];
	const name = mask.read(model.session.name);
	return modal({
		callbackId: CALLBACKS.session,
		title: question === null ? 'Session' : 'Answer',
		metadata,
		blocks: fitBlocks(
			[...section(headline(model, name)), ...noticeBlocks(model, mask), ...asked],
			[...above, ...steps.cards, ...below, ...(steps.page === 0 ? picture : [])],
			[...steps.navigation, ...footer(model, hasDashboardAbove)],
		),
		...(fields === null ? {} : { submit: 'Send answer', close: 'Cancel', notifyOnClose: true }),
	});
}

function formOf(model: SessionModel, question: Question, { cut, mask }: TextFilter): Form {
	const { refused = null, metadata, draft, secret } = model;
	if (refused !== null) return { kind: 'refused', why: refused };
	const elsewhere = elsewhereWords(dashboardOf(model) !== null);
	return buildForm(question, metadata, draft, { secret, onCut: cut.onCut, mask, elsewhere });
}

function headline({ session, stored, metadata: { sessionId }, now }: SessionModel, name: string): Words {
	const age = isOver(session.status) ? ageOf(session, now) : null;
	const took = age === null || age < 10_000 ? '' : `took ${durationText(age)}`;
	return joined(titleLine({ ...session, name, step: stored?.step ?? assistantCountOf(session), sessionId }), took);
}

const MOST_NOTICES = 6;

/** What is hidden, with *Show*; the notices; and who is answering. */
function noticeBlocks(model: SessionModel, { hides }: Mask): KnownBlock[] {
	const { question, refused = null } = model;
	const notices = model.notices.slice(0, MOST_NOTICES).flat();
	if (question?.goneOn === true && !isWaiting(model.session.status)) notices.push(...line(GONE_ON));
	if (question !== null && model.session.status === 'paused')
		notices.push(
			...line('⏸️ The session is paused. Your answer is saved in it, and the agent reads it when somebody resumes it.'),
		);
	if (model.withoutImages === true) notices.push(...line(WITHOUT_SCREENSHOT));
	const isHidden = hides || model.stored?.hides === true;
	return [
		...(isHidden ? row(HIDES, hides && refused === null ? button(ACTIONS.showHidden, 'Show') : null) : []),
		...richText(...notices),
		...context(question === null ? '' : claimsWords(model.claims)),
	];
}

/** The latest screenshot as a link that people get; null without one. */
function pictureOf({ session, links }: SessionModel) {
	const link = links(session.lastScreenshotUrl);
	return link.kind === 'link' ? link : null;
}

const pictureBlocks = ({ session, links, withoutImages }: SessionModel) =>
	withoutImages === true ? [] : screenshot(session, links);

/** A form of more blocks has no screenshot above it: a view holds 100 blocks. */
const MOST_BELOW_PICTURE = 60;

/** The screenshot, or a button with its link for views without a menu. */
function pictureOrLink(model: SessionModel): KnownBlock[] {
	const link = model.withoutImages === true ? pictureOf(model) : null;
	return link === null ? pictureBlocks(model) : buttons(pictureButton(link.url));
}

const pictureButton = (url: string) => button(ACTIONS.openScreenshot, 'Open the screenshot', { url });

function questionBlocks(model: SessionModel, question: Question, form: Form, filter: TextFilter): KnownBlock[] {
	const { metadata } = model;
	const { cut, mask } = filter;
	const said = agentText(mask.read(question.context), 2900, cut.onCut);
	const filled = filledItems(question, model.secrecy ?? [], mask);
	const hasRoom = form.kind !== 'fields' || form.blocks.length <= MOST_BELOW_PICTURE;
	const blocks = [...richText(...said, ...filled), ...(hasRoom ? pictureBlocks(model) : [])];
	const dashboard = dashboardOf(model);
	const hasDashboard = dashboard !== null;
	if (form.kind === 'refused') return [...blocks, ...richText(...askedItems(question, filter)), ...section(form.why)];
	if (form.kind !== 'fields') return [...blocks, ...section(noFormWords(form, hasDashboard)), ...buttons(dashboard)];
	const menu = formMenu(model, question, form);
	const beside = cut.isCut ? dashboard : null;
	return [
		...blocks,
		...form.blocks,
		...context(cut.isCut ? cutQuestionWords(hasDashboard) : '', metadata.partial ? MAY_STAY_EMPTY : ''),
		...(menu?.type === 'overflow' && beside === null ? row('More', menu) : buttons(beside, menu)),
	];
}

/** What else people can do with a form; a lone entry is a button. */
function formMenu(model: SessionModel, { openItems }: Question, form: Extract<Form, { kind: 'fields' }>) {
	const { partial, plainText } = model.metadata;
	const skip = openItems.length > 1 ? button(ACTIONS.partial, 'Skip some questions') : null;
	const typeFreely = form.blocks.some(isGuessed) ? button(ACTIONS.plainText, 'Type freely') : null;
	const hide = button(ACTIONS.keepSecret, openItems.length === 1 ? HIDES_ANSWER : HIDES_ANSWERS);
	const picture = pictureOf(model);
	const [menu = null] = moreMenu(
		partial ? button(ACTIONS.complete, 'Answer all') : skip,
		plainText ? button(ACTIONS.guessed, 'Suggested fields') : typeFreely,
		form.metadata.boxed ? null : hide,
		picture === null ? null : pictureButton(picture.url),
	);
	return menu;
}

const dashboardOf = ({ dashboardUrl, metadata }: SessionModel) =>
	dashboardButton(dashboardUrl, metadata.sessionId, 'Open in the dashboard');

/** Whether *Type freely* would change this field. */
function isGuessed(block: KnownBlock): boolean {
	if (block.type !== 'input' || block.element.action_id === ACTIONS.secret) return false;
	return block.element.type !== 'plain_text_input' || block.element.multiline !== true;
}

function nothingOpen(model: SessionModel): KnownBlock[] {
	const { session, settledBy = null, emptied = '' } = model;
	const newest = askingMessageIndex(session);
	const question = newest === null ? null : questionAt(session, newest);
	const { sessionId } = model.metadata;
	const isOffered = question !== null && offersAgain(model, question);
	const again = buttons(isOffered ? answerAgainButton({ sessionId, fingerprint: question.fingerprint }) : null);
	// Only an answer whose value is gone needs words for what became of it.
	const became = settledBy !== null && emptied !== '' ? `${stateLine(settledBy)}.` : '';
	const state = sentences(became, emptied);
	if (isWaiting(session.status))
		return [...section(waitingWords(question, settledBy, state === '' ? undefined : state)), ...again];
	const who = settledBy === null ? '' : mentionOf(settledBy.person.userId);
	const by = settledBy && rich`${who} answered its newest question: ${momentOf(settledBy.acceptedAt)}`;
	const { meaning } = statusWords(session.status);
	return [...section(sentences(meaning, state === '' ? '' : `${state}.`, by ?? '')), ...again];
}

/** Whether the newest question has an empty field that the person may answer again. */
function offersAgain({ session, refused = null }: SessionModel, newest: Question): boolean {
	return refused === null && !isOver(session.status) && newest.items.some(({ value }) => value === '');
}

function footer(model: SessionModel, hasDashboardAbove: boolean): KnownBlock[] {
	const { metadata, offersWatch, readAt, now } = model;
	// A notice says when a stored question was read.
	const isNew = model.stored != null || now - readAt < 20_000;
	const value = encodeTarget({ sessionId: metadata.sessionId, messageIndex: null });
	return [
		...buttons(
			button(ACTIONS.refresh, 'Refresh'),
			offersWatch ? button(ACTIONS.watch, 'Watch in this channel', { value }) : null,
			button(ACTIONS.openHistory, 'History', { value }),
			hasDashboardAbove ? null : dashboardOf(model),
		),
		...context(joined(smallId(metadata.sessionId), isNew ? '' : `read ${agoText(readAt, now)}`)),
	];
}

/** `first`, then as many blocks of `optional` as a view holds, then `last`. */
function fitBlocks(first: KnownBlock[], optional: readonly KnownBlock[], last: KnownBlock[]): KnownBlock[] {
	const size = (blocks: readonly KnownBlock[]) => Buffer.byteLength(JSON.stringify(blocks));
	let bytes = size(first) + size(last) + 4000;
	const middle: KnownBlock[] = [];
	for (const block of optional.slice(0, Math.max(0, MODAL_BLOCKS - first.length - last.length))) {
		bytes += size([block]);
		if (bytes > MODAL_BYTES) break;
		middle.push(block);
	}
	return [...first, ...middle, ...last];
}

/** Below a question that the form shows only in part. */
export function cutQuestionWords(hasDashboard: boolean): string {
	return `✂️ The text is longer than Slack can show. Read all of it ${elsewhereWords(hasDashboard)}.`;
}

/** The words beside *Show*. */
export const HIDES = '🔒 Something that looks like a password or key is hidden: ••••';

export const MAY_STAY_EMPTY = 'You can leave fields empty. The agent gets them as empty answers.';

export const GONE_ON = '👣 The agent has continued since it asked this. You can still answer, but it may not read it.';

export const WITHOUT_SCREENSHOT = '🖼️ Slack could not load the screenshot, so it is left out.';
