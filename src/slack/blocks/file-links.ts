import type { KnownBlock } from '@slack/types';
import type { SessionFile } from '../../questions/session.ts';
import { ACTIONS } from '../ids.ts';
import type { Links, RefusedLink } from '../links.ts';
import { quotedNameMrkdwn } from '../text.ts';
import { refusedFilesWords } from '../words.ts';
import { button, context, section } from './parts.ts';

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
