import type { KnownBlock } from '@slack/types';
import type { Session, SessionFile } from '../../questions/session.ts';
import { ACTIONS } from '../ids.ts';
import type { Links, RefusedLink } from '../links.ts';
import { quotedNameMrkdwn } from '../text.ts';
import {
	andMoreWords,
	filesWords,
	LINKS_FOR_YOU,
	NO_SCREENSHOT,
	refusedFilesWords,
	refusedScreenshotWords,
	SCREENSHOT_NOT_LOADED,
	SCREENSHOT_TEXT,
} from '../words/sessions.ts';
import { button, buttons, context, type MessageContent, message, section } from './parts.ts';

/** The first `most` files with their links, then why links are missing, then `notes`. */
export function fileBlocks(
	files: readonly SessionFile[],
	{ most, links, notes = [] }: { most: number; links: Links; notes?: readonly string[] },
): KnownBlock[] {
	const refused = new Map<RefusedLink, number>();
	const shown = files.slice(0, most).flatMap((file) => {
		const link = links(file.signedUrl);
		const name = quotedNameMrkdwn(file.filename, 200) || 'A file without a name';
		if (link.kind === 'refused') refused.set(link.why, (refused.get(link.why) ?? 0) + 1);
		if (link.kind !== 'link') return section(`📄 ${name}`);
		return section(`📄 ${name}\n${hostWords(link.host)}`.trim(), {
			accessory: button(ACTIONS.openFile, 'Open', { url: link.url }),
		});
	});
	return [
		...shown,
		...context(
			...[...refused].map(([why, count]) => refusedFilesWords(why, count)),
			andMoreWords(files.length - most, 'in the dashboard'),
			...notes,
		),
	];
}

/** The host of a link that is not the service's own, as code, so that Slack does not link it. */
export function hostWords(host: string | null): string {
	return host === null ? '' : `at \`${host}\``;
}

const MOST_FILES = 20;

/** The latest screenshot, for one person; the second message is for when Slack cannot load the picture. */
export function screenshotMessage(session: Session, links: Links): readonly MessageContent[] {
	const target = links(session.lastScreenshotUrl);
	if (target.kind !== 'link') {
		const text = target.kind === 'none' ? NO_SCREENSHOT : `${refusedScreenshotWords(target.why)}.`;
		return [message(text, section(text))];
	}
	const { url, host } = target;
	const link = [
		...buttons(button(ACTIONS.openScreenshot, 'Open the screenshot', { url })),
		...context(hostWords(host), LINKS_FOR_YOU),
	];
	return [
		message(SCREENSHOT_TEXT, [{ type: 'image', image_url: url, alt_text: SCREENSHOT_TEXT }, ...link]),
		message(SCREENSHOT_TEXT, [...section(SCREENSHOT_NOT_LOADED), ...link]),
	];
}

/** The files with fresh links, for one person. */
export function filesMessage({ files }: Session, links: Links): readonly MessageContent[] {
	const text = filesWords(files.length);
	if (files.length === 0) return [message(text, section(text))];
	const blocks = fileBlocks(files, { most: MOST_FILES, links, notes: [LINKS_FOR_YOU] });
	return [message(text, [...section(`*${text}*`), ...blocks])];
}
