import { type Finding, findingsOf } from './finding.ts';

/** Slack's signatures are refused when they are more than five minutes old or in the future; ages in cards are off long before. */
const MOST_OFF_MS = 60_000;

/** Compares this machine's clock with the `Date` of the two that were asked; null: it did not tell. */
export function checkClock({
	slackAheadMs,
	serviceAheadMs,
}: {
	slackAheadMs: number | null;
	serviceAheadMs: number | null;
}): Finding[] {
	const { ok, warning, failure, skipped } = findingsOf('Clock');
	const isOff = (ms: number | null) => ms !== null && Math.abs(ms) > MOST_OFF_MS;
	if (slackAheadMs === null && serviceAheadMs === null)
		return [skipped('neither Slack nor the session service told the time.')];
	if (isOff(slackAheadMs)) {
		const agreeing = isOff(serviceAheadMs) ? 'Slack and the session service' : 'Slack';
		return [
			failure(
				`this machine is ${off(slackAheadMs)} ${agreeing}: synchronise its clock (NTP). At five minutes Slack's signed requests are refused.`,
			),
		];
	}
	if (isOff(serviceAheadMs)) {
		const apart = `this machine is ${off(serviceAheadMs)} the session service`;
		return slackAheadMs === null
			? [failure(`${apart}, and Slack could not be asked: find out which clock is wrong and synchronise it (NTP).`)]
			: [
					warning(
						`${apart}, while Slack agrees with this machine: the service's clock is wrong, and so are the ages Handraise shows.`,
					),
				];
	}
	const against = [
		...(slackAheadMs === null ? [] : ['Slack']),
		...(serviceAheadMs === null ? [] : ['the session service']),
	];
	return [ok(`within a minute of ${against.join(' and ')}.`)];
}

function off(aheadMs: number | null): string {
	const seconds = Math.round(Math.abs(aheadMs ?? 0) / 1000);
	const amount = seconds < 600 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
	return (aheadMs ?? 0) > 0 ? `${amount} behind` : `${amount} ahead of`;
}
