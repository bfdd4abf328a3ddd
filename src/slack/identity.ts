import type { WebClient } from '@slack/web-api';
import type { Installation } from '../answers/access-policy.ts';
import type { Clock } from '../clock.ts';
import { HandraiseError } from '../errors.ts';
import type { Log } from '../log.ts';
import { slackErrorCode } from './clients.ts';

/** Who we are in Slack, from `auth.test`. */
export interface Identity extends Installation {
	/** Null when Slack leaves it out: nothing depends on it. */
	readonly botId: string | null;
	readonly botUserId: string;
}

const REMEDIES = {
	SLACK_BOT_TOKEN: 'copy the bot token again, or reinstall the app',
	SLACK_APP_TOKEN: 'make an app-level token with connections:write and copy it again',
} as const;

/** Slack does not accept the token of a setting, or names no bot for it. `reason` is Slack's own code. */
export function tokenRefused(setting: keyof typeof REMEDIES, reason: string): HandraiseError {
	const message = `Slack refuses ${setting} (${reason}): ${REMEDIES[setting]}`;
	return new HandraiseError(message, { code: 'slack_token_refused' });
}

const LONGEST_PAUSE_MS = 30_000;
/** Slack's own failures: they say nothing about the token. */
const PASSING = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout', 'ratelimited']);

/**
 * Asks Slack who the token is. While Slack cannot be reached it is asked again, with growing pauses.
 * @throws HandraiseError `slack_token_refused` or `organisation_install`; the signal's reason
 */
export async function identify(
	client: WebClient,
	{ clock, log, signal }: { clock: Clock; log: Log; signal: AbortSignal },
): Promise<Identity> {
	for (let tries = 1; ; tries++) {
		signal.throwIfAborted();
		const self = await client.auth.test().catch((error: unknown) => {
			const code = slackErrorCode(error);
			if (code !== null && !PASSING.has(code)) throw tokenRefused('SLACK_BOT_TOKEN', code);
			log.warn({ code: code ?? 'no_answer', tries }, 'Slack cannot be reached yet');
			return null;
		});
		if (self === null) {
			await clock.sleep(Math.min(500 * 2 ** Math.min(tries, 10), LONGEST_PAUSE_MS), signal);
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
