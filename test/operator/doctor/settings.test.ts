import { type Cases, testBroken } from './broken.ts';
import { nobody } from './harness.ts';

const MISSPELT = ['SESSION_SERVICE_KEY', 'SHOW_ANSWER', 'RETENTION_DAY', 'MAX_WATCH_ALL'];

const settings: Cases = {
	'one is missing, one as in the example, one no number, and one no URL': {
		env: () => ({
			SLACK_BOT_TOKEN: '',
			SLACK_APP_TOKEN: 'xapp-',
			RETENTION_DAYS: 'soon',
			SESSION_DASHBOARD_URL: 'dashboard.example.com',
		}),
		says: [
			/^✗ Settings: SLACK_BOT_TOKEN is missing: the bot token \(xoxb-…\) from "OAuth & Permissions"/,
			/^✗ Settings: SLACK_APP_TOKEN is another kind of token, or incomplete/,
			/^✗ Settings: RETENTION_DAYS is not a number: use a whole number from 1 to 3650/,
			/^✗ Settings: SESSION_DASHBOARD_URL is not a valid address/,
		],
	},
	'the two tokens are swapped': {
		env: ({ secrets }) => ({ SLACK_BOT_TOKEN: secrets.appToken, SLACK_APP_TOKEN: secrets.botToken }),
		says: /^✗ Settings: SLACK_BOT_TOKEN is another kind of token, or incomplete: use the bot token, which starts with xoxb-/,
	},
	'names are misspelt': {
		env: () => Object.fromEntries(MISSPELT.map((name) => [name, 'canary-misspelt'])),
		says: MISSPELT.map(
			(name) =>
				new RegExp(
					`^! Settings: ${name} is not a setting of Handraise and is not read: is it misspelt\\? docs/configuration\\.md lists all`,
				),
		),
	},
};

const dashboard: Cases = {
	'the dashboard cannot be reached': {
		env: async () => ({ SESSION_DASHBOARD_URL: await nobody() }),
		says: /^! Dashboard: .* cannot be reached from here: .* That is fine if people's browsers can/,
	},
	'the dashboard has no such page': {
		env: (harness) => ({ SESSION_DASHBOARD_URL: `${harness.service.url}/wrong` }),
		says: /^! Dashboard: .* answers 404 there/,
	},
	'the dashboard’s address is a session’s page': {
		env: (harness) => ({ SESSION_DASHBOARD_URL: `${harness.service.url}/sessions/session` }),
		says: /^! Dashboard: SESSION_DASHBOARD_URL is a session's page: leave out \/sessions\/session/,
	},
};

const access: Cases = {
	'the contact mentions nobody': {
		env: () => ({ ADMIN_CONTACT: '@ada' }),
		says: /^! Access: ADMIN_CONTACT is shown as it is, which mentions nobody/,
	},
	'the contact has left, a channel is archived, and a user and a group do not exist': {
		env: () => ({
			ADMIN_CONTACT: 'U0DORA',
			ALLOWED_USERS: 'U0ADA,U0NOBODY',
			ALLOWED_CHANNELS: 'C0AGENTS C0OLD',
			ALLOWED_USERGROUPS: 'S0OPS,S0NOWHERE',
		}),
		says: [
			/^! Access: ADMIN_CONTACT names U0DORA, a user who has left/,
			/^! Access: ALLOWED_USERS names U0NOBODY, a user whom Slack does not know/,
			/^! Access: ALLOWED_CHANNELS names C0OLD, a channel that is archived/,
			/^! Access: ALLOWED_USERGROUPS names S0NOWHERE, a user group that does not exist/,
		],
	},
	'no contact is set, and an allowed user cannot be looked up': {
		breaks: ({ slack }) => slack.faults.add({ method: 'users.info', error: 'missing_scope' }),
		env: () => ({ ADMIN_CONTACT: '', ALLOWED_USERS: 'U0NOBODY' }),
		says: [
			/^! Access: ADMIN_CONTACT is not set/,
			/^- Access: ALLOWED_USERS \(U0NOBODY\): not checked, because Slack refuses the app/,
		],
	},
};

testBroken('settings', settings);
testBroken('dashboard', dashboard);
testBroken('access', access);
