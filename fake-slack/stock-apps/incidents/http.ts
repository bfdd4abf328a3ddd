import { App } from '@slack/bolt';
import { registerListeners } from './listeners/index.ts';

const app = new App({
	token: process.env.SLACK_BOT_TOKEN ?? '',
	signingSecret: process.env.SLACK_SIGNING_SECRET ?? '',
	clientOptions: { slackApiUrl: process.env.SLACK_API_URL ?? 'https://slack.com/api/' },
});

registerListeners(app);

await app.start(Number(process.env.PORT ?? 3000));
app.logger.info('⚡️ Bolt app is running! ⚡️');
