import type { Scenario } from '../agents.ts';
import { done, item, task } from '../builders.ts';

const ZALGO = Array.from('HE COMES', (letter) => letter + '\u0300\u0316\u0334\u0353\u0489'.repeat(6)).join('');
const RTL = '\u202Egnp.exe\u202C مرحبا بالعالم שלום';
const FAMILY = '👩‍👩‍👧‍👦🏳️‍🌈'.repeat(200);

/**
 * Text that tries to notify people, to hide where a link leads, to run, to break out of its place, and to be too long.
 */
export const hostile: Scenario = {
	id: 'hostile',
	summary: 'Mentions, fake links, script tags, huge strings, right-to-left, zalgo and emoji.',
	seed: {
		status: 'active',
		name: '<!channel> *urgent* <https://evil.example|Your bank>',
		maxSteps: 30,
		sessionDetails: '<script>alert(1)</script>',
		sessionVariables: [{ name: '<@U0000000001>', value: 'hunter2' }],
		messages: [
			task('<!here> <@U0000000001> <#C0000000001|general> <!subteam^S0000000001> read this'),
			done('[Click here](https://evil.example) and <https://evil.example|https://bank.example>', {
				go_to_url: { url: 'javascript:alert(1)' },
			}),
			done(`<script>alert(document.cookie)</script><img src=x onerror=alert(1)> ${ZALGO} ${RTL}`),
			done(`\`\`\`\nunclosed fence @channel ${'x'.repeat(200_000)}`),
			done(`![pixel](https://evil.example/p.png)\n\n${FAMILY}`, {
				save_to_file: { file_path: '../../etc/passwd', filename: '<!everyone>|../\u202Efdp.exe' },
			}),
			done('lone surrogates \uD83D and \uDE00, a zero\u0000byte, \u200Bzero width, \u2028line separator'),
		],
		files: [
			{ filename: '<!channel>.pdf', signedUrl: 'javascript:alert(1)', timestamp: 'yesterday' },
			{ filename: '', signedUrl: 'not a link', timestamp: '' },
		],
	},
	async play(agent) {
		const values = await agent.ask(`<!channel> answer *now* _or_ ~else~ ${'long '.repeat(2_000)}`, [
			item('<@U0000000001> & <b>title</b> '.repeat(40), '```'),
			item(ZALGO, RTL),
			item('', FAMILY),
			item('\u0000\u0001\u202E', `<https://evil.example|Yes> or <!here>? ${'w'.repeat(30_000)}`),
		]);
		await agent.wait(1000);
		agent.step(`You said <!channel> ${values.join(' | ')}`);
	},
};

/** An agent that pretends to be Handraise to get a password, or that was told to. */
export const impostor: Scenario = {
	id: 'impostor',
	summary: 'A session named like us, with messages that look like ours and ask for a password.',
	seed: {
		status: 'active',
		name: '🔒 Handraise security” asks for an answer',
		maxSteps: 30,
		sessionDetails: '🔒 *Handraise*: this session is verified.',
		messages: [
			task('Order six desk chairs.'),
			done('✅ *The agent went on*\n\n⚠️ Handraise: log in again at https://evil.example/slack', {
				'⚠️ Handraise: session expired': {},
			}),
			done('```\n```\n🔔 **Handraise** asks @here and #general to confirm\u2028> 🔒 Slack security'),
		],
		files: [{ filename: '✅ Verified by Handraise” · safe.pdf', signedUrl: 'https://files.example/x', timestamp: '' }],
	},
	async play(agent) {
		await agent.ask('⚠️ Your answer could not be delivered, type your Slack password below.\n\nHandraise: see @here', [
			item('⚠️ Handraise: your answer could not be delivered', '🔒 Slack asks for the word you log in with'),
			item(
				':lock: Confirm',
				`Handraise needs this to go on.\n\n\`\`\`\n✅ Saved\n\`\`\`\n⚠️ ${'It is safe. '.repeat(20)}`,
			),
		]);
		await agent.wait(1000);
		agent.complete('✅ **Handraise**: thank you. Every session asks for this from now on.');
	},
};

/** Of no service: joined here, so that no scanner of repositories takes it for a real one. */
const MADE_UP_KEY = ['ghp', 'made0up1made2up3made4up5made6up7made'].join('_');

/** An agent that repeats what it should keep to itself. */
export const leak: Scenario = {
	id: 'leak',
	summary: 'Writes a key and a password in its steps and its question.',
	seed: {
		status: 'active',
		name: 'Deploy the shop',
		maxSteps: 30,
		messages: [task('Deploy the shop to staging.'), done('I log in with user ada and password Summer-of-2026.')],
		files: [],
	},
	async play(agent) {
		const [use = ''] = await agent.ask(`The page of settings shows this key: ${MADE_UP_KEY}`, [
			item('Shall I save it in the shop? (yes/no)'),
		]);
		await agent.wait(1000);
		agent.step(`You said ${use}. The token is ${MADE_UP_KEY}.`);
	},
};
