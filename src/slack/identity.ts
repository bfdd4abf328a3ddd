import type { WebClient } from '@slack/web-api';
import type { Installation } from '../answers/access-policy.ts';
import type { Clock } from '../clock.ts';
import { HandraiseError } from '../errors.ts';
import type { Log } from '../log.ts';
import { slackFailure } from './clients.ts';

/** The app's bot in its workspace, from `auth.test`. */
export interface Identity extends Installation {
	/** Null when Slack leaves it out. */
	readonly botId: string | null;
	readonly botUserId: string;
}

const REMEDIES = {
	SLACK_BOT_TOKEN: 'copy the bot token again, or reinstall the app',
	SLACK_APP_TOKEN: 'make an app-level token with connections:write and copy it again',
} as const;

/** The error for a token that Slack does not accept, or that belongs to no bot. `reason`: Slack's code. */
export function tokenRefused(setting: keyof typeof REMEDIES, reason: string): HandraiseError {
	const message = `Slack refuses ${setting} (${reason}): ${REMEDIES[setting]}`;
	return new HandraiseError(message, { code: 'slack_token_refused' });
}

const MAX_PAUSE_MS = 30_000;
/** Failures that say nothing about the token. */
const TEMPORARY = new Set([
	'no_answer',
	'ratelimited',
	'internal_error',
	'fatal_error',
	'service_unavailable',
	'request_timeout',
]);

/**
 * Asks Slack to which bot the token belongs. Repeats that with growing pauses while Slack cannot be reached.
 * @throws HandraiseError `slack_token_refused` or `organisation_install`; the signal's reason
 */
export async function identify(
	client: WebClient,
	{ clock, log, signal }: { clock: Clock; log: Log; signal: AbortSignal },
): Promise<Identity> {
	for (let tries = 1; ; tries++) {
		signal.throwIfAborted();
		const self = await client.auth.test().catch((error: unknown) => {
			const { code } = slackFailure(error);
			if (!TEMPORARY.has(code)) throw tokenRefused('SLACK_BOT_TOKEN', code);
			log.warn({ code, tries }, 'Slack cannot be reached yet; trying again');
			return null;
		});
		if (self === null) {
			await clock.sleep(Math.min(500 * 2 ** Math.min(tries, 10), MAX_PAUSE_MS), signal);
			continue;
		}
		if (self.user_id === undefined) throw tokenRefused('SLACK_BOT_TOKEN', 'not a bot');
		if (self.is_enterprise_install === true || self.team_id === undefined) {
			throw new HandraiseError(
				'The app is installed for a whole Enterprise Grid organisation, which is not supported yet: install it in one workspace and set that bot token as SLACK_BOT_TOKEN',
				{ code: 'organisation_install' },
			);
		}
		return {
			teamId: self.team_id,
			enterpriseId: self.enterprise_id ?? null,
			botId: self.bot_id ?? null,
			botUserId: self.user_id,
		};
	}
}
