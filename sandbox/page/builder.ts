import { look } from './actions.ts';

/** Copies the JSON of a view or message to the clipboard. Returns the text for the person. */
export async function copyForBuilder(what: { view: string } | { channel: string; ts: string }): Promise<string> {
	const found = await look<object>('builder', what);
	if (found === null) return 'It no longer exists.';
	try {
		await navigator.clipboard.writeText(JSON.stringify(found, null, 2));
		return 'Copied. Paste it into Slack’s Block Kit Builder.';
	} catch {
		return 'The browser did not allow copying.';
	}
}
