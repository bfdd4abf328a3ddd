import type { Session } from '../../questions/session.ts';
import { ACTIONS } from '../ids.ts';
import type { Links } from '../links.ts';
import { refusedScreenshotWords } from '../words.ts';
import { fileBlocks, hostWords } from './file-links.ts';
import { type MessageContent, message } from './message.ts';
import { button, buttons, context, section } from './parts.ts';

const FILES = 20;
const NOTE = 'Only you see this. The links work for seven days, for whoever has them: do not pass them on.';

/** The latest screenshot for one person's eyes; the second form is for when Slack cannot load the picture. */
export function screenshotMessage(session: Session, links: Links): readonly MessageContent[] {
	const target = links(session.lastScreenshotUrl);
	if (target.kind !== 'link') {
		const none = 'There is no screenshot of this session.';
		const text = target.kind === 'none' ? none : `${refusedScreenshotWords(target.why)}.`;
		return [message(text, section(text))];
	}
	const { url, host } = target;
	const text = "The agent's latest screenshot";
	const link = [
		...buttons(button(ACTIONS.openScreenshot, 'Open the screenshot', { url })),
		...context(hostWords(host), NOTE),
	];
	return [
		message(text, [{ type: 'image', image_url: url, alt_text: text }, ...link]),
		message(text, [...section('Slack could not load the screenshot; this opens it in the browser:'), ...link]),
	];
}

/** The files with fresh links for one person's eyes. */
export function filesMessage(session: Session, links: Links): readonly MessageContent[] {
	const { files } = session;
	if (files.length === 0) {
		const text = 'This session has no files.';
		return [message(text, section(text))];
	}
	const text = files.length === 1 ? 'The file of this session' : `The ${files.length} files of this session`;
	return [message(text, [...section(`*${text}*`), ...fileBlocks(files, { most: FILES, links, notes: [NOTE] })])];
}
