import { z } from 'zod';
import type { FakeSessionService } from '../fake-session-service/fake-session-service.ts';
import { type Act, actSchema, type FakeSlack, type Viewer } from '../fake-slack/index.ts';
import { dashboardSession } from './agents.ts';
import type { AppProcess } from './app-process.ts';
import { callDetail } from './calls.ts';
import { gallery, triedQuestion } from './gallery/gallery.ts';
import type { MovedClock } from './moved-clock.ts';
import { builderJson, type ReadMarks, readKey } from './person-view.ts';
import type { Stream } from './stream.ts';
import type { Troubles } from './troubles.ts';

/** An action that a person cannot do, with words for them. */
export class ActionError extends Error {}

export type Actions = ReturnType<typeof createActions>;

interface ActionsDeps {
	slack: FakeSlack;
	service: FakeSessionService;
	troubles: Troubles;
	marks: ReadMarks;
	bot: AppProcess | null;
	clock: MovedClock;
	stream: Stream;
}

/** How far one press moves the clock at most. */
const FARTHEST_MS = 7 * 24 * 3_600_000;

/** How long the app may take to connect again. */
const CONNECT_WITHIN_MS = 15_000;

const inMessage = { channel: z.string(), ts: z.string() };

/** Commands that Slack's client handles itself. */
const INVITE_OR_REMOVE = /^\/(invite|remove)\s+@?(\S.*?)\s*$/;
const LEAVE = /^\/leave\s*$/;

/** Everything a person can do on the page. Each action calls the same function as the in-process driver. */
export function createActions(deps: ActionsDeps) {
	const { slack, service, troubles, marks, clock, stream } = deps;
	/** Throws unless the person can use the view now: the modal on top, or their Home tab. */
	function requireUsableView(viewer: Viewer, id: string): void {
		const window = slack.state.windows.find((one) => one.user === viewer.user && one.id === viewer.window);
		if (window?.stack.at(-1) === id || slack.state.homes[viewer.user] === id) return;
		throw new ActionError('This modal is no longer on top.');
	}
	async function inviteOrRemove(viewer: Viewer, channel: string, verb: string, name: string): Promise<void> {
		const typed = name.toLowerCase();
		const person = slack.state.people.find((one) =>
			[one.name, one.realName, one.displayName ?? ''].some((known) => known.toLowerCase() === typed),
		);
		if (person === undefined) return slack.whisper(viewer, { channel }, `There is nobody called @${name}.`);
		const isInvited = verb === 'invite';
		await (isInvited ? slack.invite(channel, person.id, viewer.user) : slack.remove(channel, person.id));
		const words = isInvited ? 'in the channel now' : 'not in the channel any more';
		slack.whisper(viewer, { channel }, `@${name} is ${words}.`);
	}

	/** What Slack's own client does with a line before an app gets it. True when the client has handled it. */
	async function ownCommand(viewer: Viewer, line: Extract<Act, { do: 'command' | 'say' }>): Promise<boolean> {
		if (line.do === 'say') {
			if (line.threadTs === undefined || !/^\/\w+/.test(line.text)) return false;
			const command = line.text.split(/\s/)[0] ?? '';
			slack.whisper(viewer, line, `${command} is not supported in threads. Sorry!`);
			return true;
		}
		if (LEAVE.test(line.line)) {
			await slack
				.perform(viewer, { do: 'leave', channel: line.channel })
				.catch((error: Error) => slack.whisper(viewer, line, error.message));
			return true;
		}
		const own = INVITE_OR_REMOVE.exec(line.line);
		if (own === null) return false;
		await inviteOrRemove(viewer, line.channel, own[1] ?? '', own[2] ?? '');
		return true;
	}
	async function act(viewer: Viewer, wanted: Act): Promise<object> {
		if ('viewId' in wanted) requireUsableView(viewer, wanted.viewId);
		if ((wanted.do === 'command' || wanted.do === 'say') && (await ownCommand(viewer, wanted))) return { ok: true };
		const done = slack.perform(viewer, wanted);
		if (wanted.do === 'say') markRead(viewer, wanted.channel, slack.state.lastTs);
		// The app gets these in its own time: neither typing nor closing waits for it.
		if (wanted.do !== 'fillInModal' && wanted.do !== 'fillInMessage' && wanted.do !== 'close') return done;
		done.catch(() => undefined);
		return {};
	}
	function markRead(viewer: Viewer, channel: string, ts: string): void {
		const key = readKey(viewer.user, channel);
		if (ts > (marks.get(key) ?? '0')) marks.set(key, ts);
		stream.changed();
	}

	/** Moves the clock of everything ahead. */
	async function moveClock(ms: number): Promise<void> {
		const { bot } = deps;
		if (bot === null) throw new ActionError('The bot was started elsewhere (--no-bot): its clock cannot be moved.');
		await clock.advance(ms);
		await bot.setClock(clock.offsetMs);
		stream.changed();
		// By its new time the app has heard nothing on its connections for long, and would drop them in a moment.
		const count = slack.sockets.count();
		slack.sockets.disconnect('refresh_requested', 'all');
		await slack.changes.until(
			() => slack.sockets.count() >= count,
			() => 'The time was moved, and the app does not connect again.',
			CONNECT_WITHIN_MS,
		);
	}

	/** Afterwards all pages are told what has changed. */
	function action<T extends z.ZodRawShape>(shape: T, act: (viewer: Viewer, input: z.infer<z.ZodObject<T>>) => unknown) {
		const schema = z.object(shape);
		return async (viewer: Viewer, input: unknown) => {
			const done = await act(viewer, schema.parse(input));
			stream.changed();
			return done as object | undefined;
		};
	}

	const actions = {
		/** Everything that the in-process driver can do. */
		act: async (viewer: Viewer, input: unknown) => act(viewer, actSchema.parse(input)),
		read: action(inMessage, (viewer, { channel, ts }) => markRead(viewer, channel, ts)),
		'dismiss-message': action(inMessage, (viewer, input) => slack.dismiss(viewer, input)),
		'start-agent': action(
			{ scenario: z.string(), id: z.string().min(1).max(100).optional() },
			(_viewer, { scenario, id }) => ({ id: service.sessions.start(scenario, id ?? scenario) }),
		),
		'answer-agent': action({ id: z.string(), values: z.array(z.string()).optional() }, (_viewer, { id, values }) => {
			const items = dashboardSession(service, id)?.open?.items ?? [];
			const all = values ?? items.map(() => 'Answered by somebody in the dashboard');
			const verdict = service.sessions.answerAsPage(id, all);
			if (!verdict.ok) throw new ActionError(`The service’s web page accepts no answer: ${verdict.reason}.`);
		}),
		'set-agent': action({ id: z.string(), status: z.string() }, (_viewer, { id, status }) =>
			service.sessions.setStatus(id, status),
		),
		trouble: action({ id: z.string(), on: z.boolean() }, (_viewer, { id, on }) => troubles.set(id, on)),
		'try-question': action({ json: z.string().max(100_000) }, (_viewer, { json }) => triedQuestion(json)),
		'clear-troubles': action({}, () => troubles.clear()),
		'move-clock': action({ ms: z.number().int().positive().max(FARTHEST_MS) }, (_viewer, { ms }) => moveClock(ms)),
		bot: action({ do: z.enum(['kill', 'start', 'restart', 'stop']) }, async (_viewer, input) => {
			const { bot } = deps;
			if (bot === null) throw new ActionError('The bot was started elsewhere (--no-bot): stop and start it there.');
			if (input.do === 'kill' || input.do === 'restart') await bot.kill();
			if (input.do === 'stop') await bot.stop();
			if (input.do === 'start' || input.do === 'restart') bot.start();
		}),
	};

	return {
		/** @throws ActionError when it cannot be done. */
		async perform(name: string, viewer: Viewer, input: unknown): Promise<object | undefined> {
			const found = Object.entries(actions).find(([key]) => key === name);
			if (found === undefined) throw new ActionError(`There is no action called ${name}.`);
			try {
				return await found[1](viewer, input);
			} catch (error) {
				if (error instanceof z.ZodError) throw new ActionError(z.prettifyError(error));
				throw error instanceof Error ? new ActionError(error.message) : new ActionError(String(error));
			}
		},
		/** A long text to read that is not in the stream; null when it does not exist. */
		async look(what: string, query: Record<string, string>): Promise<object | null> {
			if (what === 'call') return callDetail(slack, service, query.key ?? '');
			if (what === 'session') return dashboardSession(service, query.id ?? '');
			if (what === 'gallery') return gallery(query);
			return what === 'builder' ? (builderJson(slack.state, query) as object | null) : null;
		},
		/** An image of the session service. Slack also shows images through a proxy of its own. */
		async image(url: string) {
			if (URL.parse(url)?.origin !== service.url) return null;
			const response = await fetch(url, { redirect: 'error' });
			const type = response.headers.get('content-type') ?? '';
			if (!response.ok || !/^image\/(png|jpeg|gif)$/.test(type)) return null;
			return { type, content: await response.arrayBuffer() };
		},
	};
}
