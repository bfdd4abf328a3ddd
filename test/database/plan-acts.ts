import { item } from '../../sandbox/session-service/builders.ts';
import { inboxApp } from '../features/inbox/harness.ts';
import { ESCALATION, REMINDER } from '../support/sentences.ts';
import { type ExaminedDatabase, recordStatements } from './plans.ts';

const FLIGHT = item('Which flight should I book?', 'One of: LH 1173, TP 570');
const COLOUR = 'Which colour?';

/** The program on a database, everything that people do with it often, and what its loops do meanwhile. */
export async function busyApp(env: Readonly<Record<string, string>>) {
	const app = await inboxApp({
		env: { DISCOVER_SESSIONS: 'true', REMIND_AFTER: '40s', ESCALATE_AFTER: '90s', UNDO_SECONDS: '5', ...env },
		service: { list: { mode: 'on' } },
	});

	async function asked(name: string, question: string | typeof FLIGHT = FLIGHT) {
		const id = await app.watched({ name });
		app.ask(id, [question], '');
		return { id, post: await app.threadSays(id, /Which (?:flight|colour)/) };
	}

	async function everything(): Promise<void> {
		for (const who of ['ada', 'grace']) await app.slack.as(who).modal()?.close(true);
		await app.openHome('ada');
		await app.command('/session watch all', 'ada', '#secret');
		const pressed = await asked('By press');
		await pressed.post.press('LH 1173');
		await app.answered(pressed.id);
		const typed = await asked('By form', COLOUR);
		for (const who of ['ada', 'grace']) {
			await app.seenBy(who, typed.post).press('Answer');
			await app.until(() => app.slack.as(who).modal()?.text().includes(COLOUR));
			await app.slack.as(who).modal()?.fill(0, 'grey');
			await app.pass(3_000);
		}
		await app.slack.as('grace').modal()?.submit();
		await app.answered(typed.id);
		const open = await asked('Nobody answers');
		await app.threadSays(open.id, REMINDER);
		await app.threadSays(open.id, ESCALATION);
		await app.openHome('ada');
		await app.slack.as('ada').modal()?.close(true);
		await open.post.press('Answer…');
		await app.command('/session list');
		await app.command('/session history');
		await app.toldAfter(() => app.slack.as('ada').mention('#agents', 'TP 570', { thread: app.card(open.id) ?? '' }));
		app.ask(app.session({ name: 'Raised hand' }), [FLIGHT], '');
		await app.until(() => app.inChannel('#secret').find((post) => post.text().includes('Raised hand')));
		await app.command(`/session unwatch ${open.id}`);
		await app.pass(60_000);
	}

	return { ...app, everything };
}

/** What the program does with tables that have grown, as statements that read one whole. */
export async function scansOfProgram(
	app: Awaited<ReturnType<typeof busyApp>>,
	examine: () => Promise<ExaminedDatabase>,
): Promise<string[]> {
	await app.everything();
	await app.stop();
	const filled = await examine();
	await filled.fill();
	await filled.close();
	const statements = recordStatements();
	await app.restart();
	await app.everything();
	await app.stop();
	if (statements.size < 100) throw new Error(`only ${statements.size} statements were recorded`);
	const examined = await examine();
	const scans = await examined.scansOf([...statements.values()]);
	await examined.close();
	return [...new Set(scans)];
}
