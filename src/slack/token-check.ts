import { type Clock, uptimeOf } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { shareRunning } from '../kernel/memory.ts';
import { backOff } from '../kernel/retries.ts';

/** How often `auth.test` is asked while Slack refuses the token: at first soon, because a refusal may pass. */
const ASK_AGAIN = { firstMs: 1_000, longestMs: 60_000 };

/**
 * Remembers whether Slack refuses the bot token: the app was uninstalled, or the token revoked. Only `auth.test` is
 * believed: one method may refuse for a moment, and the events of an uninstalled app may come in any order, also after
 * a new installation (bolt-js #1103, #1558). `ask` resolves to Slack's code for a refused token, null for one that it
 * takes, undefined if it did not tell.
 */
export function createTokenCheck(
	ask: (token: string) => Promise<string | null | undefined>,
	{ botToken, clock, log }: { readonly botToken: () => string; readonly clock: Clock; readonly log: Log },
) {
	let refused: { token: string; code: string; failures: number; askAt: number } | null = null;

	/** Asks `auth.test` now. Never rejects. */
	const check = shareRunning(async () => {
		const token = botToken();
		const answer = await ask(token);
		const code = answer === undefined ? (refused?.code ?? null) : answer;
		if (code === null) {
			if (refused !== null) log.info({}, 'Slack takes SLACK_BOT_TOKEN again');
			refused = null;
			return;
		}
		if (refused === null) log.error('slack_token_refused', { code });
		const failures = refused?.token === token ? refused.failures + 1 : 1;
		refused = { token, code, failures, askAt: uptimeOf(clock) + backOff(failures, ASK_AGAIN) };
	});

	const isDue = () => refused !== null && (refused.token !== botToken() || uptimeOf(clock) >= refused.askAt);

	return {
		check,
		/** Slack's code while it refuses the token: then no call may be made. A refusal of long ago is checked first. */
		async refusal(): Promise<string | null> {
			if (isDue()) await check();
			return refused?.code ?? null;
		},
		/** The same at once. A refusal of long ago is checked meanwhile. */
		known(): string | null {
			if (isDue()) void check();
			return refused?.code ?? null;
		},
	};
}
