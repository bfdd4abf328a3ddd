import type { App } from '@slack/bolt';

const services = ['Billing', 'Bills archive', 'Login', 'Search'];

export function register(app: App): void {
	app.options('service', async ({ options, ack }) => {
		const found = services.filter((name) => name.toLowerCase().startsWith(options.value.toLowerCase()));
		await ack({
			options: found.map((name) => ({ text: { type: 'plain_text', text: name }, value: name.toLowerCase() })),
		});
	});
}
