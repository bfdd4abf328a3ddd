import type { WireWorkspace } from '../wire.ts';

export interface Completion {
	key: string;
	title: string;
	hint: string;
	about: string;
	/** The whole text after the choice; null for a hint. */
	insert: string | null;
}

/** The commands of Slack itself that the sandbox supports. */
const OWN = [
	{ command: '/invite', description: 'Add somebody, or an app, to the channel', usageHint: '@name' },
	{ command: '/leave', description: 'Leave the channel', usageHint: '' },
	{ command: '/remove', description: 'Remove somebody, or an app, from the channel', usageHint: '@name' },
];

/**
 * The forms of a usage hint such as `<id> | watch <id> | help`: those that can be typed as they are, and those that
 * need an id.
 */
function forms(usageHint: string): string[] {
	return usageHint
		.split(/\s\|\s/)
		.map((form) => form.trim())
		.filter((form) => form !== '');
}

function commandCompletions(text: string, workspace: WireWorkspace): Completion[] {
	const all = [...workspace.commands, ...OWN];
	const [typed = '', ...rest] = text.split(' ');
	const isOwn = (command: string) => OWN.some((one) => one.command === command);
	if (rest.length === 0) {
		return all
			.filter((one) => one.command.startsWith(typed))
			.map((one) => ({
				key: one.command.slice(1),
				title: one.command,
				hint: one.usageHint,
				about: `${one.description} · ${isOwn(one.command) ? 'Slack' : workspace.app.realName}`,
				insert: `${one.command} `,
			}));
	}
	const command = workspace.commands.find((one) => one.command === typed);
	if (command === undefined) return [];
	const argument = rest.join(' ').trimStart();
	const example = workspace.scenarios[0];
	return forms(command.usageHint)
		.map((form): Completion => {
			const verb = /^\w+/.exec(form)?.[0] ?? '';
			const needsId = form.includes('<');
			const fill = needsId && verb === '' ? (example?.id ?? '') : verb === '' ? '' : needsId ? `${verb} ` : verb;
			return {
				key: form.replace(/\W+/g, '-') || 'id',
				title: `${command.command} ${fill}`.trim(),
				hint: needsId && verb === '' ? '' : form.slice(verb.length).trim(),
				about: needsId && verb === '' ? 'Show a session by its id' : '',
				insert: `${command.command} ${fill}`,
			};
		})
		.filter(
			(one) => one.insert?.slice(command.command.length + 1).startsWith(argument) && one.insert.trim() !== text.trim(),
		);
}

function mentionCompletions(text: string, workspace: WireWorkspace): Completion[] {
	const match = /(^|\s)@([\w.-]*)$/.exec(text);
	if (match === null) return [];
	const [whole, , typed = ''] = match;
	const before = text.slice(0, text.length - whole.trimStart().length);
	return workspace.people
		.filter((one) => one.name.startsWith(typed.toLowerCase()) && one.id !== workspace.me.id)
		.map((one) => ({
			key: one.name,
			title: `@${one.name}`,
			hint: one.realName,
			about: '',
			insert: `${before}@${one.name} `,
		}));
}

export function completionsFor(text: string, workspace: WireWorkspace, isInThread: boolean): Completion[] {
	if (text.startsWith('/') && !isInThread && !text.includes('\n')) return commandCompletions(text, workspace);
	return mentionCompletions(text, workspace);
}
