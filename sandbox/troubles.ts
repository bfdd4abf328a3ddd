import type { FakeSessionService } from '../fake-session-service/fake-session-service.ts';
import type { FakeSlack } from '../fake-slack/index.ts';
import type { WireTrouble } from './wire.ts';

type Fault = Parameters<FakeSessionService['faults']['add']>[0];

interface Trouble extends Omit<WireTrouble, 'active'> {
	/** Begins it. Returns a function that ends it. */
	begin: () => Promise<() => unknown> | (() => unknown);
	/** For a `once`: whether it is still armed. */
	isPending?: () => boolean;
}

export interface Troubles {
	list(): WireTrouble[];
	/** Begins or ends one. @throws Error when no trouble has that id. */
	set(id: string, on: boolean): Promise<void>;
	clear(): Promise<void>;
}

/** How long slow calls take: longer than Slack waits for an acknowledgement, shorter than the app's time-outs. */
const SLOW_SERVICE_MS = 4000;
const SLOW_SLACK_MS = 2000;

/** Everything that can go wrong around the app, one press each. */
export function createTroubles(deps: { slack: FakeSlack; service: FakeSessionService }): Troubles {
	const { slack, service } = deps;
	const active = new Map<string, () => unknown>();

	function serviceFault(id: string, label: string, about: string, fault: Fault): Trouble {
		let armed: number | null = null;
		return {
			id,
			group: 'service',
			label,
			about,
			kind: fault.times === undefined ? 'switch' : 'once',
			begin() {
				const own = service.faults.add(fault);
				armed = own;
				return () => service.faults.clear(own);
			},
			isPending: () => service.faults.list().some((one) => one.id === armed),
		};
	}
	function slackAct(id: string, label: string, about: string, act: () => void): Trouble {
		const begin = () => {
			act();
			return () => undefined;
		};
		return { id, group: 'slack', label, about, kind: 'act', begin };
	}

	let deliveriesBefore = 0;
	const all: readonly Trouble[] = [
		serviceFault('service-slow', 'Slow', `Every request takes ${SLOW_SERVICE_MS / 1000} s.`, {
			kind: 'slow',
			ms: SLOW_SERVICE_MS,
		}),
		{
			id: 'service-down',
			group: 'service',
			label: 'Down',
			about: 'Connections are refused. Agents go on behind closed doors.',
			kind: 'switch',
			async begin() {
				await service.goDown();
				return () => service.comeBack();
			},
		},
		serviceFault('service-429', 'Too many requests', '429 with Retry-After: 5, and a sentence that disagrees.', {
			kind: 'rate-limited',
			retryAfterSeconds: 5,
		}),
		serviceFault('service-500', '500 after saving', 'The next answer is saved, and the service says it failed.', {
			kind: 'error',
			method: 'PUT',
			saves: true,
			times: 1,
		}),
		serviceFault('service-reset', 'Reset', 'Every connection is cut instead of an answer.', { kind: 'reset' }),
		serviceFault('service-hang', 'Hangs', 'No answer ever; the connection stays open.', { kind: 'hang' }),
		serviceFault('service-html', 'A proxy’s page', 'HTML and 502 instead of JSON.', { kind: 'html' }),
		{
			id: 'service-no-list',
			group: 'service',
			label: 'No list',
			about: 'Like many services, it cannot list sessions: questions of watched ones are found by reading.',
			kind: 'switch',
			begin() {
				service.list.mode = 'off';
				return () => {
					service.list.mode = 'on';
				};
			},
		},
		serviceFault(
			'service-slow-list',
			'Lists are slow',
			`Lists take ${SLOW_SERVICE_MS / 1000} s, everything else is quick.`,
			{
				kind: 'late',
				ms: SLOW_SERVICE_MS,
				onlyLists: true,
			},
		),
		serviceFault('service-key', 'Key refused', '401: the API key is not valid any more.', { kind: 'unauthorized' }),
		{
			id: 'slack-slow',
			group: 'slack',
			label: 'Slow',
			about: `Every call of the app takes ${SLOW_SLACK_MS / 1000} s.`,
			kind: 'switch',
			begin: () => slack.faults.add({ method: '*', delayMs: SLOW_SLACK_MS }),
		},
		{
			id: 'slack-429',
			group: 'slack',
			label: 'Too many requests',
			about: 'Posts and updates of messages get 429 with Retry-After: 5.',
			kind: 'switch',
			begin() {
				const lifts = ['chat.postMessage', 'chat.update'].map((method) =>
					slack.faults.rateLimit(method, { retryAfter: 5 }),
				);
				return () => {
					for (const lift of lifts) lift();
				};
			},
		},
		{
			id: 'slack-twice',
			group: 'slack',
			label: 'Delivers twice',
			about: 'The next thing you do reaches the app twice with the same id.',
			kind: 'once',
			begin() {
				deliveriesBefore = slack.traffic.deliveries().at(-1)?.seq ?? 0;
				slack.faults.duplicateNext('*');
				return () => slack.faults.takeDuplicate('*');
			},
			isPending: () => (slack.traffic.deliveries().at(-1)?.seq ?? 0) === deliveriesBefore,
		},
		{
			id: 'slack-share',
			group: 'slack',
			label: 'Share #agents',
			about: 'Another organisation joins the channel: its watches end.',
			kind: 'switch',
			async begin() {
				await slack.share('#agents', 'T0OTHER');
				return () => slack.unshare('#agents', 'T0OTHER');
			},
		},
		slackAct('slack-drop', 'Drop the sockets', 'Cut without a word, as a network does.', () =>
			slack.sockets.drop('all'),
		),
		slackAct('slack-refresh', 'Refresh a socket', 'Slack asks one connection to reconnect, as it does all day.', () =>
			slack.sockets.disconnect('refresh_requested'),
		),
	];

	const isActive = (trouble: Trouble) => active.has(trouble.id) && (trouble.isPending?.() ?? true);

	async function end(id: string): Promise<void> {
		const finish = active.get(id);
		active.delete(id);
		await finish?.();
	}

	return {
		list: () =>
			all.map((trouble) => {
				const { id, group, label, about, kind } = trouble;
				return { id, group, label, about, kind, active: isActive(trouble) };
			}),
		async set(id, on) {
			const trouble = all.find((one) => one.id === id);
			if (trouble === undefined) throw new Error(`There is no trouble called ${id}.`);
			await end(id);
			if (!on) return;
			const finish = await trouble.begin();
			if (trouble.kind !== 'act') active.set(id, finish);
		},
		async clear() {
			await Promise.all([...active.keys()].map(end));
			service.faults.clear();
			slack.faults.clear();
		},
	};
}
