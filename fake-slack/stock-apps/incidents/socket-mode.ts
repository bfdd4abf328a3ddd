import { App } from '@slack/bolt';
import { registerListeners } from './listeners/index.ts';

const app = new App({
	token: process.env.SLACK_BOT_TOKEN ?? '',
	socketMode: true,
	appToken: process.env.SLACK_APP_TOKEN ?? '',
	clientOptions: { slackApiUrl: process.env.SLACK_API_URL ?? 'https://slack.com/api/' },
});

registerListeners(app);

await app.start();
app.logger.info('⚡️ Bolt app is running! ⚡️');
