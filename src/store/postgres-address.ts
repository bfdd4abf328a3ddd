import { readFileSync } from 'node:fs';

/** How the connection is protected, in libpq's words. `unverified`: encrypted, to whoever answers. */
export type Protection = 'none' | 'unverified' | 'verify-ca' | 'verify-full';

const TLS_PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'] as const;
/** Hosting services put them into their addresses. The program has a name and a time-out of its own. */
const WITHOUT_EFFECT = ['application_name', 'connect_timeout'] as const;
/** Ours to read: pg reads them otherwise. */
const OWN_PARAMETERS = [...TLS_PARAMETERS, 'channel_binding', ...WITHOUT_EFFECT] as const;
/** pg ignores what it does not know, also a misspelt `sslmode`. */
const PARAMETERS: readonly string[] = [...OWN_PARAMETERS, 'host', 'port', 'user', 'password', 'options'];
/**
 * Parameters of libpq, node-postgres and poolers that Handraise does not take. Any other name may be a part of a
 * password.
 */
// biome-ignore format: a list of words
const NAMED: readonly string[] = [
	'client_encoding', 'dbname', 'fallback_application_name', 'gssencmode', 'hostaddr', 'keepalives', 'krbsrvname',
	'load_balance_hosts', 'passfile', 'require_auth', 'service', 'ssl', 'ssl_max_protocol_version',
	'ssl_min_protocol_version', 'sslcompression', 'sslcrl', 'sslnegotiation', 'sslpassword', 'sslsni',
	'statement_timeout', 'target_session_attrs', 'tcp_user_timeout', 'uselibpqcompat',
	'connection_limit', 'pgbouncer', 'pool_timeout', 'schema',
];

const CHANNEL_BINDINGS: readonly string[] = ['require', 'prefer', 'disable'];
const MODES: Readonly<Record<string, Protection>> = {
	disable: 'none',
	require: 'unverified',
	// A word of node-postgres.
	'no-verify': 'unverified',
	'verify-ca': 'verify-ca',
	'verify-full': 'verify-full',
};

/** The most connections of one process, and how long a statement may take in milliseconds. */
export type PoolOptions = typeof SERVING;
/** The options of a replica. The time-out is below the 3 s that Slack waits. */
export const SERVING = { size: 10, statementMs: 2_000 };

/** What is wrong with a `DATABASE_URL`: the end of a sentence, without any of its content. */
export class DatabaseUrlError extends Error {}

/**
 * What pg needs for `DATABASE_URL`. Its parameters mean what libpq says: pg itself reads `require` as `verify-full`,
 * its next version will not, and some parameters replace options of the program. Throws `DatabaseUrlError`.
 */
export function readDatabaseUrl(databaseUrl: string) {
	const url = URL.parse(databaseUrl);
	const given = new Map(url?.searchParams);
	const host = given.get('host') ?? url?.hostname ?? '';
	if (url === null || !/^postgres(ql)?:$/.test(url.protocol) || host.includes(','))
		throw new DatabaseUrlError(
			'is not a PostgreSQL address with one host: use one like postgres://user:password@host:5432/database',
		);
	const unknown = [...given.keys()].find((name) => !PARAMETERS.includes(name));
	if (unknown !== undefined)
		throw new DatabaseUrlError(
			`has a parameter that Handraise does not know${NAMED.includes(unknown) ? ` (${unknown})` : ''}: it takes ` +
				`${PARAMETERS.join(', ')}. In a password, write ? as %3F`,
		);
	const binding = given.get('channel_binding');
	if (binding !== undefined && !CHANNEL_BINDINGS.includes(binding))
		throw new DatabaseUrlError(`has a channel_binding other than ${CHANNEL_BINDINGS.join(', ')}`);
	const [mode, rootCert, certificate, key] = TLS_PARAMETERS.map((name) => given.get(name));
	const protection = protectionOf(mode, rootCert);
	for (const name of OWN_PARAMETERS) if (given.has(name)) url.searchParams.delete(name);
	const tls = {
		// Without it, the authorities that Node.js and NODE_EXTRA_CA_CERTS name count.
		...(rootCert !== undefined && rootCert !== 'system' && { ca: contentOf('sslrootcert', rootCert) }),
		...(certificate !== undefined && { cert: contentOf('sslcert', certificate) }),
		...(key !== undefined && { key: contentOf('sslkey', key) }),
		rejectUnauthorized: protection !== 'unverified',
		...(protection === 'verify-ca' && { checkServerIdentity: () => undefined }),
	};
	return {
		protection,
		isLocal: /^(|\/.*|%2f.*|localhost|127\..*|\[?::1\]?)$/i.test(host),
		/** For pg. It never goes on without TLS when `ssl` is set. */
		options: {
			connectionString: url.href,
			ssl: protection === 'none' ? false : tls,
			// Where the server offers it: pg cannot insist on it.
			...(binding !== undefined && binding !== 'disable' && { enableChannelBinding: true }),
		},
	};
}

function protectionOf(mode: string | undefined, rootCert: string | undefined): Protection {
	if (mode === undefined && rootCert === undefined) return 'none';
	if (mode === undefined) throw new DatabaseUrlError('has sslrootcert and no sslmode: add sslmode=verify-full');
	const protection = MODES[mode];
	if (protection === undefined)
		throw new DatabaseUrlError(
			'has an sslmode that cannot be kept (prefer and allow would go on without TLS): use verify-full, ' +
				'verify-ca, require or disable',
		);
	if (mode === 'verify-ca' && rootCert === undefined)
		throw new DatabaseUrlError('has sslmode=verify-ca and no sslrootcert: add the file of the authority');
	if (rootCert === 'system' && mode !== 'verify-full')
		throw new DatabaseUrlError('has sslrootcert=system, which proves a server only with sslmode=verify-full');
	return mode === 'require' && rootCert !== undefined ? 'verify-ca' : protection;
}

function contentOf(name: string, path: string): string {
	try {
		return readFileSync(path, 'utf8');
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		throw new DatabaseUrlError(`cannot be used: the file that ${name} names cannot be read (${code})`);
	}
}

/** Why TLS failed and what to do, as the end of a sentence; null for another failure. */
export function tlsProblemOf(error: unknown): string | null {
	const { code = '', message } = (error ?? {}) as { code?: string; message?: string };
	// pg gives no code for it.
	if (message === 'The server does not support SSL connections')
		return 'it offers no TLS, which sslmode in DATABASE_URL asks for: turn ssl on there, or use sslmode=disable';
	if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
		return `its certificate is for another host name (${code}): use the name of the certificate in DATABASE_URL`;
	if (code === 'CERT_HAS_EXPIRED') return `its certificate has expired (${code}): renew it`;
	if (/CERT|ISSUER|LEAF_SIGNATURE/.test(code))
		return (
			`its certificate is of no trusted authority (${code}): name the file of the right one, sslrootcert=<file> in ` +
			'DATABASE_URL'
		);
	return /^ERR_O?SSL_/.test(code) ? `TLS failed (${code}): check the versions and certificates of both sides` : null;
}
