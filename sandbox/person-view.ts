import {
	canMeet,
	canOpen,
	type Manifest,
	type Message,
	records,
	type SlackState,
	type Viewer,
} from '../fake-slack/index.ts';
import type { WireChannel, WireHome, WireMessage, WireModal, WirePerson, WireScenario, WireWorkspace } from './wire.ts';

type Person = SlackState['people'][number];

/** The newest message each person has seen in each channel. */
export type ReadMarks = Map<string, string>;

export const readKey = (user: string, channel: string) => `${user} ${channel}`;

function personOnPage(state: SlackState, viewer: Viewer, person: Person): WirePerson {
	const isGuest = person.isRestricted || person.isUltraRestricted;
	const kind = person.isBot ? 'bot' : person.teamId !== state.team.id ? 'external' : isGuest ? 'guest' : 'member';
	const { id, name, realName, displayName = realName } = person;
	return { id, name, realName, displayName, kind, isListed: canMeet({ state }, viewer, person) };
}

export function channelsOf(state: SlackState, viewer: Viewer, marks: ReadMarks): WireChannel[] {
	return state.channels
		.filter((channel) => canOpen({ state }, viewer.user, channel))
		.map((channel) => ({
			...channel,
			isMember: channel.members.includes(viewer.user),
			readTs: marks.get(readKey(viewer.user, channel.id)) ?? '0',
		}));
}

export function messageOnPage(viewer: Viewer, message: Message): WireMessage {
	return {
		ts: message.ts,
		channel: message.channel,
		user: message.user,
		isSlackbot: message.subtype === 'slackbot',
		isApp: message.botId !== undefined,
		text: message.text,
		blocks: message.blocks,
		threadTs: message.threadTs ?? null,
		broadcast: message.broadcast,
		edited: message.editedTs !== undefined,
		ephemeral: message.ephemeralFor !== undefined,
		rings: message.rung?.includes(viewer.user) === true,
		inputs: message.inputs[viewer.user] ?? null,
	};
}

export function modalsOf(state: SlackState, viewer: Viewer): WireModal[] {
	const window = state.windows.find((one) => one.user === viewer.user && one.id === viewer.window);
	return (window?.stack ?? []).flatMap((id) => {
		const view = state.views[id];
		if (view === undefined) return [];
		const { hash, updates, payload, input, fieldErrors, trouble } = view;
		return [{ id, hash, updates, payload, inputs: input, fieldErrors, trouble }];
	});
}

export function homeOf(state: SlackState, viewer: Viewer): WireHome | null {
	const view = state.views[state.homes[viewer.user] ?? ''];
	return view === undefined ? null : { id: view.id, payload: view.payload, inputs: view.input };
}

export function workspaceOf(
	state: SlackState,
	viewer: Viewer,
	about: { manifest: Manifest; hasHomeTab: boolean; scenarios: WireScenario[]; serviceOrigin: string },
): WireWorkspace {
	const { manifest, hasHomeTab, scenarios, serviceOrigin } = about;
	const people = state.people.filter((one) => !one.deleted).map((one) => personOnPage(state, viewer, one));
	const me = people.find((one) => one.id === viewer.user);
	if (me === undefined) throw new Error(`No person has the id ${viewer.user}.`);
	return {
		team: { domain: state.team.domain, name: state.team.name },
		app: {
			name: state.app.name,
			botUser: state.app.botUser,
			realName: manifest.display_information.name,
			hasHomeTab,
		},
		me,
		window: viewer.window,
		people,
		userGroups: state.userGroups.map(({ id, handle }) => ({ id, handle })),
		commands: manifest.features.slash_commands.map((one) => ({
			command: one.command,
			description: one.description,
			usageHint: one.usage_hint,
		})),
		messageShortcuts: manifest.features.shortcuts.map((one) => ({ name: one.name, callbackId: one.callback_id })),
		scenarios,
		serviceOrigin,
	};
}

/** The JSON for Slack's Block Kit Builder: a view, or a message's blocks. */
export function builderJson(state: SlackState, what: { view?: string; channel?: string; ts?: string }): unknown {
	if (what.view !== undefined) return state.views[what.view]?.payload ?? null;
	const message = state.messages.find((one) => one.channel === what.channel && one.ts === what.ts);
	return message === undefined ? null : { blocks: records(message, 'blocks') };
}
