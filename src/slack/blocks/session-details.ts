import type { KnownBlock } from '@slack/types';
import { resultOf, taskOf } from '../../questions/progress.ts';
import type { Session } from '../../questions/session.ts';
import { ACTIONS } from '../ids.ts';
import { isBlank, markdownAsMrkdwn, oneLineMrkdwn, plain } from '../text.ts';
import { button, context, divider, section, webUrl } from './parts.ts';
import type { SessionModel } from './session-model.ts';

const mostFiles = 8;
const mostVariables = 20;

/** Result, task, files, screenshot and the names of the variables, each only where there is one. */
export function sessionDetails(model: SessionModel): KnownBlock[] {
	const { session } = model;
	const blocks = [
		...titled('Result', markdownAsMrkdwn(resultOf(session) ?? '', 2900)),
		...titled('Task', markdownAsMrkdwn(taskOf(session) ?? '', 1500)),
		...titled('About this session', markdownAsMrkdwn(session.sessionDetails, 1000)),
		...files(session),
		...(model.withoutImages === true ? [] : screenshot(session)),
		...variables(session),
	];
	return blocks.length === 0 ? [] : [divider(), ...blocks];
}

function titled(title: string, text: string): KnownBlock[] {
	return isBlank(text) ? [] : section(`*${title}*\n${text}`);
}

/** The links are pre-signed, which is why they stand in modals only; their label is ours. */
function files({ files: all }: Session): KnownBlock[] {
	if (all.length === 0) return [];
	const shown = all.slice(0, mostFiles).flatMap((file) => {
		const url = webUrl(file.signedUrl);
		const name = oneLineMrkdwn(file.filename, 200) || 'A file without a name';
		return section(`📄 ${name}`, url === null ? {} : { accessory: button(ACTIONS.openFile, 'Open', { url }) });
	});
	const rest = all.length - Math.min(all.length, mostFiles);
	return [...section('*Files*'), ...shown, ...context(rest === 0 ? '' : `and ${rest} more in the dashboard`)];
}

function screenshot({ lastScreenshotUrl }: Session): KnownBlock[] {
	const url = webUrl(lastScreenshotUrl);
	if (url === null) return [];
	return [
		{
			type: 'image',
			image_url: url,
			alt_text: "The agent's latest screenshot",
			title: plain('Latest screenshot', 100),
		},
	];
}

/** Names alone: the values are often passwords. */
function variables({ sessionVariables: all }: Session): KnownBlock[] {
	if (all.length === 0) return [];
	const names = all.slice(0, mostVariables).map(({ name }) => oneLineMrkdwn(name, 60) || '(no name)');
	const rest = all.length - names.length;
	return context(`Variables: ${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}. Their values are hidden.`);
}
