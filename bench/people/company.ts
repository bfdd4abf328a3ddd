import { asking, done, item, task } from '../../fake-session-service/builders.ts';
import type { MessageJson, SessionJson } from '../../fake-session-service/json.ts';
import { sampleWorkspace, withMembers } from '../../fake-slack/index.ts';

/** How large a company is: people, their channels, the sessions that these watch, and how many of them ask already. */
export interface Size {
	readonly people: number;
	readonly channels: number;
	readonly watches: number;
	readonly open: number;
}

/** The one of the options of each question that people press. */
export const OPTION = 'Blue';
const STEPS = 12;

export const personName = (index: number) => `p${index}`;
export const userId = (index: number) => `U0P${index}`;
const channelId = (index: number) => `C0TEAM${index}`;
export const channelName = (index: number) => `#team${index}`;
export const sessionId = (index: number) => `work-${index}-x`;

/** Everybody is in three of the channels. */
function membersOf(channel: number, { people, channels }: Size): number[] {
	const isIn = (person: number) => [person, person * 7 + 3, person * 13 + 11].some((one) => one % channels === channel);
	return Array.from({ length: people }, (_, index) => index).filter(isIn);
}

/** A workspace with so many people and channels. Returns it with the people (by number) of each channel. */
export function foundCompany(size: Size) {
	const names = Array.from({ length: size.people }, (_, index) => personName(index));
	const base = withMembers(sampleWorkspace(), 'general', names);
	const teams = Array.from({ length: size.channels }, (_, index) => membersOf(index, size));
	const traits = { isIm: false, isArchived: false, isExtShared: false };
	const channels = teams.map((team, index) => ({
		id: channelId(index),
		name: channelName(index).slice(1),
		members: [...team.map(userId), 'U0BOT'],
		isPrivate: index % 2 === 1,
		...traits,
	}));
	return { workspace: { ...base, channels: [...base.channels, ...channels] }, teams };
}

const WORDS = /Question (\d+) of this run/;

export function question(number: number): MessageJson {
	return asking('I need to know something.', [item(`Question ${number} of this run?`, `One of: ${OPTION}, Green`)]);
}

/** The number of the question in these words; null when there is none. */
export function questionIn(words: string): number | null {
	const [, number] = WORDS.exec(words) ?? [];
	return number === undefined ? null : Number(number);
}

/** About 10 kB. `asked`: the number of its question; null when it asks nothing. */
export function workingSession(index: number, asked: number | null): SessionJson {
	const step = (n: number) => done(`### Step ${n}\n\n${'I read the **sources** and noted some figures. '.repeat(14)}`);
	return {
		name: `Task ${index}`,
		status: asked === null ? 'active' : 'humanInput',
		maxSteps: 1_000,
		startTime: new Date().toISOString(),
		messages: [
			task('Work through the list.'),
			...Array.from({ length: STEPS }, (_, n) => step(n)),
			...(asked === null ? [] : [question(asked)]),
		],
		files: [],
	};
}
