import { expect, it } from 'vitest';
import { main } from '../../src/audit.ts';
import { recordEvents } from '../../src/store/audit.ts';
import { BEFORE_ALL, readEvents } from '../../src/store/audit-reader.ts';
import type { StoreDatabase } from '../../src/store/database.ts';
import type { Store } from '../../src/stores.ts';
import { accepted, BOB, submission } from '../store/support.ts';
import { AUDIT_LINE } from '../support/audit-lines.ts';
import { runHere, startCommand } from '../support/commands.ts';

/** All rows of a database, once they may be read: on PostgreSQL transactions of other tests hold them back. */
export async function settledEvents(db: StoreDatabase['read']) {
	const most = { limit: 10_000 };
	const written = await readEvents(db, BEFORE_ALL, { ...most, isSettled: false });
	const readable = () => readEvents(db, BEFORE_ALL, most);
	await expect.poll(async () => (await readable()).length, { timeout: 20_000 }).toBe(written.length);
	return readable();
}

/** Runs `npm run audit` with these settings. */
export async function runAudit(args: readonly string[], env: Readonly<Record<string, string>>) {
	return withLines(await runHere(main, args, env));
}

function withLines<Ended extends { readonly stdout: string }>({ stdout, ...ended }: Ended) {
	const lines = stdout.split('\n').filter((line) => line !== '');
	return { ...ended, lines: lines.map((line) => AUDIT_LINE.parse(JSON.parse(line))) };
}

interface Running {
	readonly store: Store;
	/** Of the shell in which the command runs. */
	readonly env: Readonly<Record<string, string>>;
}

/** What holds on each store, of which a program runs beside the command. */
export function describeCommand(running: () => Promise<Running>): void {
	it('prints what happened beside the running program, from a day, a time or a line on', async () => {
		const { store, env } = await running();
		const day = Date.parse('2026-11-02T10:00:00Z');
		for (const acceptedAt of [day - 86_400_000, day, day + 60_000])
			await accepted(store, submission({ sessionId: `s${acceptedAt}`, person: BOB, acceptedAt }));
		await settledEvents(store.db.read);
		const all = withLines(await startCommand('audit', [], env).closed);
		expect(all).toMatchObject({ code: 0, stderr: '' });
		expect(all.lines).toMatchObject([1, 2, 3].map(() => ({ action: 'answered', actor: BOB.userId })));
		expect((await runAudit(['--since', '2026-11-02'], env)).lines).toEqual(all.lines.slice(1));
		expect((await runAudit(['--since', '2026-11-02T10:00:01Z'], env)).lines).toEqual(all.lines.slice(2));
		const [first] = all.lines;
		expect((await runAudit(['--after', first?.cursor ?? ''], env)).lines).toEqual(all.lines.slice(1));
	});

	it('prints more than a page, each line once', async () => {
		const { store, env } = await running();
		for (let batch = 0; batch < 3; batch++) {
			const at = Date.parse('2026-12-01T00:00:00Z') + batch;
			await store.db.write(async (trx) =>
				recordEvents(trx, ...Array.from({ length: 400 }, () => ({ at, action: 'settingsChanged' }) as const)),
			);
		}
		await settledEvents(store.db.read);
		const { lines } = await runAudit(['--since', '2026-12-01'], env);
		expect(new Set(lines.map(({ number }) => number)).size).toBe(1_200);
	});

	it.each([
		[['--since'], '--since <value>'],
		[['--since', 'yesterday'], '--since is no day or time'],
		[['--since', '2026-13-45'], '--since is no day or time'],
		[['--after', '7'], '--after is no cursor'],
		[['all'], "'all'"],
		[['--sinse', '2026-11-01'], "'--sinse'"],
	])('refuses %j, and says how it is used', async (args, words) => {
		const { code, stderr, lines } = await runAudit(args, (await running()).env);
		expect([code, lines]).toEqual([1, []]);
		expect(stderr).toContain(words);
		expect(stderr).toContain('Usage: npm run audit');
	});
}
