import type { MessageJson } from './json.ts';

/**
 * Every response of the service carries undocumented fields, some of them secret. Each of these strings stands in such
 * a field: none may ever appear in a Slack message, a view, a log line, a metric or the store.
 */
export const CANARIES = {
	desktopPassword: 'CANARY-desktop-password-Zq7',
	desktopUrl: 'CANARY-desktop-url-Hn2',
	cost: '7319.284613',
	billingEmail: 'CANARY-billing@account.invalid',
	accountToken: 'CANARY-account-token-Wk9',
	userId: 'CANARY-user-id-64f0',
	internalId: 'CANARY-internal-id-5e1',
	agentMemory: 'CANARY-agent-memory-Rt4',
	elementPath: 'CANARY-element-path-Ux8',
	urlToken: 'CANARY-url-token-Bd6',
	filePath: 'CANARY-file-path-Lm3',
	/** In the signed links of lists. */
	listLink: 'CANARY-list-link-Ks2',
	/** The canary in the values of the scenarios' session variables. */
	variable: 'CANARY-variable-value-Pv5',
} as const;

/** All canaries, for "appears nowhere" assertions. */
export const CANARY_STRINGS: readonly string[] = Object.values(CANARIES);

/** The undocumented fields in every response. */
export function secretSessionFields(): Record<string, unknown> {
	return {
		_id: CANARIES.internalId,
		remoteDesktop: { url: `https://desktop.invalid/${CANARIES.desktopUrl}`, password: CANARIES.desktopPassword },
		vncPassword: CANARIES.desktopPassword,
		totalCost: Number(CANARIES.cost),
		costs: [{ model: 'large', usd: Number(CANARIES.cost), label: CANARIES.cost }],
		accountSettings: { billingEmail: CANARIES.billingEmail, apiToken: CANARIES.accountToken, theme: 'dark' },
	};
}

/** The fields of a response in which the service renewed its signed links. */
export function renewalFields(): Record<string, unknown> {
	return { userId: CANARIES.userId, __v: 7, updatedAt: CANARIES.internalId, isNew: false };
}

/** A message with the undocumented fields the service adds to it. */
export function withSecretMessageFields(message: MessageJson): MessageJson {
	// A test may store anything in place of a message.
	if (typeof message !== 'object' || message === null) return message;
	const extended: MessageJson = { ...message, _id: CANARIES.internalId };
	const data = message.agent_data;
	if (typeof data === 'object' && data !== null && !Array.isArray(data)) {
		extended.agent_data = { ...data, current_state: { memory: CANARIES.agentMemory } };
	}
	return extended;
}
