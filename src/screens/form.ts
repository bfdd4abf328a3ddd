import type { Answer } from '../domain/answer.ts';
import { createMask, credentialsOf, type Mask, masked } from '../domain/masking.ts';
import type { AnswerMarks } from '../domain/secrecy.ts';
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
import type { StoredQuestion } from '../domain/session-snapshot.ts';
import { createCutMark } from '../domain/texts.ts';
import { ASKING_SLACK } from '../slack/error-view.ts';
import { buildForm, type Form, HIDES_ANSWER, HIDES_ANSWERS } from '../slack/form/build.ts';
import { ACTIONS, CALLBACKS, encodeTarget, type Links, newMetadata, type ViewMetadata } from '../slack/ids.ts';
import {
	agoText,
	answerAgainButton,
	button,
	buttons,
	context,
	dashboardButton,
	durationText,
	joined,
	type KnownBlock,
	type ModalView,
	modal,
	momentMrkdwn,
	moreMenu,
	personMrkdwn,
	section,
	sentences,
	sessionName,
	smallId,
	statusWords,
	stillWaitingWords,
	titleLine,
	viewTitle,
	waitingWords,
} from '../slack/parts.ts';
import {
	isBlank,
	mrkdwn,
	plain,
	quoted,
	quotedMarkdown,
	quotedTitle,
	titleText,
	withoutListed,
} from '../slack/text.ts';
import { MODAL_BYTES, stateLine } from './answer.ts';
import { hostWords, LINKS_FOR_YOU, NOT_SHOWN, SCREENSHOT_TEXT, sessionDetails, stepCards } from './details.ts';
import {
	askedItemsWords,
	claimsWords,
	elsewhereWords,
	filledItems,
	type Marks,
	noFormWords,
	ONLY_TEXT,
	UNFOLDED,
} from './question.ts';

/** The metadata of a session's window, with its name. */
export const metadataOf = (metadata: ViewMetadata, session: Session): ViewMetadata =>
	newMetadata({
		...metadata,
		sessionId: session.sessionId,
		sessionName: masked(session.name, credentialsOf(session)).text,
	});

/** Opens before the session is read; closing it stops the read. Shows `waitedMs` above 0. */
export function loadingModal(metadata: ViewMetadata, { waitedMs = 0, isKnown = true } = {}): ModalView {
	const waiting = waitedMs === 0 ? '' : stillWaitingWords(waitedMs);
	const checking = isKnown ? '' : ASKING_SLACK;
	return modal({
		callbackId: CALLBACKS.loading,
		title: viewTitle(metadata),
		metadata,
		close: 'Cancel',
		notifyOnClose: true,
		blocks: [
			...section(`⏳ Looking at ${sessionName(metadata.sessionId)}…`),
			...section(checking),
			...section(waiting),
		],
	});
}

/** Slack's limit for a select. */
const MOST_OPTIONS = 100;
export const WHICH_QUESTION = '*Which question does it answer?*';

/** Asks which item a chosen message answers. `positions`: the items that may be filled from text. */
export function chooseItemModal(
	question: Question,
	positions: readonly number[],
	{ text, withFiles = false }: { readonly text: string; readonly withFiles?: boolean },
	metadata: ViewMetadata,
): ModalView {
	const options = positions.slice(0, MOST_OPTIONS).map((position) => ({
		value: String(position),
		text: plain(
			`${position + 1}. ${quotedTitle(masked(titleText(question.items[position]?.title ?? '')).text, 60)}`,
			75,
		),
	}));
	return modal({
		callbackId: CALLBACKS.chooseItem,
		title: viewTitle(metadata),
		metadata,
		blocks: [
			...section(`*Your message*\n${quoted(text, 1_500)}`),
			...section(withFiles ? ONLY_TEXT : ''),
			...section(WHICH_QUESTION),
			...buttons({
				type: 'static_select',
				action_id: ACTIONS.chooseItem,
				placeholder: plain('Choose a question', 150),
				options,
			}),
		],
	});
}

type Picture = Pick<SessionModel, 'session' | 'readAt' | 'metadata' | 'links' | 'now'> & { readonly since: number };

/** The latest screenshot alone. */
export function screenshotModal(
	{ session, since, readAt, metadata, links, now }: Picture,
	withoutImages: boolean,
): ModalView {
	const link = links(session.lastScreenshotUrl);
	const window = (blocks: readonly KnownBlock[]) =>
		modal({ callbackId: CALLBACKS.screenshot, title: viewTitle(metadata), metadata, blocks });
	if (link.kind !== 'link')
		return window(section(link.kind === 'none' ? 'This session has no screenshot.' : `${NOT_SHOWN} (${link.why}).`));
	const image = { type: 'image', image_url: link.url, alt_text: SCREENSHOT_TEXT } as const;
	return window([
		...(withoutImages ? section(WITHOUT_SCREENSHOT) : [image]),
		// Of the first read, nobody knows how old it is.
		...context(joined(`Step ${assistantCountOf(session)}`, since < readAt ? agoText(since, now) : '')),
		...buttons(button(ACTIONS.openScreenshot, 'Open the screenshot', { url: link.url })),
		...context(hostWords(link.host), LINKS_FOR_YOU),
	]);
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
	readonly stored?: Pick<StoredQuestion, 'step' | 'hides'> | null;
	/** See `arrivalSeen` of an answer. */
	readonly arrival?: number | null;
	readonly question: Question | null;
	/** Whose answer settled the newest question, where nothing is open. */
	readonly settledBy?: (Pick<Answer, 'person' | 'acceptedAt'> & Parameters<typeof stateLine>[0]) | null;
	/** That a field of the newest question is empty which had a value, where nothing is open; else empty. */
	readonly emptied?: string;
	/** Of the view as it is (`newMetadata` at first), with the `page`, `partial` and `plainText` to show. */
	readonly metadata: ViewMetadata;
	/** Values by position to fill the fields with: a draft, typed text, a chosen message. */
	readonly draft: Readonly<Record<number, string>>;
	/** Positions whose box is ticked; if left out, those that look secret. */
	readonly secret?: readonly number[];
	/** Of our answers in this session: which values of items that are not open are secret. */
	readonly marks?: readonly AnswerMarks[];
	readonly notices: readonly string[];
	/** Ids of the other people who have the question in a form now. */
	readonly claims: readonly string[];
	readonly now: number;
	readonly dashboardUrl: string | null;
	readonly links: Links;
	readonly offersWatch: boolean;
	/** Why the person may not answer, and whom to ask; mrkdwn. Null: they may. */
	readonly refused?: string | null;
	readonly withoutImages?: boolean;
}

/** The session as a modal, with Submit only when there are fields. Its metadata says how to read the form back. */
export function sessionModal(model: SessionModel): ModalView {
	const mask = createMask(model.metadata.showsHidden && model.refused == null, credentialsOf(model.session));
	const { question, readAt, arrival = null } = model;
	const marks = { mark: createCutMark(false), mask };
	const form = question && formOf(model, question, marks);
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
	const asked = question === null || form === null ? nothingOpen(model) : questionBlocks(model, question, form, marks);
	const hasDashboardAbove = form !== null && form.kind !== 'refused' && (fields === null || marks.mark.isCut);
	const isBeside = question !== null && pictureBeside(model, question) !== null;
	const details = sessionDetails(model.session, model.links, !isBeside && model.withoutImages !== true, mask);
	const { above, below } = steps.page === 0 ? details : { above: [], below: [] };
	const name = mask.read(model.session.name);
	return modal({
		callbackId: CALLBACKS.session,
		title: viewTitle({ sessionId: metadata.sessionId, sessionName: name }),
		metadata,
		blocks: fitBlocks(
			[...section(headline(model, name)), ...noticeBlocks(model, mask), ...asked],
			[...above, ...steps.cards, ...below],
			[...steps.navigation, ...footer(model, hasDashboardAbove)],
		),
		...(fields === null ? {} : { submit: 'Send answer', close: 'Cancel', notifyOnClose: true }),
	});
}

function formOf(model: SessionModel, question: Question, marks: Marks): Form {
	const { refused = null, metadata, draft, secret } = model;
	if (refused !== null) return { kind: 'refused', why: refused };
	const elsewhere = elsewhereWords(dashboardOf(model) !== null);
	return buildForm(question, metadata, draft, { secret, onCut: marks.mark.onCut, mask: marks.mask, elsewhere });
}

function headline({ session, stored, metadata: { sessionId }, now }: SessionModel, name: string): string {
	const age = isOver(session.status) ? ageOf(session, now) : null;
	const took = age === null || age < 10_000 ? '' : `took ${durationText(age)}`;
	return joined(titleLine({ ...session, name, step: stored?.step ?? assistantCountOf(session), sessionId }), took);
}

/** Notices and claims: at most two blocks. */
function noticeBlocks(model: SessionModel, { hides }: Mask): KnownBlock[] {
	const { question, refused = null } = model;
	const notices = model.notices.slice(0, 6);
	if (question?.goneOn === true && !isWaiting(model.session.status)) notices.push(GONE_ON);
	if (question !== null && model.session.status === 'paused')
		notices.push(
			'⏸️ The session is paused. Your answer is saved in it, and the agent reads it when somebody resumes the session.',
		);
	if (model.withoutImages === true) notices.push(WITHOUT_SCREENSHOT);
	let text = hides || model.stored?.hides === true ? HIDES : '';
	for (const line of notices) if (text.length + line.length < 2900) text += text === '' ? line : `\n${line}`;
	const show = hides && refused === null ? { accessory: button(ACTIONS.showHidden, 'Show') } : {};
	return [...section(text, show), ...context(question === null ? '' : claimsWords(model.claims))];
}

/** The latest screenshot as a link that people get; null without one. */
function pictureOf({ session, links }: SessionModel) {
	const link = links(session.lastScreenshotUrl);
	return link.kind === 'link' ? link : null;
}

/** A table or code needs the whole width: the screenshot is below then. */
function pictureBeside(model: SessionModel, { context: said }: Question) {
	return /^[^\S\n]*(?:\||```)/m.test(said) ? null : pictureOf(model);
}

function questionBlocks(model: SessionModel, question: Question, form: Form, marks: Marks): KnownBlock[] {
	const { metadata } = model;
	const fields = filledItems(question, model.marks ?? [], marks.mask).map(mrkdwn);
	const picture = pictureOf(model);
	const image = model.withoutImages === true ? null : pictureBeside(model, question);
	const alt_text = `${SCREENSHOT_TEXT}${image?.host == null ? '' : `, at ${image.host}`}`;
	// A view with the most inputs has no room for more blocks.
	const beside = {
		...(fields.length > 0 && { fields }),
		...(image !== null && { accessory: { type: 'image', image_url: image.url, alt_text } as const }),
	};
	const listed = form.kind === 'fields' ? form.listed.map(marks.mask.read) : [];
	const said = quotedMarkdown(withoutListed(marks.mask.read(question.context), listed), 2900, marks.mark.onCut);
	const hasBeside = Object.keys(beside).length > 0;
	const blocks = section(said === '' && hasBeside ? '*The agent asks*' : said, { ...UNFOLDED, ...beside });
	const dashboard = dashboardOf(model);
	const hasDashboard = dashboard !== null;
	if (form.kind === 'refused') return [...blocks, ...section(askedItemsWords(question, marks)), ...section(form.why)];
	if (form.kind !== 'fields') return [...blocks, ...section(noFormWords(form, hasDashboard)), ...buttons(dashboard)];
	const [menu = null] = moreMenu(
		metadata.partial
			? button(ACTIONS.complete, 'Answer all')
			: question.openItems.length > 1
				? button(ACTIONS.partial, 'Skip some questions')
				: null,
		metadata.plainText
			? button(ACTIONS.guessed, 'Suggested fields')
			: form.blocks.some(isGuessed)
				? button(ACTIONS.plainText, 'Type freely')
				: null,
		form.metadata.boxed
			? null
			: button(ACTIONS.keepSecret, question.openItems.length === 1 ? HIDES_ANSWER : HIDES_ANSWERS),
		picture === null ? null : button(ACTIONS.openScreenshot, 'Open the screenshot', { url: picture.url }),
	);
	return [
		...blocks,
		...form.blocks,
		...context(marks.mark.isCut ? cutQuestionWords(hasDashboard) : '', metadata.partial ? MAY_STAY_EMPTY : ''),
		...(menu?.type === 'overflow' && !(marks.mark.isCut && hasDashboard)
			? section('More', { accessory: menu })
			: buttons(marks.mark.isCut ? dashboard : null, menu)),
	];
}

const dashboardOf = ({ dashboardUrl, metadata }: SessionModel) =>
	dashboardButton(dashboardUrl, metadata.sessionId, 'Open in the dashboard');

/** Whether this field changes when every field becomes plain text. */
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
	// What became of an answer that does not stand there.
	const became = settledBy !== null && emptied !== '' ? `${stateLine(settledBy)}.` : '';
	const state = sentences(became, emptied);
	if (isWaiting(session.status))
		return [...section(waitingWords(question, settledBy, state === '' ? undefined : state)), ...again];
	const who = settledBy === null ? '' : personMrkdwn(settledBy.person.userId);
	const by = settledBy && `${who} answered its newest question: ${momentMrkdwn(settledBy.acceptedAt)}`;
	const { meaning } = statusWords(session.status);
	return [...section(sentences(meaning, state === '' ? '' : `${state}.`, by ?? '')), ...again];
}

/** Whether a field of the newest question is empty that somebody may answer. */
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
			button(ACTIONS.showAnswers, 'History', { value }),
			hasDashboardAbove ? null : dashboardOf(model),
		),
		...context(joined(smallId(metadata.sessionId), isNew ? '' : `read ${agoText(readAt, now)}`)),
	];
}

/** `first`, as many blocks of `optional` as a view may hold, and `last`. */
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

/** Below a question of which the form shows only the beginning. */
export function cutQuestionWords(hasDashboard: boolean): string {
	return `✂️ The text is longer than Slack can show. Read all of it ${elsewhereWords(hasDashboard)}.`;
}

/** Beside *Show*. */
export const HIDES = '🔒 Something that looks like a password or key is hidden: ••••';

export const MAY_STAY_EMPTY = 'You can leave fields empty. The agent gets them as empty answers.';

export const GONE_ON = '👣 The agent has continued since it asked this. You can still answer, but it may not read it.';

export const WITHOUT_SCREENSHOT = '🖼️ Slack could not load the screenshot, so it is left out.';

/** By position, as others read them; null for secret ones. */
type ShownValues = readonly (string | null)[];

function withValues(words: string, values: ShownValues): string {
	const texts = values
		.slice(0, 3)
		.map((value) => (value === null ? '> (hidden)' : isBlank(value) ? '' : quoted(value, 300)));
	return [words, ...texts].filter((line) => line !== '').join('\n');
}

const whose = (userId: string | null) => (userId === null ? 'Your' : `${personMrkdwn(userId)}'s`);

/** Notes above the question, in mrkdwn. Times are milliseconds since the epoch. */
export const NOTICES = {
	/** The form showed another question before; `carried`: typed text was kept where it fits. */
	questionChanged: (carried: boolean) =>
		carried
			? '✏️ The question has changed. This is the new one, with your text where it fits. Please check it.'
			: '✏️ The question has changed. This is the new one.',
	/** `userId`: null for somebody outside Slack. */
	answeredMeanwhile(userId: string | null, values: ShownValues, at: number | null, now: number) {
		const who = userId === null ? 'somebody outside Slack' : personMrkdwn(userId);
		const when = at === null ? '' : `, ${agoText(at, now)}`;
		return withValues(`🔀 Answered meanwhile by ${who}${when}.`, values);
	},
	/** Another person's, which is not sent any more. */
	mayHaveArrived: (userId: string, values: ShownValues) =>
		withValues(`⚠️ ${whose(userId)} answer may have arrived:`, values),
	draftRestored: (at: number) => `📝 Your text is back in the fields, from ${momentMrkdwn(at)}`,
	/** The texts were typed for a question that is not open. */
	draftLeft(values: SessionModel['draft']): string[] {
		const text = Object.values(values).join('\n');
		return isBlank(text) ? [] : [`📝 That question is closed. Your draft was not sent:\n${quoted(text, 1_500)}`];
	},
	prefilled: (what: 'earlier answer' | 'message') => `📝 Your ${what} is filled in below. Check it, then send.`,
	nothingOpen: '📝 No question is open here, so the message you chose was not used.',
	onlySecrets: '🔒 This may ask for a password or code. Handraise never takes those from a message. Type it here.',
	stillWaiting: (waitedMs: number) => `⏳ ${stillWaitingWords(waitedMs)}`,
	readAgain: '🔄 The session was read again. Steps may have moved to other pages.',
	/** The read failed, as `words` say, so the view shows an earlier one. */
	stale: (words: string, readAt: number, now: number) =>
		`⚠️ ${words} You see the session as it was ${agoText(readAt, now)}.`,
	/** The session cannot be read, as `words` say, so the view shows the question that is stored. The date comes last. */
	stored: (words: string, readAt: number) =>
		`⚠️ ${words} You can answer: your answer will be saved, and sent when the service is back, if the agent still ` +
		`asks this. Steps, files and screenshot are not shown. The question was last read ${momentMrkdwn(readAt)}`,
	/** `userId`: null for the person's own answer. */
	lost: (userId: string | null, values: ShownValues) =>
		withValues(`⚠️ Asked again. ${whose(userId)} answer is not in the field any more.`, values),
	lostElsewhere: '⚠️ Asked again. The answer from the dashboard is not in the field any more.',
	/** The line of *Answer again…*; `emptied`: that the field is empty. */
	emptied: (userId: string, values: ShownValues, emptied: string) =>
		withValues(`📝 ${emptied}. ${personMrkdwn(userId)} answered:`, values),
	emptiedElsewhere: (emptied: string) => `📝 ${emptied}. It was answered in the dashboard.`,
	/** *Answer again…* finds no empty field. `isOther`: of another question than the one beside it. */
	standsThere: (values: ShownValues, isOther: boolean) =>
		withValues(
			isOther
				? '✏️ The agent has asked another question since. It is answered, so nothing can be sent:'
				: '📝 Each field has an answer, so nothing can be sent:',
			values,
		),
	/** *Answer again…* while an answer is on its way. `userId`: null for the person's own. */
	underWay: (userId: string | null) =>
		`⏳ ${whose(userId)} answer is being sent. You can answer again once it is delivered.`,
	/** The person's own answer, which is being delivered or waits. */
	ownAnswer(answer: Parameters<typeof stateLine>[0] & Pick<Answer, 'acceptedAt'>) {
		const replaces = answer.state === 'waiting' ? '. Sending another one replaces it' : '';
		return joined(`${stateLine(answer, 'author')}${replaces}`, `your answer of ${momentMrkdwn(answer.acceptedAt)}`);
	},
} as const;
