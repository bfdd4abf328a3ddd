import type { WebClient } from '@slack/web-api';
import { incidentMessage, incidentMetadata } from './blocks.ts';

let opened = 0;

export function countOpened(): number {
	return opened;
}

/** Posts an incident into its channel. */
export async function openIncident(client: WebClient, { channel, text }: { channel: string; text: string }) {
	opened++;
	await client.chat.postMessage({
		channel,
		text,
		blocks: incidentMessage(text, 'open'),
		metadata: incidentMetadata('open'),
	});
}
