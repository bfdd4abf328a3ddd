import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readOptions } from '../test/support/options.ts';
import { launchBrowser } from './browser.ts';
import { bundlePage } from './bundle.ts';

/*
 * `npm run bench -- sandbox`: the time from the command to the first modal, and the size of the page. The browser runs
 * before the clock starts, as a visitor's does.
 */

const ROUNDS = 3;

interface Round {
	/** Until the terminal shows the address. */
	address: number;
	/** Until the page can be used. */
	page: number;
	/** Until `/session demo`, typed at once, shows its question. */
	modal: number;
}

readOptions('npm run bench -- sandbox', {});
const browser = await launchBrowser();

async function round(): Promise<Round> {
	const start = performance.now();
	const since = () => Math.round(performance.now() - start);
	// A process group, so that npm, the sandbox and the app all get the signal.
	const child = spawn('npm', ['run', '--silent', 'sandbox', '--', '--port', '0'], {
		stdio: ['ignore', 'pipe', 'inherit'],
		detached: true,
	});
	const exit = once(child, 'exit');
	try {
		let output = '';
		let url: string | undefined;
		for await (const data of child.stdout) {
			output += String(data);
			url = /http:\/\/127\.0\.0\.1:\d+\//.exec(output)?.[0];
			if (url !== undefined) break;
		}
		if (url === undefined) throw new Error(`The sandbox printed no address: ${output}`);
		const address = since();
		const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
		const page = await context.newPage();
		await page.goto(url);
		const composer = page.locator('#composer');
		await composer.waitFor();
		const shown = since();
		const bot = page.getByText('The bot is running');
		await bot.waitFor({ state: 'attached' });
		await composer.fill('/session demo');
		await composer.press('Enter');
		await page.getByRole('dialog').getByRole('radio').first().waitFor();
		const modal = since();
		await context.close();
		return { address, page: shown, modal };
	} finally {
		if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
		await exit;
	}
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const rounds: Round[] = [];
try {
	for (let count = 0; count < ROUNDS; count++) rounds.push(await round());
} finally {
	await browser.close();
}
console.log(`From \`npm run sandbox\`, median of ${ROUNDS} runs:`);
console.log(`  the address in the terminal   ${median(rounds.map((one) => one.address))} ms`);
console.log(`  the page can be used          ${median(rounds.map((one) => one.page))} ms`);
console.log(`  the first modal, its question ${median(rounds.map((one) => one.modal))} ms`);
console.log('The page, minified, not compressed:');
for (const [name, { content }] of await bundlePage()) {
	console.log(`  ${name.padEnd(28)} ${(content.length / 1024).toFixed(0).padStart(5)} kB`);
}
