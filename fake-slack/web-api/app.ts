import { SlackError } from '../core.ts';
import { isRecord, type Json } from '../json.ts';
import { validateBlocks, validateMessage, validateView } from '../validation/index.ts';
import type { Methods } from './method.ts';

export const appMethods: Methods = {
	'auth.test': {
		token: 'bot',
		scopes: [],
		run({ core }) {
			const { team, enterprise, app } = core.state;
			const isOrgInstall = enterprise?.isOrgInstall === true;
			// A token of the whole organisation belongs to no workspace: `team_id` is the organisation's. No source.
			const owner = isOrgInstall && enterprise ? enterprise : team;
			return {
				url: `https://${owner.domain}${isOrgInstall ? '.enterprise' : ''}.slack.com/`,
				team: owner.name,
				team_id: owner.id,
				user: app.name,
				user_id: app.botUser,
				bot_id: app.botId,
				...(enterprise ? { enterprise_id: enterprise.id } : {}),
				is_enterprise_install: isOrgInstall,
			};
		},
	},
	'apps.connections.open': {
		token: 'app',
		scopes: [],
		run: ({ sockets }) => ({ url: sockets.ticket() }),
	},
	// Facts: docs.slack.dev/reference/methods/blocks.validate; the pull requests that added it to Slack's SDKs
	// (slackapi/node-slack-sdk#2659, java-slack-sdk#1622); recorded responses (java-slack-sdk json-logs, slack-morphism).
	'blocks.validate': {
		token: 'none',
		scopes: [],
		run({ args }) {
			const given = ['blocks', 'message', 'view'].filter((name) => args[name] !== undefined);
			const [kind] = given;
			if (kind === undefined || given.length > 1) {
				// Slack's words for this are not published.
				const messages = ['[ERROR] provide exactly one of blocks, view, or message'];
				throw new SlackError('invalid_arguments', { response_metadata: { messages } });
			}
			const errors = validationErrors(kind, args[kind]);
			if (errors.length === 0) return {};
			throw new SlackError(`invalid_${kind}`, { errors });
		},
	},
};

/**
 * The problems as Slack gives them. Pointers start at the argument: `/0/text` in blocks, `/blocks/0/text` in a message.
 */
function validationErrors(kind: string, value: unknown): Json[] {
	const problems =
		kind === 'view'
			? validateView(value)
			: kind === 'blocks'
				? validateBlocks(value, 'message')
				: validateMessage(value);
	const errors = problems.map(({ message, pointer }) => ({
		code: 'failed_constraint',
		message: message.replace(/ \[json-pointer:[^\]]*\]$/, ''),
		pointer: kind === 'message' ? pointer : pointer.replace(/^\/(?:view|blocks)/, ''),
	}));
	if (kind !== 'message' || !isRecord(value)) return errors;
	// This includes `text`. Slack's words for it are not published.
	const additional = Object.keys(value).filter((name) => name !== 'blocks' && name !== 'attachments');
	return [
		...errors,
		...additional.map((name) => ({
			code: 'additional_property',
			message: `additional property: ${name}`,
			pointer: `/${name}`,
		})),
	];
}
