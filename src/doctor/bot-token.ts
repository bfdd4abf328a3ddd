import { type Finding, findingsOf } from './finding.ts';
import { type SlackReply, tokenAdvice } from './slack-call.ts';

const BOT_TOKEN = {
	setting: 'SLACK_BOT_TOKEN',
	copyFrom: 'from "OAuth & Permissions" (Bot User OAuth Token, xoxb-…)',
} as const;

/** What `auth.test` says about the bot token. */
export function checkBotToken(reply: SlackReply): Finding[] {
	const { ok, failure } = findingsOf('Bot token');
	if (reply.kind === 'unreachable') return [failure(`Slack cannot be asked: ${reply.why}.`)];
	if (reply.kind === 'refused') {
		return [
			failure(
				tokenAdvice(reply.code, BOT_TOKEN) ?? `Slack refuses it (${reply.code}): try again, then reinstall the app.`,
			),
		];
	}
	const { user, team, team_id: teamId, bot_id: botId, is_enterprise_install: isForOrganisation } = reply.data;
	if (typeof botId !== 'string') {
		return [failure(`This is a person's token, not the bot's: copy it ${BOT_TOKEN.copyFrom}, into SLACK_BOT_TOKEN.`)];
	}
	if (isForOrganisation === true || typeof teamId !== 'string') {
		return [
			failure(
				'The app is installed for a whole Enterprise Grid organisation, which is not supported yet: install it in one workspace and set that bot token as SLACK_BOT_TOKEN.',
			),
		];
	}
	return [ok(`it is ${String(user)} in the workspace ${String(team)}.`)];
}
