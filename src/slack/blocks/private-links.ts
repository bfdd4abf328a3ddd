import type { Session } from '../../questions/session.ts';
import { ACTIONS } from '../ids.ts';
import { oneLineMrkdwn } from '../text.ts';
import { type MessageContent, message } from './message.ts';
import { button, buttons, context, section, webUrl } from './parts.ts';

const FILES = 20;
const NOTE = 'Only you see this. The links work for seven days, for whoever has them: do not pass them on.';

/** The latest screenshot for one person's eyes; the second form is for when Slack cannot load the picture. */
export function screenshotMessage(session: Session): readonly MessageContent[] {
	const url = webUrl(session.lastScreenshotUrl);
	if (url === null) {
		const text = 'There is no screenshot of this session.';
		return [message(text, section(text))];
	}
	const text = "The agent's latest screenshot";
	const link = [...buttons(button(ACTIONS.openScreenshot, 'Open the screenshot', { url })), ...context(NOTE)];
	return [
		message(text, [{ type: 'image', image_url: url, alt_text: text }, ...link]),
		message(text, [...section('Slack could not load the screenshot; this opens it in the browser:'), ...link]),
	];
}

/** The files with fresh links for one person's eyes. */
export function filesMessage(session: Session): readonly MessageContent[] {
	const { files } = session;
	if (files.length === 0) {
		const text = 'This session has no files.';
		return [message(text, section(text))];
	}
	const text = files.length === 1 ? 'The file of this session' : `The ${files.length} files of this session`;
	const shown = files.slice(0, FILES).flatMap((file) => {
		const url = webUrl(file.signedUrl);
		const name = oneLineMrkdwn(file.filename, 200) || 'A file without a name';
		return section(`📄 ${name}`, url === null ? {} : { accessory: button(ACTIONS.openFile, 'Open', { url }) });
	});
	const rest = files.length - Math.min(files.length, FILES);
	return [
		message(text, [
			...section(`*${text}*`),
			...shown,
			...context(rest === 0 ? '' : `and ${rest} more in the dashboard`, NOTE),
		]),
	];
}
