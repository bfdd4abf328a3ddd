import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const CHECK = new URL('check.ts', import.meta.url).pathname;

let path: string;
beforeEach(() => {
	path = mkdtempSync(join(tmpdir(), 'handraise-tools-'));
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

function check() {
	const { status, stdout, stderr } = spawnSync(process.execPath, [CHECK], { env: { PATH: path }, encoding: 'utf8' });
	return { status, lines: `${stdout}${stderr}`.trimEnd().split('\n') };
}

function install(tool: string, script: string): void {
	writeFileSync(join(path, tool), `#!/bin/sh\n${script}\n`);
	chmodSync(join(path, tool), 0o755);
}

describe('npm run check:ops', () => {
	it('says in words what is not installed, and does not fail', () => {
		const { status, lines } = check();
		expect(status).toBe(0);
		for (const line of lines) expect(line).toMatch(/^- not checked: .* is not installed; it comes with \w+\. Then: /);
	});

	it('fails with the words of the program that refuses a file', () => {
		install('promtool', 'test "$1" = check || { echo "alerts.yml: no such metric"; exit 1; }');
		const { status, lines } = check();
		expect(status).toBe(1);
		expect(lines).toContain('✓ the alerts are rules that Prometheus takes (promtool check rules ops/alerts.yml)');
		expect(lines).toContain('alerts.yml: no such metric');
	});
});
