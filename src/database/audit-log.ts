import { randomUUID } from 'node:crypto';
import { type Clock, type Log, repeat } from '../core/basics.ts';
import { print } from '../core/output.ts';
import { type AuditCursor, BEFORE_ALL, cursorOf, lineOf, readEvents } from './audit-reader.ts';
import { addNew, change, type Db, from, type StoreDatabase } from './database.ts';

export { createAuditStore, recordRestore } from './audit.ts';

const NAME = { name: 'audit_log' };
/** Few enough that a slow reader takes them within the lease. */
const PAGE = 100;
const LEASE_MS = 30_000;
const EVERY_MS = 1_000;

/** In `meta`. Rows up to `printed` are printed, those up to `begun` may be: by the process with `token`, until then. */
type State = { readonly token: string; readonly until: number } & Record<'printed' | 'begun', AuditCursor>;

async function stateIn(db: Db): Promise<State> {
	const query = from(db, 'meta', NAME).select('value');
	const row = await query.$if(db.isTransaction, (one) => one.forUpdate()).executeTakeFirst();
	return row?.value ? JSON.parse(row.value) : { token: '', until: 0, printed: BEFORE_ALL, begun: BEFORE_ALL };
}
const write = (trx: Db, state: State) => change(trx, 'meta', NAME, { value: JSON.stringify(state) }).execute();

/** Prints the audit for a collector: each row once, or marked where a crash may have printed it before. */
export function createAuditLog({ db, clock, log }: { db: StoreDatabase; clock: Clock; log: Log }) {
	const stopping = new AbortController();
	let loop: Promise<void> | null = null;
	/** All rows up to here are printed. */
	const printed = async () => (await stateIn(db.read)).printed;

	/** Notes that the next rows may be printed from now on, and returns their lines. Null: another process prints. */
	async function take(trx: Db, token: string) {
		await addNew(trx, 'meta', { ...NAME, value: '' }).execute();
		const { begun, until, ...state } = await stateIn(trx);
		const now = clock.now();
		// SQLite has one process: another that printed is dead.
		if (db.dialect === 'postgres' && until > now) return null;
		const rows = await readEvents(trx, state.printed, { limit: PAGE });
		const last = rows.at(-1);
		if (last === undefined) return null;
		await write(trx, { ...state, token, until: now + LEASE_MS, begun: cursorOf(last) });
		const isRepeat = ({ transactionId: id, number }: AuditCursor) =>
			id < begun.transactionId || (id === begun.transactionId && number <= begun.number);
		return rows.map((row) => `${JSON.stringify({ ...lineOf(row), ...(isRepeat(row) && { repeated: true }) })}\n`);
	}

	async function turn(): Promise<number> {
		const token = randomUUID();
		const isNews = (await readEvents(db.read, await printed(), { limit: 1 })).length > 0;
		const lines = isNews ? await db.write((trx) => take(trx, token)) : null;
		if (lines === null) return EVERY_MS;
		await print(lines.join(''));
		await db.write(async (trx) => {
			const { begun, ...state } = await stateIn(trx);
			if (state.token === token) await write(trx, { token: '', until: 0, printed: begun, begun });
		});
		return 0;
	}

	return {
		printed,
		start(): void {
			const onFailure = (code: string) => log.warn('audit_not_printed', { code });
			loop ??= repeat(clock.sleep, stopping.signal, turn, { retryMs: EVERY_MS, onFailure });
		},
		/** Waits a moment for lines that are being printed. */
		async stop(): Promise<void> {
			stopping.abort();
			await Promise.race([loop, clock.sleep(EVERY_MS)]);
		},
	};
}

export type AuditLog = ReturnType<typeof createAuditLog>;
