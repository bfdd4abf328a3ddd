import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { checkManifest, manifestDefinitions } from './check-manifest.ts';
import { knownEvents, knownScopes } from './known.ts';

const path = fileURLToPath(new URL('../../../manifest.yml', import.meta.url));
const manifest = readFileSync(path, 'utf8');

/** The manifest with one line put another way. */
function changed(line: string, other: string): string {
	expect(manifest).toContain(line);
	return manifest.replace(line, other);
}

const broken: [string, string, string, string][] = [
	['an unknown field at the top', 'settings:', 'handraise: 1\nsettings:', '/ does not know handraise'],
	['an unknown field below', 'always_online: true', 'always_on: true', '/features/bot_user does not know always_on'],
	[
		'a field of another type',
		'always_online: true',
		'always_online: "yes"',
		'/features/bot_user/always_online must be boolean',
	],
	['a missing name', '  name: Handraise\n', '', '/display_information needs name'],
	[
		'a long name',
		'name: Handraise',
		`name: ${'H'.repeat(36)}`,
		'/display_information/name has 36 characters, at most 35',
	],
	['a long description', 'description: Answer', `description: ${'A'.repeat(140)}`, 'at most 140'],
	['a short long description', '  background_color', '  long_description: Short\n  background_color', 'fewer than 174'],
	['a colour that is none', '"#1f4e5f"', 'teal', 'no colour like #1f4e5f'],
	['a command without its slash', 'command: /session', 'command: session', 'must be a slash'],
	['a long command', 'command: /session', `command: /${'s'.repeat(32)}`, '/command has 33 characters, at most 32'],
	['a long usage hint', 'usage_hint: "', `usage_hint: "${'u'.repeat(1000)}`, 'at most 1000'],
	[
		'a long shortcut',
		'name: Use as answer',
		`name: ${'U'.repeat(25)}`,
		'/features/shortcuts/0/name has 25 characters, at most 24',
	],
	['an unknown kind of shortcut', 'type: message', 'type: channel', '/features/shortcuts/0/type must be equal'],
	['an invented scope', '- users:read', '- users:read.everything', 'names the unknown scope users:read.everything'],
	['a scope nobody needs', '- users:read', '- users:read\n      - files:write', 'names the unknown scope files:write'],
	[
		'a scope twice',
		'- users:read',
		'- users:read\n      - users:read',
		'/oauth_config/scopes/bot names users:read twice',
	],
	[
		'a scope only in the optional list',
		'      - usergroups:read\n      - channels:history',
		'      - channels:history',
		'must name the optional scope usergroups:read too',
	],
	['a user scope', '    bot_optional:', '    user: [users:read]\n    bot_optional:', 'acts as a bot only'],
	['no scope for commands', '      - commands\n', '', 'needs commands for slash commands'],
	['an event without its scope', '      - im:history\n', '', 'needs im:history for the event message.im'],
	[
		'an event whose scope is optional',
		'    bot_optional:',
		'    bot_optional:\n      - im:history',
		'makes im:history optional',
	],
	['an invented event', '- app_mention\n', '- app_mentioned\n', 'names the unknown event app_mentioned'],
	[
		'an event nobody handles',
		'- app_mention\n',
		'- app_mention\n      - message.channels\n',
		'names the unknown event message.channels',
	],
	[
		'an event of users',
		'    bot_events:',
		'    user_events: [message.im]\n    bot_events:',
		'user_events names message.im',
	],
	[
		'a read-only messages tab',
		'messages_tab_read_only_enabled: false',
		'messages_tab_read_only_enabled: true',
		'must enable the messages tab',
	],
	['no interactivity', 'is_enabled: true', 'is_enabled: false', 'must be enabled for shortcuts'],
	[
		'neither Socket Mode nor addresses',
		'socket_mode_enabled: true',
		'socket_mode_enabled: false',
		'/settings/interactivity/request_url is needed without Socket Mode',
	],
	[
		'an address without TLS',
		'is_enabled: true',
		'is_enabled: true\n    request_url: http://a.example',
		'must be an https address',
	],
	['a key twice', 'settings:', 'settings: {}\nsettings:', 'Map keys must be unique'],
	['broken YAML', 'settings:', 'settings: [', 'Flow sequence in block collection'],
	['nothing', manifest, '', '/ must be object'],
];

describe('the manifest', () => {
	it('is one that Slack takes', () => {
		expect(checkManifest(manifest)).toEqual([]);
	});

	it('can be turned into the HTTP variant as its comment tells', () => {
		const address = 'https://handraise.example.com/slack/events';
		const http = manifest
			.replace('should_escape: false', `should_escape: false\n      url: ${address}`)
			.replace('    bot_events:', `    request_url: ${address}\n    bot_events:`)
			.replace('is_enabled: true', `is_enabled: true\n    request_url: ${address}`)
			.replace('socket_mode_enabled: true', 'socket_mode_enabled: false');
		expect(checkManifest(http)).toEqual([]);
	});

	it.each(broken)('is refused with %s', (_name, line, other, problem) => {
		expect(checkManifest(changed(line, other)).join('\n')).toContain(problem);
	});

	it('names only scopes and events that Slack knows', () => {
		const schema = JSON.stringify(manifestDefinitions());
		for (const name of [...Object.keys(knownScopes), ...Object.keys(knownEvents)])
			expect(schema).toContain(`"${name}"`);
	});
});

describe('npm run check:manifest', () => {
	const command = fileURLToPath(new URL('./check.ts', import.meta.url));
	const run = (...args: string[]) =>
		new Promise<{ code: number; lines: string[] }>((resolve) => {
			execFile(process.execPath, [command, ...args], (error, stdout, stderr) => {
				const lines = (stdout + stderr).trim().split('\n');
				resolve({ code: typeof error?.code === 'number' ? error.code : 0, lines });
			});
		});

	it('prints one line when all is well', async () => {
		const { code, lines } = await run();
		expect({ code, count: lines.length }).toEqual({ code: 0, count: 1 });
	});

	it('prints a line for each problem and exits with 1', async () => {
		const folder = mkdtempSync(join(tmpdir(), 'handraise-manifest-'));
		try {
			const file = join(folder, 'manifest.yml');
			writeFileSync(file, changed('- users:read', '- users:nope').replace('command: /session', 'command: session'));
			const { code, lines } = await run(file);
			expect({ code, count: lines.length }).toEqual({ code: 1, count: 2 });
		} finally {
			rmSync(folder, { recursive: true });
		}
	});
});
