import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

interface Component {
	readonly name: string;
	readonly properties?: readonly { readonly name: string }[];
	readonly licenses?: readonly { readonly license?: { readonly id?: string } }[];
}

it('the documented command lists what production needs, and each part has a licence of those in SECURITY.md', () => {
	const page = readFileSync(`${ROOT}SECURITY.md`, 'utf8').replaceAll(/\s+/g, ' ');
	const [, command = ''] = /`npm (sbom [^`]*)`/.exec(page) ?? [];
	const [, named = ''] = /packages\) has (.*?)\. A test/.exec(page) ?? [];
	const allowed = named.split(/, | or /);
	const printed = execFileSync('npm', command.split(' '), { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 });
	const { components: all } = JSON.parse(printed) as { components: readonly Component[] };
	const development = 'cdx:npm:package:development';
	expect(page).toContain(development);
	const components = all.filter(({ properties = [] }) => !properties.some(({ name }) => name === development));
	const names = components.map(({ name }) => name);
	const { dependencies } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { dependencies: object };
	expect(Object.keys(dependencies).filter((name) => !names.includes(name))).toEqual([]);
	expect(names).not.toContain('vitest');
	const others = components.filter(
		({ licenses = [] }) =>
			licenses.length === 0 || licenses.some(({ license }) => !allowed.includes(license?.id ?? '')),
	);
	expect(others.map(({ name }) => name)).toEqual([]);
});
