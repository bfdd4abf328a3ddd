import { type SlackState, sampleWorkspace, seedState, withMembers } from '../fake-slack/index.ts';
import { manifestPath } from './manifest-path.ts';

/** A third full member: of a channel that names two who may answer, somebody else is told so. */
const THIRD = { name: 'mary', realName: 'Mary Jackson' };

const CHANNELS = ['agents', 'general', 'secret', 'shared'];

type Message = SlackState['messages'][number];

function said(channel: string, user: string, at: number, text: string): Message {
	const ts = `${Math.floor(at / 1000)}.${String((at % 1000) * 1000).padStart(6, '0')}`;
	return { ts, channel, user, text, blocks: [], broadcast: false, history: [], inputs: {} };
}

function firstName({ realName }: SlackState['people'][number]): string {
	return realName.replace(/ .*/, '');
}

/** The workspace for a visitor: the fake Slack's people, the important channels, and a few messages. */
export function sandboxWorkspace(now: number): SlackState {
	const state = seedState(withMembers(sampleWorkspace(), 'agents', [THIRD.name]), manifestPath);
	const timeZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
	const minutes = (count: number) => now - count * 60_000;
	const messages = [
		said('C0GENERAL', 'U0GRACE', minutes(64), 'Morning! The quarterly review is on Thursday, agenda follows.'),
		said(
			'C0AGENTS',
			'U0GRACE',
			minutes(42),
			'I gave the Frankfurt trip to the travel agent. It will want to know which flight.',
		),
		said('C0AGENTS', 'U0ADA', minutes(38), 'I can take that one. How do I see what it asks?'),
		said('C0AGENTS', 'U0GRACE', minutes(37), 'Type `/session watch flight`, right here. Then one press answers.'),
		said('C0SHARED', 'U0EVE', minutes(25), 'Hello from the other company.'),
	];
	return {
		...state,
		// A person who shares no channel with others is of no use here. The others live where the page's clock is.
		people: state.people
			.filter((person) => person.name !== 'sid')
			.map((person) => (person.name === THIRD.name ? { ...person, ...THIRD } : person))
			.map((person) => ({ ...person, tz: timeZone, ...(person.isBot ? {} : { displayName: firstName(person) }) })),
		channels: state.channels.filter((channel) => CHANNELS.includes(channel.name)),
		messages,
		lastTs:
			messages
				.map((one) => one.ts)
				.sort()
				.at(-1) ?? '0',
	};
}
