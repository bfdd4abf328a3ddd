import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Findings, findingLine, findingsOf } from '../../../src/operator/doctor/check.ts';
import { checkPostgres } from '../../../src/operator/doctor/environment.ts';
import { OPTIONAL_SCOPES, REQUIRED_SCOPES } from '../../../src/operator/doctor/slack.ts';
import type { PostgresLook } from '../../../src/store/inspect.ts';
import { OWN_SCHEMA } from '../../../src/store/migrate.ts';

function linesOf(name: string, check: (findings: Findings) => unknown): string[] {
	const findings = findingsOf(name);
	check(findings);
	return findings.all.map(findingLine);
}

it('expects the scopes of the manifest', () => {
	const manifest = parse(readFileSync(new URL('../../../manifest.yml', import.meta.url), 'utf8'));
	const { bot, bot_optional: optional } = manifest.oauth_config.scopes;
	expect(new Set([...Object.keys(REQUIRED_SCOPES), ...Object.keys(OPTIONAL_SCOPES)])).toEqual(new Set(bot));
	expect(new Set(Object.keys(OPTIONAL_SCOPES))).toEqual(new Set(optional));
});

const WELL = {
	kind: 'database',
	version: '18.4',
	major: 18,
	readOnly: false,
	inUse: false,
	mayMigrate: true,
	synced: 'always',
	isAhead: false,
	isolation: 'read committed',
	forbidden: [],
	protection: 'none',
	isLocal: true,
	schema: OWN_SCHEMA,
	keyCheck: null,
	keySalt: null,
	dialect: 'postgres',
	isCompactionDue: false,
	values: null,
	workspaces: [],
	answerers: new Map(),
	addresses: [],
} as const satisfies PostgresLook;

it.each<[string, Partial<typeof WELL> | object, string[]]>([
	['in order', {}, [`✓ Database: PostgreSQL 18.4, at schema ${OWN_SCHEMA}.`]],
	['new', { schema: null }, ['✓ Database: PostgreSQL 18.4; empty, the first start sets it up.']],
	['in order with a user who may not create tables', { mayMigrate: false }, [expect.stringMatching(/^✓/)]],
	[
		'new with a user who may not create tables',
		{ schema: null, mayMigrate: false },
		[
			expect.stringMatching(
				/^✗ .*may not create or change tables: .*npm run migrate .*, or grant create on the schema\.$/,
			),
		],
	],
	[
		'of 1.1.0, with a user who does not own it',
		{ schema: 34, mayMigrate: false },
		[expect.stringMatching(/^✗ .*has schema 34, which a Handraise before 2\.0\.0 made; .* Start 2\.0\.0 with it once/)],
	],
	[
		'of a newer version with a user who does not own it',
		{ schema: 999, mayMigrate: false },
		[expect.stringMatching(/^✗ .*has schema 999, which a newer Handraise made/)],
	],
	['a standby', { readOnly: true }, [expect.stringMatching(/^✗ .* read only \(a standby\?\)/)]],
	...(
		[
			['old', { version: '13.2', major: 13 }, /^! .*upgrade it/],
			[
				'of another isolation',
				{ isolation: 'serializable' },
				/^✓ .* serializable by default; Handraise makes its own read committed/,
			],
			['synchronised late', { synced: 'late' }, /^! .*synchronous_commit=off/],
			['copied by a standby that no commit waits for', { isAhead: true }, /^! .*a failover can lose saved answers/],
			['reached without TLS', { isLocal: false }, /^! .*not encrypted, and leaves this machine: add sslmode=/],
		] as const
	).map(([what, difference, line]): [string, object, string[]] => [
		what,
		difference,
		[expect.stringMatching(/^✓/), expect.stringMatching(line)],
	]),
])('checks a PostgreSQL that is %s', (_, difference, lines) => {
	expect(linesOf('Database', (findings) => checkPostgres(findings, { ...WELL, ...difference }))).toEqual(lines);
});

it('removes control characters from texts from outside', () => {
	const text = 'it is \u001b[2Jada\nin the workspace \u202eAcme.';
	expect(findingLine({ verdict: 'ok', check: 'Bot token', text })).toBe(
		'✓ Bot token: it is  [2Jada in the workspace  Acme.',
	);
});
