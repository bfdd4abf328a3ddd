import { type Finding, findingsOf } from './finding.ts';

/** Signed HTTP: the secret can only be looked at, and the address is known to Slack alone. */
export function checkHttpMode(signingSecret: string): Finding[] {
	const { ok, warning } = findingsOf('HTTP mode');
	const found = [
		ok(
			'Slack has to send to https://<your address>/slack/events: see that it stands under Slash Commands, "Interactivity & Shortcuts" and Event Subscriptions, and that Socket Mode is off.',
		),
	];
	if (!/^[0-9a-f]{32}$/.test(signingSecret)) {
		found.push(
			warning(
				'SLACK_SIGNING_SECRET does not look like one (32 characters, 0-9 and a-f): copy the Signing Secret from "Basic Information", not the client secret nor the verification token.',
			),
		);
	}
	return found;
}
