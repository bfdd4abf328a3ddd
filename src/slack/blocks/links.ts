import type { KnownBlock } from '@slack/types';
import type { Session, SessionFile } from '../../questions/session.ts';
import { ACTIONS } from '../ids.ts';
import type { Links, RefusedLink } from '../links.ts';
import { quotedNameMrkdwn } from '../text.ts';
import { LINKS_FOR_YOU } from '../words/commands.ts';
import { refusedFilesWords, refusedScreenshotWords } from '../words/sessions.ts';
import { button, buttons, context, type MessageContent, message, section } from './parts.ts';

/** The first `most` files, each with its link where it may have one; what became of the other links; then `notes`. */
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
		return section(`📄 ${name}${hostLine(link.host)}`, {
			accessory: button(ACTIONS.openFile, 'Open', { url: link.url }),
		});
	});
	const rest = files.length - Math.min(files.length, most);
	return [
		...shown,
		...context(
			...[...refused].map(([why, count]) => refusedFilesWords(why, count)),
			rest === 0 ? '' : `and ${rest} more in the dashboard`,
			...notes,
		),
	];
}

/** Where a link leads that is not the service's own: `at bucket.example`, as code so that Slack makes no other link of it. */
export function hostWords(host: string | null): string {
	return host === null ? '' : `at \`${host}\``;
}

function hostLine(host: string | null): string {
	return host === null ? '' : `\n${hostWords(host)}`;
}

const MOST_FILES = 20;

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
		...context(hostWords(host), LINKS_FOR_YOU),
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
	return [
		message(text, [...section(`*${text}*`), ...fileBlocks(files, { most: MOST_FILES, links, notes: [LINKS_FOR_YOU] })]),
	];
}
