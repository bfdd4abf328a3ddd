import type { KnownBlock } from '@slack/types';
import { resultOf, taskOf } from '../../questions/progress.ts';
import type { Session } from '../../questions/session.ts';
import { plain, quotedMarkdown, quotedNameMrkdwn } from '../text.ts';
import { refusedScreenshotWords } from '../words.ts';
import { fileBlocks, hostWords } from './file-links.ts';
import { context, divider, section } from './parts.ts';
import type { SessionModel } from './session-model.ts';

const mostFiles = 8;
const mostVariables = 20;

/** Result, task, files, screenshot and the names of the variables, each only where there is one. */
export function sessionDetails(model: SessionModel): KnownBlock[] {
	const { session } = model;
	const blocks = [
		...titled("The agent's result", quotedMarkdown(resultOf(session) ?? '', 2900)),
		...titled('Task', quotedMarkdown(taskOf(session) ?? '', 1500)),
		...titled('About this session', quotedMarkdown(session.sessionDetails, 1000)),
		...files(model),
		...(model.withoutImages === true ? [] : screenshot(model)),
		...variables(session),
	];
	return blocks.length === 0 ? [] : [divider(), ...blocks];
}

function titled(title: string, text: string): KnownBlock[] {
	return text === '' ? [] : section(`*${title}*\n${text}`);
}

/** The links are pre-signed, which is why they stand in modals only; their label is ours. */
function files({ session, links }: SessionModel): KnownBlock[] {
	if (session.files.length === 0) return [];
	return [...section('*Files*'), ...fileBlocks(session.files, { most: mostFiles, links })];
}

function screenshot({ session, links }: SessionModel): KnownBlock[] {
	const link = links(session.lastScreenshotUrl);
	if (link.kind === 'none') return [];
	if (link.kind === 'refused') return context(refusedScreenshotWords(link.why));
	return [
		{
			type: 'image',
			image_url: link.url,
			alt_text: "The agent's latest screenshot",
			title: plain('Latest screenshot', 100),
		},
		...context(hostWords(link.host)),
	];
}

/** Names alone: the values are often passwords. */
function variables({ sessionVariables: all }: Session): KnownBlock[] {
	if (all.length === 0) return [];
	const names = all.slice(0, mostVariables).map(({ name }) => quotedNameMrkdwn(name, 60) || '(no name)');
	const rest = all.length - names.length;
	return context(`Variables: ${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}. Their values are hidden.`);
}
