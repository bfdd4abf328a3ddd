import type { AgentAction } from '../questions/session.ts';
import { asObject, asText, type JsonObject } from './json-values.ts';

/** Names of unknown actions are cut to this many characters: they are shown in one line of a card. */
const LONGEST_NAME = 64;

/** Reads `agent_data.action`: objects keyed by the action's name, one action for each key that carries something. */
export function readActions(agentData: unknown): readonly AgentAction[] {
	const action = asObject(agentData)?.action;
	if (action === undefined || action === null) return [];
	const entries = Array.isArray(action) ? action : [action];
	const actions: AgentAction[] = [];
	for (const entry of entries) {
		const keyed = asObject(entry);
		if (keyed === null) continue;
		for (const name of namesIn(keyed)) actions.push(readAction(name, keyed[name]));
	}
	return actions;
}

/** Some serializers list every action that exists, all but one as null: those that are null did not happen. */
function namesIn(keyed: JsonObject): readonly string[] {
	const names = Object.keys(keyed);
	const done = names.filter((name) => keyed[name] !== null);
	return done.length > 0 ? done : names.slice(0, 1);
}

function readAction(name: string, value: unknown): AgentAction {
	switch (name) {
		case 'click':
			return { kind: 'click' };
		case 'go_to_url':
			return { kind: 'open', host: hostOf(asText(asObject(value)?.url ?? value)) };
		case 'done':
			return { kind: 'done', text: asText(asObject(value)?.text ?? value) };
		case 'save_to_file':
			return readSavedFile(asObject(value) ?? { filename: value });
		default:
			return { kind: 'other', name: cut(name) };
	}
}

function readSavedFile(file: JsonObject): AgentAction {
	const filename = asText(file.filename) || (asText(file.file_path).split(/[/\\]/).at(-1) ?? '');
	return { kind: 'saveFile', filename, deleted: file.status === 'deleted' };
}

/** The host is looked for in so many characters: hosts have 253 at most, user names before them a few more. */
const LONGEST_ADDRESS = 2_000;

/** Plain web addresses, which nearly all are: parsing each of hundreds as a URL costs more than the rest of reading. */
const PLAIN = /^https?:\/\/((?!xn--)[a-z\d-]+(?:\.(?!xn--)[a-z\d-]+)*\.[a-z]{2,})(?=[/?#]|$)/;

/** Nothing but the host (with its port) is kept: user names, paths and queries carry secrets. */
function hostOf(whole: string): string {
	const address = whole.slice(0, LONGEST_ADDRESS).trim();
	const plain = PLAIN.exec(address)?.[1];
	if (plain !== undefined) return plain;
	// "example.org:8080/path" is an address that people and agents write; "javascript:…" and "file:…" are not.
	const written = /^[\w.-]+\.[\w-]+(:\d+)?([/?#]|$)/.test(address) ? `https://${address}` : address;
	const url = URL.parse(written);
	return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') ? url.host : '';
}

function cut(name: string): string {
	if (name.length <= LONGEST_NAME) return name;
	const kept = name.slice(0, LONGEST_NAME - 1);
	// Never half of a surrogate pair.
	return `${kept.isWellFormed() ? kept : kept.slice(0, -1)}…`;
}
