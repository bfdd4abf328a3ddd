import { HandraiseError } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import { normalAddress } from '../kernel/values.ts';
import {
	type Cipher,
	change,
	columnsOf,
	type Db,
	placeIn,
	SEALED_COLUMNS,
	type StoreDatabase,
	sql,
	TABLE_NAMES,
	TABLES,
	type TableName,
} from './database.ts';
import { sealAnew } from './sealing.ts';

/* The address of the session service, which stands in the rows of all that is about a session. */

/** How many live rows a database has for an address. Without any, it has only history for it. */
export interface AddressRows {
	readonly service: string;
	/** Not sent yet, or waiting for their author. */
	readonly answers: number;
	/** With those that *watch all* discovers. Open questions come with them. */
	readonly watches: number;
	/** Sessions that a list of who may answer decides about. */
	readonly lists: number;
}

/**
 * Selects `AddressRows`, also on the doctor's own connections, so without parameters. Of answers, of which there may be
 * millions, it finds the addresses one after the other in an index.
 */
export const ADDRESSES_QUERY = `
	with recursive known (service) as (
		select min(service) from answers
		union all select (select min(service) from answers where answers.service > known.service) from known
			where known.service is not null
	) select service, cast(sum(answers) as integer) as answers, cast(sum(watches) as integer) as watches,
		cast(sum(lists) as integer) as lists from (
		select service, 0 as answers, 0 as watches, 0 as lists from known where service is not null
		union all select service, 1, 0, 0 from answers where state in ('accepted', 'delivering', 'waiting')
		union all select service, 0, 1, 0 from watches where ended_at is null
		union all select service, 0, 1, 0 from discoveries
		union all select service, 0, 0, 1 from answer_rules
	) as rows_of_addresses group by service order by service`;

const isLive = ({ answers, watches, lists }: AddressRows) => answers + watches + lists > 0;

/**
 * What rows of other addresses mean for `serviceUrl`. `own`: the address as the database spells it, because versions
 * before 2.0.0 stored it as it was written; of two spellings the one with live rows. `kind`: `own` when no other
 * address has live rows, `both` when others have some too, and `moved` when only others have some.
 */
export function judgeAddresses(rows: readonly AddressRows[], serviceUrl: string) {
	const spellings = rows.filter(({ service }) => URL.canParse(service) && normalAddress(service) === serviceUrl);
	// No query finds rows under a second spelling, so they count as those of another address.
	const live = spellings.filter(isLive);
	const isAsGiven = ({ service }: AddressRows) => service === serviceUrl;
	const own = live.find(isAsGiven) ?? live[0] ?? spellings.find(isAsGiven) ?? spellings[0];
	const others = rows.filter((row) => isLive(row) && row !== own);
	const kind = others.length === 0 ? 'own' : live.length > 0 ? 'both' : 'moved';
	return { kind, own: own?.service ?? serviceUrl, others } as const;
}

/** The message for an operator whose database has live rows for other addresses alone. */
export function movedWords(others: readonly AddressRows[], serviceUrl: string): string {
	const theirs = others.map(({ service }) => service).join(' and ');
	return (
		`The watches, lists and answers in the database are for ${theirs}, and SESSION_SERVICE_URL is ${serviceUrl}. If ` +
		'that is a mistake, correct it. If the service has moved, run `npm run migrate -- --service-moved`. If it is ' +
		'another service, set DATA_DIR to an empty directory or DATABASE_URL to an empty database.'
	);
}

/**
 * The address by which rows are written and found. Warns of live rows of other addresses, which are left alone.
 * @throws HandraiseError `service_moved` when all live rows are of others: their answers would wait for ever, and
 * nobody would be told of what is watched
 */
export async function addressFor(db: StoreDatabase, serviceUrl: string, log: Log): Promise<string> {
	const { rows } = await sql.raw<AddressRows>(ADDRESSES_QUERY).execute(db.read);
	const { kind, own, others } = judgeAddresses(rows, serviceUrl);
	if (kind === 'moved') throw new HandraiseError(movedWords(others, serviceUrl), { code: 'service_moved' });
	if (kind === 'both') log.warn('other_service_address', { service: own, others });
	return own;
}

/** From one address to another. */
export interface Move {
	readonly from: string;
	readonly to: string;
}

const OF_SERVICE = TABLE_NAMES.filter((table) => columnsOf(table).some(([column]) => column === 'service'));

/** The addresses other than `to` that rows have. */
export async function addressesBeside(db: Db, to: string): Promise<readonly string[]> {
	const each = OF_SERVICE.map((table) => sql`select distinct service from ${sql.table(table)}`);
	const { rows } = await sql<{ service: string | null }>`${sql.join(each, sql` union `)} order by service`.execute(db);
	return rows.flatMap(({ service }) => (service === null || service === to ? [] : service));
}

/**
 * Puts `to` in the place of an address in all rows, and encrypts anew what is bound to it. What no key opens is damaged
 * and stays so. Of rows whose key both addresses have (a claim, a snooze, a list's rule), the one of `to` stays.
 */
export async function moveToService(trx: Db, cipher: Cipher, { from, to }: Move): Promise<void> {
	for (const table of OF_SERVICE) {
		const keys: readonly string[] = TABLES[table].key;
		if (keys.includes('service')) await removeDoubles(trx, table, { from, to });
		await change(trx, table as 'watches', { service: from }, { service: to }).execute();
		for (const column of SEALED_COLUMNS) {
			if (column.table !== table || ![...keys, ...column.bound].includes('service')) continue;
			// Values that `to` had before do not open in the place of `from`, and stay.
			await sealAnew(trx, column, sql`service = ${to}`, (sealed, place, row) => {
				const text = cipher.decrypt(sealed, placeIn(column, { ...row, service: from }));
				return text === null ? null : cipher.encrypt(text, place);
			});
		}
	}
	// Budgets, and who lists: outdated after minutes.
	await sql`delete from shared_states where name in (${`budget:${from}`}, ${`list:${from}`})`.execute(trx);
}

async function removeDoubles(trx: Db, table: TableName, { from, to }: Move): Promise<void> {
	const others = TABLES[table].key.filter((key) => key !== 'service');
	const same = others.map((key) => sql`other.${sql.ref(key)} = ${sql.table(table)}.${sql.ref(key)}`);
	const isDouble = sql.join([sql`other.service = ${to}`, ...same], sql` and `);
	await sql`delete from ${sql.table(table)} where service = ${from}
		and exists (select 1 from ${sql.table(table)} as other where ${isDouble})`.execute(trx);
}
