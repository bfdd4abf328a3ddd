import type { FakeSlack, Message } from '../../fake-slack/index.ts';
import { CALLBACKS } from '../../src/slack/ids.ts';
import { questionIn } from './company.ts';

/** `waiting`: it says that it fills by itself. `missing`: the questions of the person's channels are. */
export type HomeState = 'filled' | 'waiting' | 'missing' | 'not checked' | 'other words';

export interface Home {
	readonly state: HomeState;
	/** Milliseconds since the epoch. */
	readonly at: number;
}

/** What somebody sees after a press or a command: `words` of a window or of a message to them alone; null: the post changed. */
export interface Reaction {
	readonly words: string | null;
}

export interface PostedQuestion {
	readonly channel: string;
	readonly ts: string;
	/** Milliseconds since the epoch. */
	readonly at: number;
}

const FILLED = /\d+ questions? for you|No (?:new )?question (?:for you|of your channels)/;
const MISSING = 'did not tell which channels you are in';
const WAITING = 'fills by itself';
const NOT_CHECKED = /could not check|couldn't check/i;

function homeState(words: string): HomeState {
	if (FILLED.test(words)) return words.includes(MISSING) ? 'missing' : 'filled';
	if (words.includes(WAITING)) return 'waiting';
	return NOT_CHECKED.test(words) ? 'not checked' : 'other words';
}

/** Follows what the people of a fake Slack see. */
export function followScreens(slack: FakeSlack) {
	/** The newest of each person. */
	const homes = new Map<string, Home>();
	const filledAt = new Map<string, number>();
	/** The first post of each question. */
	const posts = new Map<number, PostedQuestion>();
	const waiting = new Map<string, (reaction: Reaction) => void>();

	function onView(id: string): void {
		const view = slack.state.views[id];
		if (view === undefined) return;
		if (view.type === 'home') {
			const words = slack.as(view.user).home()?.text() ?? '';
			const home = { state: homeState(words), at: Date.now() };
			homes.set(view.user, home);
			if (home.state === 'filled' && !filledAt.has(view.user)) filledAt.set(view.user, home.at);
			return;
		}
		if (view.payload.callback_id === CALLBACKS.loading) return;
		const react = waiting.get(view.user);
		if (react !== undefined) react({ words: slack.as(view.user).modal()?.text() ?? '' });
	}

	const nameOf = (user: string) => slack.state.people.find(({ id }) => id === user)?.name ?? user;

	/** The only person who reads a message of the app; null when others do. */
	function readerOf({ ephemeralFor, channel }: Message): string | null {
		if (ephemeralFor !== undefined) return ephemeralFor;
		const place = slack.state.channels.find(({ id }) => id === channel);
		const { botUser } = slack.state.app;
		return place?.isIm === true ? (place.members.find((one) => one !== botUser) ?? null) : null;
	}

	function onMessage(ts: string): void {
		const message = slack.state.messages.findLast((one) => one.ts === ts);
		if (message === undefined || message.user !== slack.state.app.botUser) return;
		const reader = readerOf(message);
		if (reader !== null) {
			waiting.get(reader)?.({ words: message.text });
			return;
		}
		const content = JSON.stringify([message.text, message.blocks]);
		for (const [user, react] of waiting) {
			// A post names them without a mention.
			if (content.includes(`"${nameOf(user)}: `) || content.includes(`\\n${nameOf(user)}: `)) react({ words: null });
		}
		const number = questionIn(content);
		if (number === null || posts.has(number) || !content.includes('"button"') || !content.includes('"Green"')) return;
		posts.set(number, { channel: message.channel, ts, at: Date.now() });
	}

	slack.changes.listen(({ kind, id }) => {
		if (kind === 'view') onView(id);
		if (kind === 'message') onMessage(id);
	});

	return {
		homes: homes as ReadonlyMap<string, Home>,
		/** When each person's Home first showed their questions, milliseconds since the epoch. */
		filledAt: filledAt as ReadonlyMap<string, number>,
		posts: posts as ReadonlyMap<number, PostedQuestion>,
		/** Resolves with what this person sees next, to null when they see nothing new in this time. */
		next(user: string, withinMs: number): Promise<Reaction | null> {
			return new Promise((resolve) => {
				const end = (reaction: Reaction | null) => {
					clearTimeout(timer);
					waiting.delete(user);
					resolve(reaction);
				};
				const timer = setTimeout(() => end(null), withinMs);
				waiting.set(user, end);
			});
		},
	};
}

export type Screens = ReturnType<typeof followScreens>;
