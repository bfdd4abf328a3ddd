import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { HandraiseError } from '../core/basics.ts';
import { type GivenKeys, keyFileIn } from '../database/encryption.ts';
import { type DatabaseLook, refuseSchema } from '../database/inspect.ts';
import { ciphersOf, fits, readKeyCheck } from '../database/key-ring.ts';
import { DONE } from '../database/reencryption.ts';
import { counted } from '../slack/parts.ts';
import { type Findings, notChecked, type Setup } from './check.ts';

/** Whether the keys are those of the database, and which values need another one. */
export async function checkKey(findings: Findings, { need, settings, database, keys }: Setup) {
	const { ok, warning, failure } = findings;
	const found = await database;
	// Null for a database that could not be read, and for one that this version refuses.
	const usable = found.kind === 'database' && refuseSchema(found.schema) === null ? found : null;
	const look = found.kind === 'absent' || usable?.keyCheck === null ? 'new' : usable;
	const isFile = settings.ENCRYPTION_KEY == null;
	if (isFile && need('DATABASE_URL') !== null) throw notChecked('ENCRYPTION_KEY is not set');
	const path = keyFileIn(resolve(need('DATA_DIR')));
	const source = isFile ? path : 'ENCRYPTION_KEY';
	let given: GivenKeys;
	try {
		given = await keys();
	} catch (error) {
		if (error instanceof HandraiseError) {
			const advice = error.message.includes('FORMER')
				? ''
				: ' For an existing database, restore the former key instead.';
			return error.message.split('\n').map((problem) => failure(`${problem}${advice}`));
		}
		const { code = '' } = error as NodeJS.ErrnoException;
		if (!['ENOENT', 'ENOTDIR'].includes(code))
			return failure(`${path} cannot be read by this user: change its owner (chown).`);
		if (look === null) throw notChecked(`${path} does not exist and the database cannot be used`);
		if (look === 'new') return ok(`the first start creates it in ${path}: keep a copy of it with the backups.`);
		return failure(
			`${path} is gone, and the database was made with a key: restore it (or set ENCRYPTION_KEY) before the next ` +
				'start, or the stored answers cannot be read.',
		);
	}
	if (look === null) ok(`${source} is well-formed; it was not tried, because the database cannot be used.`);
	else if (look === 'new') ok(`${source} is well-formed; the database is new and has no key yet.`);
	else tryKeys(findings, { ...look, writesFormer: settings.ENCRYPTION_KEY_WRITE === 'former' }, source, given);
	const mode = isFile ? statSync(path).mode & 0o777 : 0;
	const shown = mode.toString(8).padStart(4, '0');
	if ((mode & 0o077) !== 0)
		warning(`${path} has mode ${shown}, so others on this machine may use the key: chmod 600 ${path}`);
}

type Look = DatabaseLook & { readonly inUse: boolean; readonly writesFormer: boolean };

function tryKeys(findings: Findings, look: Look, source: string, given: GivenKeys) {
	const { ok, warning, failure } = findings;
	const { otherKey = 0, damaged = 0 } = look.values ?? {};
	if (damaged > 0) warning(`no key opens ${counted(damaged, 'stored value')}, because of damage. They are left alone.`);
	const ciphers = ciphersOf([given.own, ...given.formers], look.keySalt);
	const check = readKeyCheck(look.keyCheck);
	if (fits(check, ciphers) && otherKey === 0) {
		if (given.formers.length === 0) return ok(`${source} is the one the database was made with.`);
		return tellProgress(findings, look, fits(check, ciphers.slice(0, 1)));
	}
	if (check.some((sealed) => fits([sealed], ciphers))) {
		const by = otherKey === 0 ? '' : `, by ${counted(otherKey, 'stored value')}`;
		return failure(
			`a former key is needed that is not given${by}: set it as ENCRYPTION_KEY_FORMER again until this says that ` +
				'none is.',
		);
	}
	const names = given.formers.length === 0 ? `${source} is not` : `neither ${source} nor ENCRYPTION_KEY_FORMER is`;
	const what = otherKey === 0 ? 'stored answers and drafts' : counted(otherKey, 'stored value');
	const why = `${names} the key the database was made with: ${what} cannot be read`;
	return failure(`${why}. Restore the former key; docs/leaks.md tells of a lost one.`);
}

/** `isOver`: the program has found no more values of former keys. */
function tellProgress({ ok, warning }: Findings, look: Look, isOver: boolean) {
	const { values, dialect, inUse, isCompactionDue, writesFormer } = look;
	if (values === null)
		return ok(
			'the keys fit. Which values need a former one is counted after the migration: keep ENCRYPTION_KEY_FORMER.',
		);
	const { needed } = values;
	const who = inUse ? 'The running Handraise' : 'Handraise, when it runs,';
	if (needed === 0 && isOver && !writesFormer) {
		if (!isCompactionDue) return ok(`${DONE[dialect]}.`);
		return (inUse ? warning : ok)(
			'all is encrypted again, but SQLite’s file still holds what the former key opens: keep ' +
				`ENCRYPTION_KEY_FORMER. ${who} compacts the file; if this stays, end the program that reads the database ` +
				'(a backup, a shell).',
		);
	}
	const next = writesFormer
		? 'ENCRYPTION_KEY_WRITE is former, so new ones need it too: remove that when all replicas have both keys.'
		: `${who} encrypts them with ENCRYPTION_KEY${dialect === 'sqlite' ? ' and compacts the file' : ''}.`;
	return ok(`ENCRYPTION_KEY_FORMER is needed by ${counted(needed, 'stored value')} still: keep it. ${next}`);
}
