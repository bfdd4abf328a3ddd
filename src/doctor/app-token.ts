import { ask } from './ask.ts';
import { type Finding, findingsOf } from './finding.ts';
import { type SlackCall, type SlackReply, tokenAdvice } from './slack-call.ts';

const APP_TOKEN = {
	setting: 'SLACK_APP_TOKEN',
	copyFrom: 'from "Basic Information", App-Level Tokens (xapp-…)',
} as const;

/**
 * Asks Slack for a Socket Mode address, which opens nothing yet. It is not connected to: Slack would send some of the
 * commands that people type to the doctor, which answers none.
 */
export async function checkAppToken(call: SlackCall, token: string, bot: SlackReply | null): Promise<Finding[]> {
	const { ok, warning, failure } = findingsOf('Socket Mode');
	const reply = await call('apps.connections.open', token);
	if (reply.kind === 'unreachable') return [failure(`Slack cannot be asked: ${reply.why}.`)];
	if (reply.kind === 'refused') return [failure(refusalOf(reply.code))];

	const address = URL.parse(String(reply.data.url));
	if (address === null) return [failure('Slack gave no address to connect to: try again.')];
	const origin = `${address.protocol === 'ws:' ? 'http' : 'https'}://${address.host}/`;
	const there = await ask(origin, { timeoutMs: 10_000 });
	if (there.kind === 'no-answer') {
		return [
			failure(
				`The token is good, but ${address.host} cannot be reached: ${there.why}. Let the machine connect there (WebSocket).`,
			),
		];
	}
	const found = [ok(`the app-level token is good, and ${address.host} can be reached.`)];
	// Undocumented, so no more than a warning: the app's id is part of an app-level token.
	const ofApp = /^xapp-\d+-(A[A-Z0-9]+)-/.exec(token)?.[1];
	const botsApp = bot?.kind === 'ok' ? bot.data.app_id : undefined;
	if (ofApp !== undefined && typeof botsApp === 'string' && botsApp !== ofApp) {
		found.push(
			warning(
				`SLACK_APP_TOKEN is of the app ${ofApp}, SLACK_BOT_TOKEN of ${botsApp}: nothing typed there would arrive here. Take both from one app.`,
			),
		);
	}
	return found;
}

function refusalOf(code: string): string {
	if (code === 'missing_scope') {
		return 'The app-level token lacks connections:write: make a new one with that scope under "Basic Information", App-Level Tokens, and put it into SLACK_APP_TOKEN.';
	}
	return (
		tokenAdvice(code, APP_TOKEN) ??
		`Slack opens no connection (${code}): is "Enable Socket Mode" on in the app's settings, under Socket Mode?`
	);
}
