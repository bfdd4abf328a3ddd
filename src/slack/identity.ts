import type { WebClient } from '@slack/web-api';
import type { Installation } from '../answers/access-policy.ts';
import type { Clock } from '../clock.ts';
import { HandraiseError } from '../errors.ts';
import type { Log } from '../log.ts';
import { slackErrorCode } from './clients.ts';

/** Who we are in Slack, from `auth.test`. */
export interface Identity extends Installation {
	/** Null when Slack leaves it out: nothing hangs on it. */
	readonly botId: string | null;
	readonly botUserId: string;
}

const REMEDIES = {
	SLACK_BOT_TOKEN: 'copy the bot token again, or reinstall the app',
	SLACK_APP_TOKEN: 'make an app-level token with connections:write and copy it again',
} as const;

/** Slack does not accept a token, or names no bot for it. `slackCode` is Slack's own. */
export class SlackTokenError extends HandraiseError {
	override readonly code = 'slack_token_refused';
	override readonly retryable = false;
	readonly slackCode: string;

	constructor(setting: keyof typeof REMEDIES, slackCode: string) {
		super(`Slack refuses ${setting} (${slackCode}): ${REMEDIES[setting]}`);
		this.slackCode = slackCode;
	}
}

/** The app is installed for a whole organisation: its token belongs to no workspace. */
class OrganisationInstallError extends HandraiseError {
	override readonly code = 'organisation_install';
	override readonly retryable = false;

	constructor() {
		super(
			'The app is installed for a whole Enterprise Grid organisation, which is not supported yet: install it in one workspace and set that bot token as SLACK_BOT_TOKEN',
		);
	}
}

const LONGEST_PAUSE_MS = 30_000;

/**
 * Asks Slack who the token is. While Slack cannot be reached it is asked again, with growing pauses.
 * @throws SlackTokenError when Slack answers with a refusal; OrganisationInstallError; the signal's reason
 */
export async function identify(
	client: WebClient,
	{ clock, log, signal }: { clock: Clock; log: Log; signal: AbortSignal },
): Promise<Identity> {
	for (let tries = 1; ; tries++) {
		signal.throwIfAborted();
		try {
			const self = await client.auth.test();
			if (self.user_id === undefined) throw new SlackTokenError('SLACK_BOT_TOKEN', 'not a bot');
			if (self.is_enterprise_install === true || self.team_id === undefined) throw new OrganisationInstallError();
			return {
				teamId: self.team_id,
				enterpriseId: self.enterprise_id ?? null,
				botId: self.bot_id ?? null,
				botUserId: self.user_id,
			};
		} catch (error) {
			if (error instanceof SlackTokenError || error instanceof OrganisationInstallError) throw error;
			const code = slackErrorCode(error);
			if (code !== null && !PASSING.has(code)) throw new SlackTokenError('SLACK_BOT_TOKEN', code);
			log.warn({ code: code ?? 'no_answer', tries }, 'Slack cannot be reached yet');
			await clock.sleep(Math.min(500 * 2 ** Math.min(tries, 10), LONGEST_PAUSE_MS), signal);
		}
	}
}

/** Slack's own troubles: they say nothing about the token. */
const PASSING = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout', 'ratelimited']);
