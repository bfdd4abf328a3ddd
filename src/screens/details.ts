import { createMask, credentialsOf, type Mask } from '../domain/masking.ts';
import { asks, latestHistory, resultOf, type Session, taskOf } from '../domain/session.ts';
import { oneLine } from '../domain/shown-text.ts';
import { agentText } from '../slack/agent-text.ts';
import {
	button,
	buttons,
	context,
	divider,
	heading,
	type KnownBlock,
	labelAbout,
	type MessageContent,
	message,
	plain,
	row,
	section,
	textMessage,
} from '../slack/blocks.ts';
import { ACTIONS } from '../slack/ids.ts';
import type { Links } from '../slack/links.ts';
import { actionsLine, andMoreWords, counted } from '../slack/phrases.ts';
import { bold, joined, line, lines, type Piece, rich, richText } from '../slack/rich-text.ts';

const MOST_FILES = 8;
/** UTF-16 units of a file's name that are masked; 200 of them are shown. */
const MOST_OF_NAME = 1_000;
const STEP_TEXT = 1200;

/** What a session has: `above` the steps its task and result, `below` them its details and files. */
export function sessionDetails(session: Session, links: Links, { read }: Mask) {
	const { files } = session;
	const above = [
		...titled('Task', agentText(read(taskOf(session) ?? ''), 1500)),
		...titled("The agent's result", agentText(read(resultOf(session) ?? ''), 2_900)),
	];
	const below = [
		...titled('About', agentText(read(session.sessionDetails), 1000)),
		...(files.length === 0 ? [] : [...section(bold('Files')), ...fileBlocks(files, MOST_FILES, { links, read })]),
	];
	return { above: divided(above), below: divided(below) };
}

const divided = (blocks: readonly KnownBlock[]): KnownBlock[] => (blocks.length === 0 ? [] : [divider(), ...blocks]);

const titled = (title: string, text: readonly Piece[]): KnownBlock[] =>
	text.length === 0 ? [] : richText(...line(bold(title)), ...text);

/** The latest screenshot, or why its link is not shown. */
export function screenshot({ lastScreenshotUrl }: Session, links: Links): KnownBlock[] {
	const link = links(lastScreenshotUrl);
	if (link.kind === 'none') return [];
	if (link.kind === 'refused') return context(`${NOT_SHOWN} (${link.why})`);
	const title = plain('Latest screenshot', 100);
	return [{ type: 'image', image_url: link.url, alt_text: SCREENSHOT_TEXT, title }, ...context(hostWords(link.host))];
}

/** The messages of one page, newest first, each with its text and a line of actions. `page`: at most the last one. */
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
	// The form shows the asking message already.
	const shown = latestHistory(session, perPage, page * perPage).filter((entry) => entry.messageIndex !== asking);
	const navigation = buttons(
		page > 0 ? button(ACTIONS.newer, 'Newer steps', { value: String(page - 1) }) : null,
		page < lastPage ? button(ACTIONS.older, 'Older steps', { value: String(page + 1) }) : null,
	);
	return { page, cards: shown.flatMap((entry) => divided(stepCard(entry, mask))), navigation };
}

function stepCard({ step, message }: ReturnType<typeof latestHistory>[number], { read }: Mask): KnownBlock[] {
	const text = agentText(read(message.content), STEP_TEXT);
	const who =
		step !== null ? `Step ${step}` : message.role === 'user' ? 'A person' : oneLine(message.role, 60) || 'Somebody';
	const actions = actionsLine(message.actions.map((action) => ({ ...action, text: read(action.text) })));
	const asked = asks(message) && !actions.includes('asked you') ? 'asked you' : '';
	const note = text.length === 0 && actions === '' ? asked || '–' : asked;
	const namesSpeaker = step === null && text.length > 0;
	return [
		...richText(...line(namesSpeaker ? rich`*${who}* says` : ''), ...text),
		...context(joined(namesSpeaker ? '' : who, actions, note)),
	];
}

export const SCREENSHOT_TEXT = "The agent's latest screenshot";
const NOT_SHOWN = 'Latest screenshot: link not shown';

/** The first `most` files with links, then why links are missing, then `notes`. */
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
		const name = oneLine(filename, 200) || 'A file without a name';
		if (link.kind === 'refused') refused.set(link.why, (refused.get(link.why) ?? 0) + 1);
		const open = link.kind === 'link' ? button(ACTIONS.openFile, 'Open', { url: link.url }) : null;
		return row(
			lines(`📄 ${name}`, open === null || link.kind !== 'link' ? '' : hostWords(link.host)),
			open && labelAbout(filename)(open),
		);
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

/** The host of a link that is not the service's own. */
const hostWords = (host: string | null) => (host === null ? '' : `at ${oneLine(host, 300)}`);

const MOST_FILES_ALONE = 20;

export function filesMessage(session: Session, links: Links): MessageContent {
	const { files } = session;
	if (files.length === 0) return textMessage('This session has no files.');
	const text = files.length === 1 ? 'The file of this session' : `The ${files.length} files of this session`;
	const { read } = createMask(false, credentialsOf(session));
	const blocks = fileBlocks(files, MOST_FILES_ALONE, { links, read }, [LINKS_FOR_YOU]);
	// Without rich text, long addresses do not count towards Slack's limit of a message.
	return message(text, [heading(text), ...blocks]);
}
