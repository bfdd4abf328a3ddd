import { createMask, credentialsOf, type Mask } from '../domain/masking.ts';
import { asks, latestHistory, resultOf, type Session, taskOf } from '../domain/session.ts';
import { ACTIONS, type Links } from '../slack/ids.ts';
import {
	actionsLine,
	andMoreWords,
	button,
	buttons,
	context,
	counted,
	divider,
	joined,
	type KnownBlock,
	type MessageContent,
	message,
	saying,
	section,
	sentences,
	textMessage,
} from '../slack/parts.ts';
import { plain, quotedMarkdown, quotedNameMrkdwn } from '../slack/text.ts';

const MOST_FILES = 8;
/** Characters of a file's name that are read to show fewer of them. */
const MOST_OF_NAME = 1_000;
const MOST_VARIABLES = 20;
const STEP_TEXT = 1200;

/** As far as the session has them: task and result (`above` the steps), files, screenshot, the names of variables. */
export function sessionDetails(session: Session, links: Links, withScreenshot: boolean, { read }: Mask) {
	const { files } = session;
	const above = [
		...titled('Task', quotedMarkdown(read(taskOf(session) ?? ''), 1500)),
		...titled("The agent's result", quotedMarkdown(read(resultOf(session) ?? ''), 2_900)),
	];
	const below = [
		...titled('About', quotedMarkdown(read(session.sessionDetails), 1000)),
		...(files.length === 0 ? [] : [...section('*Files*'), ...fileBlocks(files, MOST_FILES, { links, read })]),
		...(withScreenshot ? screenshot(session, links) : []),
		...variables(session),
	];
	return { above: divided(above), below: divided(below) };
}

const divided = (blocks: readonly KnownBlock[]): KnownBlock[] => (blocks.length === 0 ? [] : [divider(), ...blocks]);

const titled = (title: string, text: string): KnownBlock[] => (text === '' ? [] : section(`*${title}*\n${text}`));

function screenshot({ lastScreenshotUrl }: Session, links: Links): KnownBlock[] {
	const link = links(lastScreenshotUrl);
	if (link.kind === 'none') return [];
	if (link.kind === 'refused') return context(`${NOT_SHOWN} (${link.why})`);
	const title = plain('Latest screenshot', 100);
	return [{ type: 'image', image_url: link.url, alt_text: SCREENSHOT_TEXT, title }, ...context(hostWords(link.host))];
}

function variables({ sessionVariables }: Session): KnownBlock[] {
	if (sessionVariables.length === 0) return [];
	const names = sessionVariables
		.slice(0, MOST_VARIABLES)
		.map((name) => quotedNameMrkdwn(name, 60) || '(no name)')
		.join(', ');
	const more = andMoreWords(sessionVariables.length - MOST_VARIABLES);
	return context(`Variables (values hidden): ${sentences(names, more)}`);
}

/** The messages of one page, newest first: the text and a line of actions. `page`: the one asked for, or the last. */
export function stepCards(
	session: Session,
	{ page: wantedPage, perPage, asking, mask }: { page: number; perPage: number; asking: number | null; mask: Mask },
): { readonly page: number; readonly cards: readonly KnownBlock[]; readonly navigation: readonly KnownBlock[] } {
	const task = session.messages.findIndex((message) => message.role === 'user');
	const total = session.messages.length - (task === -1 ? 0 : 1);
	const full = total === 0 ? '' : 'The form takes all the space here, so the steps are not shown.';
	if (total === 0 || perPage === 0) return { page: 0, cards: [], navigation: context(full) };
	const lastPage = Math.ceil(total / perPage) - 1;
	const page = Math.min(wantedPage, lastPage);
	// The form shows what the asking message says.
	const shown = latestHistory(session, perPage, page * perPage).filter((entry) => entry.messageIndex !== asking);
	const navigation = buttons(
		page > 0 ? button(ACTIONS.newer, 'Newer steps', { value: String(page - 1) }) : null,
		page < lastPage ? button(ACTIONS.older, 'Older steps', { value: String(page + 1) }) : null,
	);
	return { page, cards: shown.flatMap((entry) => divided(stepCard(entry, mask))), navigation };
}

function stepCard({ step, message }: ReturnType<typeof latestHistory>[number], { read }: Mask): KnownBlock[] {
	const text = quotedMarkdown(read(message.content), STEP_TEXT);
	const who =
		step !== null
			? `Step ${step}`
			: message.role === 'user'
				? 'A person'
				: quotedNameMrkdwn(message.role, 60) || 'Somebody';
	const actions = actionsLine(message.actions.map((action) => ({ ...action, text: read(action.text) })));
	const asked = asks(message) && !actions.includes('asked you') ? 'asked you' : '';
	const note = text === '' && actions === '' ? asked || '–' : asked;
	const namesSpeaker = step === null && text !== '';
	return [
		...section(namesSpeaker ? `${who} says\n${text}` : text),
		...context(joined(namesSpeaker ? '' : who, actions, note)),
	];
}

export const SCREENSHOT_TEXT = "The agent's latest screenshot";
export const NOT_SHOWN = 'Latest screenshot: link not shown';

/** The first `most` files with their links, then why links are missing, then `notes`. */
function fileBlocks(
	files: Session['files'],
	most: number,
	{ links, read }: { readonly links: Links; readonly read: Mask['read'] },
	notes: string[] = [],
): KnownBlock[] {
	const refused = new Map<string, number>();
	const shown = files.slice(0, most).flatMap((file) => {
		const link = links(file.signedUrl);
		const filename = read(file.filename.slice(0, MOST_OF_NAME));
		const name = quotedNameMrkdwn(filename, 200) || 'A file without a name';
		if (link.kind === 'refused') refused.set(link.why, (refused.get(link.why) ?? 0) + 1);
		if (link.kind !== 'link') return section(`📄 ${name}`);
		return section(`📄 ${name}\n${hostWords(link.host)}`.trim(), {
			accessory: saying(filename)(button(ACTIONS.openFile, 'Open', { url: link.url })),
		});
	});
	return [
		...shown,
		...context(
			...Array.from(refused, ([why, count]) => `${counted(count, 'file: link', 'files: links')} not shown (${why})`),
			andMoreWords(files.length - most, 'in the dashboard'),
			...notes,
		),
	];
}

export const LINKS_FOR_YOU =
	'Only you see this. The links work for seven days for anybody who has them, so do not share them.';

/** The host of a link that is not the service's own, as code, so that Slack does not link it. */
export const hostWords = (host: string | null) => (host === null ? '' : `at \`${host}\``);

const MOST_FILES_ALONE = 20;

export function filesMessage(session: Session, links: Links): MessageContent {
	const { files } = session;
	if (files.length === 0) return textMessage('This session has no files.');
	const text = files.length === 1 ? 'The file of this session' : `The ${files.length} files of this session`;
	const { read } = createMask(false, credentialsOf(session));
	const blocks = fileBlocks(files, MOST_FILES_ALONE, { links, read }, [LINKS_FOR_YOU]);
	return message(text, [...section(`*${text}*`), ...blocks]);
}
