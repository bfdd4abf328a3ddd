import type { KnownBlock, ModalView } from '@slack/types';
import { askingMessageIndex, questionAt } from '../../questions/open-question.ts';
import { isWaiting } from '../../questions/status.ts';
import { buildForm, type Form } from '../form.ts';
import { ACTIONS, CALLBACKS, encodeTarget } from '../ids.ts';
import { quotedMarkdown } from '../text.ts';
import { durationText, statusWords, viewTitle, waitingWords } from '../words.ts';
import { button, buttons, context, dashboardLink, MODAL_BLOCKS, MODAL_BYTES, modal, section } from './parts.ts';
import { sessionDetails } from './session-details.ts';
import { sessionHeadline } from './session-headline.ts';
import type { SessionModel } from './session-model.ts';
import { noticeBlocks } from './session-notices.ts';
import { stepCards } from './step-cards.ts';

/** What was read this recently counts as fresh. */
const freshMs = 20_000;
/** Steps on a page, as long as the form leaves room. */
const stepsPerPage = 5;
const blocksPerStep = 3;
/** What stands around form and cards at most. */
const fixedBlocks = 14;

/**
 * The session as a modal: status, notices, the open question with its fields first, then the latest steps, the task, the
 * result, files, screenshot. Has Submit only when there are fields. The metadata inside says how to read the form back.
 */
export function sessionModal(model: SessionModel): ModalView {
	const { question, readAt } = model;
	const { sessionId } = model.metadata;
	const { draft, metadata: before } = model;
	const secret = model.secret === undefined ? {} : { secret: model.secret };
	const form = question === null ? null : buildForm({ sessionId, question, metadata: before, draft, ...secret });
	const fields = form?.kind === 'fields' ? form : null;
	const steps = stepCards(model, cardsBeside(fields?.blocks.length ?? 0));
	const metadata = {
		...(fields?.metadata ?? {
			...model.metadata,
			messageIndex: question?.messageIndex ?? null,
			fingerprint: question?.fingerprint ?? null,
			fields: [],
			offered: [],
			asText: [],
			secret: [],
			boxed: false,
			optionTexts: {},
			shown: null,
		}),
		page: steps.page,
		readAt,
	};
	const first = [
		...sessionHeadline(model.session, model.now),
		...noticeBlocks(model),
		...(question === null ? nothingOpen(model) : questionBlocks(model, form)),
	];
	const last = [...steps.navigation, ...footer(model)];
	const optional = [...steps.cards, ...(steps.page === 0 ? sessionDetails(model) : [])];
	return modal({
		callbackId: CALLBACKS.session,
		title: viewTitle(sessionId),
		metadata,
		blocks: fitBlocks(first, optional, last),
		...(fields === null ? {} : { submit: 'Send answer', close: 'Cancel', notifyOnClose: true }),
	});
}

function questionBlocks(model: SessionModel, form: Form | null): KnownBlock[] {
	const { question, metadata } = model;
	const blocks = section(`*The agent asks*\n${quotedMarkdown(question?.context ?? '', 2900)}`.trim());
	if (form?.kind === 'tooMany') {
		const count = form.count.toLocaleString('en-US');
		return [
			...blocks,
			...section(`📋 It asks ${count} things at once, more than Slack can show in one form. ${elsewhere(model)}`),
		];
	}
	if (form?.kind === 'tooLarge') {
		const text = `📋 The question itself is so long that the session service would not take an answer from here. ${elsewhere(model)}`;
		return [...blocks, ...section(text)];
	}
	if (form === null) return blocks;
	return [
		...blocks,
		...form.blocks,
		...buttons(
			metadata.partial
				? button(ACTIONS.complete, 'I can answer all of it')
				: button(ACTIONS.partial, "I can't answer all of it"),
			metadata.plainText
				? button(ACTIONS.guessed, 'Fitting fields')
				: form.blocks.some(isGuessed)
					? button(ACTIONS.plainText, 'Plain text fields')
					: null,
		),
		...context(metadata.partial ? 'Fields may stay empty. The agent gets them as empty answers.' : ''),
	];
}

/** Whether plain text would be another field than this one. */
function isGuessed(block: KnownBlock): boolean {
	if (block.type !== 'input' || block.element.action_id === ACTIONS.secret) return false;
	return block.element.type !== 'plain_text_input' || block.element.multiline !== true;
}

function elsewhere(model: SessionModel): string {
	return dashboardLink(model.dashboardUrl, model.metadata.sessionId) === null
		? "Please answer it in the session service's own page."
		: 'Please answer it in the dashboard: the button is below.';
}

function nothingOpen({ session, settledBy = null, names }: SessionModel): KnownBlock[] {
	if (!isWaiting(session.status)) return section(statusWords(session.status).meaning);
	const newest = askingMessageIndex(session);
	return section(waitingWords(newest === null ? null : questionAt(session, newest), settledBy, names));
}

function footer(model: SessionModel): KnownBlock[] {
	const { metadata, watch, readAt, now } = model;
	const url = dashboardLink(model.dashboardUrl, metadata.sessionId);
	return [
		...buttons(
			button(ACTIONS.refresh, 'Refresh'),
			watch === null
				? null
				: button(watch.watching ? ACTIONS.unwatch : ACTIONS.watch, watch.label, {
						value: encodeTarget({ sessionId: metadata.sessionId, messageIndex: null }),
					}),
			url === null ? null : button(ACTIONS.dashboard, 'Open in the dashboard', { url }),
		),
		...context(now - readAt < freshMs ? '' : `Read ${durationText(now - readAt)} ago.`),
	];
}

/** How many cards fit beside a form of so many blocks. */
function cardsBeside(formBlocks: number): number {
	const room = MODAL_BLOCKS - fixedBlocks - formBlocks;
	return Math.max(0, Math.min(stepsPerPage, Math.floor(room / blocksPerStep)));
}

/** What has to be there, with as much of the rest as a view may hold. */
function fitBlocks(
	first: readonly KnownBlock[],
	optional: readonly KnownBlock[],
	last: readonly KnownBlock[],
): KnownBlock[] {
	const size = (blocks: readonly KnownBlock[]) => Buffer.byteLength(JSON.stringify(blocks));
	let bytes = size(first) + size(last) + 4000;
	let room = MODAL_BLOCKS - first.length - last.length;
	const middle: KnownBlock[] = [];
	for (const block of optional) {
		bytes += size([block]);
		room -= 1;
		if (room < 0 || bytes > MODAL_BYTES) break;
		middle.push(block);
	}
	return [...first, ...middle, ...last];
}
