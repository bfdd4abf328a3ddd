import type { FakeSlack } from '../fake-slack/index.ts';

export interface Connections {
	readonly slack: FakeSlack;
	/** The address of the session service, or of a proxy in front of it. */
	readonly service: { readonly url: string; readonly apiKey: string };
	/** Socket Mode by default. */
	readonly transport?: 'socket' | 'http';
}

export function connectionEnv({ slack, service, transport = 'socket' }: Connections): Record<string, string> {
	return {
		SLACK_BOT_TOKEN: slack.tokens.bot,
		...(transport === 'socket'
			? { SLACK_APP_TOKEN: slack.tokens.app }
			: { SLACK_SIGNING_SECRET: slack.tokens.signingSecret }),
		SLACK_API_URL: slack.apiUrl,
		SESSION_SERVICE_URL: service.url,
		SESSION_SERVICE_API_KEY: service.apiKey,
	};
}
