import { hostname, userInfo } from 'node:os';

/** For the audit: `handraise@host`. With sudo also who used it. */
export function whoRunsIt(): string {
	const { SUDO_USER } = process.env;
	let account = `uid ${process.getuid?.() ?? '?'}`;
	try {
		account = userInfo().username;
	} catch {
		// An account without a name, as in containers.
	}
	return `${SUDO_USER === undefined ? '' : `${SUDO_USER} as `}${account}@${hostname()}`.slice(0, 300);
}
