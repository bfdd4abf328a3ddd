import { existsSync } from 'node:fs';
import { skipUnless } from './skip-unless.ts';

const SETPRIV = '/usr/bin/setpriv';
/** Starts a program as root without the right to ignore file modes. Another user may not be able to read the clone. */
export const AS_PLAIN_ROOT = [SETPRIV, '--bounding-set=-dac_override,-dac_read_search', '--inh-caps=-all'];

/** The id of the user and group nobody, to whom only root can give a file. */
export const NOBODY = 65_534;
export const WITH_NOBODY = skipUnless(
	process.getuid?.() === 0 && existsSync(SETPRIV),
	'only root can give a file to another user, and needs setpriv',
);
