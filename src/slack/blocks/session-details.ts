import type { KnownBlock } from '@slack/types';
import { asks } from '../../questions/open-question.ts';
import { type HistoryEntry, latestHistory, resultOf, taskOf } from '../../questions/progress.ts';
import type { Session } from '../../questions/session.ts';
import { ACTIONS } from '../ids.ts';
import type { Links } from '../links.ts';
import { plain, quotedMarkdown, quotedNameMrkdwn } from '../text.ts';
import { NO_ROOM_FOR_STEPS } from '../words/form.ts';
import {
	actionsLine,
	andMoreWords,
	joined,
	questionCountWords,
	refusedScreenshotWords,
	SCREENSHOT_TEXT,
	SCREENSHOT_TITLE,
} from '../words/sessions.ts';
import { fileBlocks, hostWords } from './links.ts';
import { button, buttons, context, divider, section } from './parts.ts';

const MOST_FILES = 8;
const MOST_VARIABLES = 20;
const STEP_TEXT = 1200;

/** Result, task, files, screenshot and the names of the variables, as far as the session has them. */
export function sessionDetails(session: Session, links: Links, withoutImages: boolean): KnownBlock[] {
	const { files } = session;
	const blocks = [
		...titled("The agent's result", quotedMarkdown(resultOf(session) ?? '', 2900)),
		...titled('Task', quotedMarkdown(taskOf(session) ?? '', 1500)),
		...titled('About this session', quotedMarkdown(session.sessionDetails, 1000)),
		...(files.length === 0 ? [] : [...section('*Files*'), ...fileBlocks(files, { most: MOST_FILES, links })]),
		...(withoutImages ? [] : screenshot(session, links)),
		...variables(session),
	];
	return blocks.length === 0 ? [] : [divider(), ...blocks];
}

function titled(title: string, text: string): KnownBlock[] {
	return text === '' ? [] : section(`*${title}*\n${text}`);
}

function screenshot({ lastScreenshotUrl }: Session, links: Links): KnownBlock[] {
	const link = links(lastScreenshotUrl);
	if (link.kind === 'none') return [];
	if (link.kind === 'refused') return context(refusedScreenshotWords(link.why));
	const title = plain(SCREENSHOT_TITLE, 100);
	return [{ type: 'image', image_url: link.url, alt_text: SCREENSHOT_TEXT, title }, ...context(hostWords(link.host))];
}

/** Names only: values are often passwords. */
function variables({ sessionVariables }: Session): KnownBlock[] {
	if (sessionVariables.length === 0) return [];
	const names = sessionVariables
		.slice(0, MOST_VARIABLES)
		.map(({ name }) => quotedNameMrkdwn(name, 60) || '(no name)')
		.join(', ');
	const more = andMoreWords(sessionVariables.length - MOST_VARIABLES);
	return context(`Variables: ${`${names} ${more}`.trim()}. Their values are hidden.`);
}

export interface StepCards {
	/** The page that is shown: the one asked for, or the last. */
	readonly page: number;
	readonly cards: readonly KnownBlock[];
	readonly navigation: readonly KnownBlock[];
}

/** The messages of one page, newest first: the text and a line of actions. */
export function stepCards(
	session: Session,
	{ page: wantedPage, perPage, asking }: { page: number; perPage: number; asking: number | null },
): StepCards {
	const task = session.messages.findIndex((message) => message.role === 'user');
	const total = session.messages.length - (task === -1 ? 0 : 1);
	if (total === 0) return { page: 0, cards: [], navigation: [] };
	if (perPage === 0) return { page: 0, cards: [], navigation: context(NO_ROOM_FOR_STEPS) };
	const lastPage = Math.ceil(total / perPage) - 1;
	const page = Math.min(wantedPage, lastPage);
	const cards = latestHistory(session, perPage, page * perPage).flatMap((entry, index) => [
		divider(),
		...(index === 0 ? section('*The agent says*') : []),
		...stepCard(entry, entry.messageIndex === asking),
	]);
	const navigation = buttons(
		page > 0 ? button(ACTIONS.newer, 'Newer steps', { value: String(page - 1) }) : null,
		page < lastPage ? button(ACTIONS.older, 'Older steps', { value: String(page + 1) }) : null,
	);
	return { page, cards, navigation };
}

/** `asksAbove`: the form shows the message's text. */
function stepCard({ step, message }: HistoryEntry, asksAbove: boolean): KnownBlock[] {
	const text = asksAbove ? '' : quotedMarkdown(message.content, STEP_TEXT);
	const who = step === null ? roleWords(message.role) : `Step ${step}`;
	const actions = actionsLine(message.actions);
	const count = message.humanInput.length;
	const note = asksAbove
		? 'asks the question above'
		: asks(message)
			? `asked ${count === 1 ? 'a question' : questionCountWords(count)}`
			: text === '' && actions === ''
				? 'said nothing'
				: '';
	const namesSpeaker = step === null && text !== '';
	return [
		...section(namesSpeaker ? `${who} says\n${text}` : text),
		...context(joined(namesSpeaker ? '' : who, actions, note)),
	];
}

function roleWords(role: string): string {
	return role === 'user' ? 'A person' : quotedNameMrkdwn(role, 60) || 'Somebody';
}
