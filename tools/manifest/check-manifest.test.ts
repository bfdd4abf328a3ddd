import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { main } from '../../src/manifest.ts';
import { runHere, startCommand } from '../../test/support/commands.ts';
import { checkManifest, manifestDefinitions } from './check-manifest.ts';
import { knownEvents, knownScopes } from './known.ts';

const path = fileURLToPath(new URL('../../manifest.yml', import.meta.url));
const manifest = readFileSync(path, 'utf8');

/** The manifest with one line changed. */
function changed(line: string, other: string): string {
	expect(manifest).toContain(line);
	return manifest.replace(line, other);
}

const broken: readonly { what: string; line: string; other: string; problem: string }[] = [
	{
		what: 'an unknown field at the top',
		line: 'settings:',
		other: 'handraise: 1\nsettings:',
		problem: '/ does not know handraise',
	},
	{
		what: 'an unknown field below',
		line: 'always_online: true',
		other: 'always_on: true',
		problem: '/features/bot_user does not know always_on',
	},
	{
		what: 'a field of another type',
		line: 'always_online: true',
		other: 'always_online: "yes"',
		problem: '/features/bot_user/always_online must be boolean',
	},
	{ what: 'a missing name', line: '  name: Handraise\n', other: '', problem: '/display_information needs name' },
	{
		what: 'a long name',
		line: 'name: Handraise',
		other: `name: ${'H'.repeat(36)}`,
		problem: '/display_information/name has 36 characters, at most 35',
	},
	{
		what: 'a long description',
		line: 'description: Answer',
		other: `description: ${'A'.repeat(140)}`,
		problem: 'at most 140',
	},
	{
		what: 'a short long description',
		line: '  background_color',
		other: '  long_description: Short\n  background_color',
		problem: 'fewer than 174',
	},
	{ what: 'a colour that is none', line: '"#1f4e5f"', other: 'teal', problem: 'no colour like #1f4e5f' },
	{
		what: 'a command without its slash',
		line: 'command: /session',
		other: 'command: session',
		problem: 'must be a slash',
	},
	{
		what: 'a long command',
		line: 'command: /session',
		other: `command: /${'s'.repeat(32)}`,
		problem: '/command has 33 characters, at most 32',
	},
	{
		what: 'a long usage hint',
		line: 'usage_hint: "',
		other: `usage_hint: "${'u'.repeat(1000)}`,
		problem: 'at most 1000',
	},
	{
		what: 'a long shortcut',
		line: 'name: Use as answer',
		other: `name: ${'U'.repeat(25)}`,
		problem: '/features/shortcuts/0/name has 25 characters, at most 24',
	},
	{
		what: 'an unknown kind of shortcut',
		line: 'type: message',
		other: 'type: channel',
		problem: '/features/shortcuts/0/type must be equal',
	},
	{
		what: 'an invented scope',
		line: '- users:read',
		other: '- users:read.everything',
		problem: 'names the unknown scope users:read.everything',
	},
	{
		what: 'a scope nobody needs',
		line: '- users:read',
		other: '- users:read\n      - files:write',
		problem: 'names the unknown scope files:write',
	},
	{
		what: 'a scope twice',
		line: '- users:read',
		other: '- users:read\n      - users:read',
		problem: '/oauth_config/scopes/bot names users:read twice',
	},
	{
		what: 'a scope only in the optional list',
		line: '      - usergroups:read\n      - channels:history',
		other: '      - channels:history',
		problem: 'must name the optional scope usergroups:read too',
	},
	{
		what: 'a user scope',
		line: '    bot_optional:',
		other: '    user: [users:read]\n    bot_optional:',
		problem: 'acts as a bot only',
	},
	{
		what: 'no scope for commands',
		line: '      - commands\n',
		other: '',
		problem: 'needs commands for slash commands',
	},
	{
		what: 'an event without its scope',
		line: '      - im:history\n',
		other: '',
		problem: 'needs im:history for the event message.im',
	},
	{
		what: 'an event whose scope is optional',
		line: '    bot_optional:',
		other: '    bot_optional:\n      - im:history',
		problem: 'makes im:history optional',
	},
	{
		what: 'an invented event',
		line: '- app_mention\n',
		other: '- app_mentioned\n',
		problem: 'names the unknown event app_mentioned',
	},
	{
		what: 'an event nobody handles',
		line: '- app_mention\n',
		other: '- app_mention\n      - message.mpim\n',
		problem: 'names the unknown event message.mpim',
	},
	{
		what: 'an event of users',
		line: '    bot_events:',
		other: '    user_events: [message.im]\n    bot_events:',
		problem: 'user_events names message.im',
	},
	{
		what: 'a read-only messages tab',
		line: 'messages_tab_read_only_enabled: false',
		other: 'messages_tab_read_only_enabled: true',
		problem: 'must enable the messages tab',
	},
	{
		what: 'a Home tab that nothing fills',
		line: '      - app_home_opened\n',
		other: '',
		problem: 'the event app_home_opened fills it',
	},
	{
		what: 'no Home tab',
		line: 'home_tab_enabled: true',
		other: 'home_tab_enabled: false',
		problem: 'must enable the Home tab',
	},
	{
		what: 'no interactivity',
		line: 'is_enabled: true',
		other: 'is_enabled: false',
		problem: 'must be enabled for shortcuts',
	},
	{
		what: 'neither Socket Mode nor addresses',
		line: 'socket_mode_enabled: true',
		other: 'socket_mode_enabled: false',
		problem: '/settings/interactivity/request_url is needed without Socket Mode',
	},
	{
		what: 'an address without TLS',
		line: 'is_enabled: true',
		other: 'is_enabled: true\n    request_url: http://a.example',
		problem: 'must be an https address',
	},
	{ what: 'a key twice', line: 'settings:', other: 'settings: {}\nsettings:', problem: 'Map keys must be unique' },
	{ what: 'broken YAML', line: 'settings:', other: 'settings: [', problem: 'Flow sequence in block collection' },
	{ what: 'nothing', line: manifest, other: '', problem: '/ must be object' },
];

describe('the manifest', () => {
	it("is accepted by Slack's schema", () => {
		expect(checkManifest(manifest)).toEqual([]);
	});

	it('can be turned into the HTTP variant as its comment says', () => {
		const address = 'https://handraise.example.com/slack/events';
		const http = manifest
			.replace('should_escape: false', `should_escape: false\n      url: ${address}`)
			.replace('    bot_events:', `    request_url: ${address}\n    bot_events:`)
			.replace('is_enabled: true', `is_enabled: true\n    request_url: ${address}`)
			.replace('socket_mode_enabled: true', 'socket_mode_enabled: false');
		expect(checkManifest(http)).toEqual([]);
	});

	it.each(broken)('is refused with $what', ({ line, other, problem }) => {
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

	it('prints one line when there is no problem', async () => {
		const { code, lines } = await run();
		expect({ code, count: lines.length }).toEqual({ code: 0, count: 1 });
	});

	it('prints a line for each problem and exits with 1', async () => {
		const folder = mkdtempSync(join(tmpdir(), 'handraise-manifest-'));
		try {
			const file = join(folder, 'manifest.yml');
			writeFileSync(file, changed('- im:write', '- im:nope').replace('command: /session', 'command: session'));
			const { code, lines } = await run(file);
			expect({ code, count: lines.length }).toEqual({ code: 1, count: 2 });
		} finally {
			rmSync(folder, { recursive: true });
		}
	});
});

describe('npm run manifest', () => {
	const print = (env: Record<string, string>) => runHere(main, [], env);

	it.each([
		['/travel', 'Handraise Travel'],
		[`/${'a'.repeat(31)}`, 'A'.repeat(35)],
		['/7', '2026'],
	])('prints a manifest that Slack accepts, with %s and the name %s', async (slashCommand, name) => {
		const { code, stdout } = await print({ SLASH_COMMAND: slashCommand, APP_NAME: name });
		expect(code).toBe(0);
		expect(checkManifest(stdout)).toEqual([]);
		const expected = parse(manifest);
		expected.display_information.name = name;
		expected.features.bot_user.display_name = name;
		expected.features.slash_commands[0].command = slashCommand;
		expect(parse(stdout)).toEqual(expected);
	});

	it('prints manifest.yml as it is meant without a setting', async () => {
		expect(parse((await startCommand('manifest', [], {}).closed).stdout)).toEqual(parse(manifest));
	});

	it('prints a line for each wrong name, and no manifest', async () => {
		const { code, stdout, stderr } = await print({ SLASH_COMMAND: '/remind', APP_NAME: '*' });
		expect([code, stdout]).toEqual([1, '']);
		expect(stderr.trim().split('\n')).toEqual([
			expect.stringMatching(/^SLASH_COMMAND is a command of Slack itself/),
			expect.stringMatching(/^APP_NAME is not up to 35/),
		]);
	});
});
