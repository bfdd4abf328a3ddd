import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { HandraiseError } from '../../kernel/errors.ts';
import { counted } from '../../slack/phrases.ts';
import { ciphersOf, fits, type GivenKeys, readKeyCheck } from '../../store/encryption.ts';
import type { DatabaseLook } from '../../store/inspect.ts';
import { keyFileIn } from '../../store/key-file.ts';
import { refuseKeys } from '../../store/keys.ts';
import { refuseSchema } from '../../store/migrate.ts';
import { type Findings, notChecked, type Setup } from './check.ts';

/** Whether the keys are those of the database, and which values need another one. */
export async function checkKey(findings: Findings, { need, settings, database, keys }: Setup) {
	const { ok, warning, failure } = findings;
	const found = await database;
	// Null for a database that could not be read, and for one that this version refuses.
	const usable = found.kind === 'database' && refuseSchema(found.schema) === null ? found : null;
	// Whoever gave up a lost key has removed its check value, and what it encrypted is still there.
	const isNew = usable?.keyCheck === null && Object.values(usable.values ?? {}).every((count) => count === 0);
	const look = found.kind === 'absent' || isNew ? 'new' : usable;
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
			`${path} is gone, and the database has a key: restore it (or set ENCRYPTION_KEY) before the next ` +
				'start, or the stored answers cannot be read.',
		);
	}
	if (look === null) ok(`${source} is well-formed; it was not tried, because the database cannot be used.`);
	else if (look === 'new') ok(`${source} is well-formed; the database is new and has no key yet.`);
	else tryKeys(findings, look, source, given);
	const mode = isFile ? statSync(path).mode & 0o777 : 0;
	const shown = mode.toString(8).padStart(4, '0');
	if ((mode & 0o077) !== 0)
		warning(`${path} has mode ${shown}, so others on this machine may use the key: chmod 600 ${path}`);
}

type Look = DatabaseLook & { readonly inUse: boolean };

function tryKeys(findings: Findings, look: Look, source: string, given: GivenKeys) {
	const { ok, warning, failure } = findings;
	const { needed = 0, otherKey = 0, damaged = 0 } = look.values ?? {};
	if (damaged > 0) warning(`no key opens ${counted(damaged, 'stored value')}, because of damage. They are left alone.`);
	const names = given.formers.length === 0 ? `${source} is not` : `neither ${source} nor ENCRYPTION_KEY_FORMER is`;
	const ciphers = ciphersOf([given.own, ...given.formers], look.keySalt);
	const check = readKeyCheck(look.keyCheck);
	const refusal = refuseKeys(check, ciphers);
	if (refusal !== null) return failure(refusal.message);
	if (look.keyCheck !== null && !fits(check, ciphers)) {
		const what = otherKey === 0 ? 'stored answers and drafts' : counted(otherKey, 'stored value');
		return failure(
			`${names} the key of the database: ${what} cannot be read. Set that key, or name it ` +
				`in ENCRYPTION_KEY_FORMER and run npm run rekey; ${LOST}`,
		);
	}
	if (otherKey > 0)
		return failure(
			`${counted(otherKey, 'stored value')} cannot be read without a former key that is not given: stop Handraise, ` +
				'name that in ENCRYPTION_KEY_FORMER, and run npm run rekey.',
		);
	if (needed > 0)
		return failure(
			`${counted(needed, 'stored value')} cannot be read without ENCRYPTION_KEY_FORMER: stop Handraise, and run npm ` +
				'run rekey.',
		);
	if (given.formers.length === 0) return ok(`${source} is that of the database.`);
	if (!look.isCompactionDue) return ok(DONE[look.dialect]);
	return (look.inUse ? warning : ok)(
		'no stored value needs ENCRYPTION_KEY_FORMER, but SQLite’s file still holds what it opens. ' +
			`${look.inUse ? 'The running Handraise' : 'Handraise, when it runs,'} writes the file anew; if this stays, end ` +
			'the program that reads the database (a backup, a shell).',
	);
}

const LOST = 'docs/leaks.md tells of a lost one.';
const DONE = {
	sqlite:
		'no stored value needs ENCRYPTION_KEY_FORMER, nor does handraise.db hold one that does: remove it. Backups still ' +
		'need it, also handraise.db.before-… of a restore.',
	postgres:
		'no stored value needs ENCRYPTION_KEY_FORMER: remove it. Backups, and dead rows until VACUUM, still need it.',
};
