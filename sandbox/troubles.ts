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

export type Troubles = ReturnType<typeof createTroubles>;

/** How long slow calls take: longer than Slack waits for an acknowledgement, shorter than the app's time-outs. */
const SLOW_SERVICE_MS = 4000;
const SLOW_SLACK_MS = 2000;

/** Everything that can go wrong around the app, one press each. */
export function createTroubles(deps: { slack: FakeSlack; service: FakeSessionService }) {
	const { slack, service } = deps;
	const active = new Map<string, () => unknown>();

	/** Of what its id begins with. */
	function trouble(
		[id, label, about]: readonly [id: `${WireTrouble['group']}-${string}`, label: string, about: string],
		begin: Trouble['begin'],
		{ kind = 'switch', ...more }: Partial<Pick<Trouble, 'kind' | 'isPending'>> = {},
	): Trouble {
		return { id, group: id.startsWith('slack') ? 'slack' : 'service', label, about, kind, begin, ...more };
	}
	function serviceFault(words: Parameters<typeof trouble>[0], fault: Fault): Trouble {
		let armed: number | null = null;
		const begin = () => {
			const own = service.faults.add(fault);
			armed = own;
			return () => service.faults.clear(own);
		};
		const isPending = () => service.faults.list().some((one) => one.id === armed);
		return trouble(words, begin, { kind: fault.times === undefined ? 'switch' : 'once', isPending });
	}
	function slackAct(words: Parameters<typeof trouble>[0], act: () => void): Trouble {
		const begin = () => {
			act();
			return () => undefined;
		};
		return trouble(words, begin, { kind: 'act' });
	}

	let deliveriesBefore = 0;
	const newestDelivery = () => slack.traffic.deliveries().at(-1)?.seq ?? 0;
	const all: readonly Trouble[] = [
		serviceFault(['service-slow', 'Slow', `Every request takes ${SLOW_SERVICE_MS / 1000} s.`], {
			kind: 'slow',
			ms: SLOW_SERVICE_MS,
		}),
		trouble(['service-down', 'Down', 'Connections are refused. Agents go on behind closed doors.'], async () => {
			await service.goDown();
			return () => service.comeBack();
		}),
		serviceFault(['service-429', 'Too many requests', '429 with Retry-After: 5, and a sentence that disagrees.'], {
			kind: 'rate-limited',
			retryAfterSeconds: 5,
		}),
		serviceFault(['service-500', '500 after saving', 'The next answer is saved, and the service says it failed.'], {
			kind: 'error',
			method: 'PUT',
			saves: true,
			times: 1,
		}),
		serviceFault(['service-reset', 'Reset', 'Every connection is cut instead of an answer.'], { kind: 'reset' }),
		serviceFault(['service-hang', 'Hangs', 'No answer ever; the connection stays open.'], { kind: 'hang' }),
		serviceFault(['service-html', 'A proxy’s page', 'HTML and 502 instead of JSON.'], { kind: 'html' }),
		trouble(
			[
				'service-no-list',
				'No list',
				'Like many services, it cannot list sessions: questions of watched ones are found by reading.',
			],
			() => {
				service.list.mode = 'off';
				return () => {
					service.list.mode = 'on';
				};
			},
		),
		serviceFault(
			['service-slow-list', 'Lists are slow', `Lists take ${SLOW_SERVICE_MS / 1000} s, everything else is quick.`],
			{ kind: 'late', ms: SLOW_SERVICE_MS, onlyLists: true },
		),
		serviceFault(['service-key', 'Key refused', '401: the API key is not valid any more.'], { kind: 'unauthorized' }),
		trouble(['slack-slow', 'Slow', `Every call of the app takes ${SLOW_SLACK_MS / 1000} s.`], () =>
			slack.faults.add({ method: '*', delayMs: SLOW_SLACK_MS }),
		),
		trouble(['slack-429', 'Too many requests', 'Posts and updates of messages get 429 with Retry-After: 5.'], () => {
			const methods = ['chat.postMessage', 'chat.update'];
			const lifts = methods.map((method) => slack.faults.rateLimit(method, { retryAfter: 5 }));
			return () => {
				for (const lift of lifts) lift();
			};
		}),
		trouble(
			['slack-twice', 'Delivers twice', 'The next thing you do reaches the app twice with the same id.'],
			() => {
				deliveriesBefore = newestDelivery();
				slack.faults.duplicateNext('*');
				return () => slack.faults.takeDuplicate('*');
			},
			{ kind: 'once', isPending: () => newestDelivery() === deliveriesBefore },
		),
		trouble(['slack-share', 'Share #agents', 'Another organisation joins the channel: its watches end.'], async () => {
			await slack.share('#agents', 'T0OTHER');
			return () => slack.unshare('#agents', 'T0OTHER');
		}),
		slackAct(['slack-drop', 'Drop the sockets', 'Cut without a word, as a network does.'], () =>
			slack.sockets.drop('all'),
		),
		slackAct(['slack-refresh', 'Refresh a socket', 'Slack asks one connection to reconnect, as it does all day.'], () =>
			slack.sockets.disconnect('refresh_requested'),
		),
	];

	const isActive = ({ id, isPending }: Trouble) => active.has(id) && (isPending?.() ?? true);

	async function end(id: string): Promise<void> {
		const finish = active.get(id);
		active.delete(id);
		await finish?.();
	}

	return {
		list: (): WireTrouble[] =>
			all.map((one) => {
				const { id, group, label, about, kind } = one;
				return { id, group, label, about, kind, active: isActive(one) };
			}),
		/** Begins or ends one. @throws Error when no trouble has that id. */
		async set(id: string, on: boolean): Promise<void> {
			const wanted = all.find((one) => one.id === id);
			if (wanted === undefined) throw new Error(`There is no trouble called ${id}.`);
			await end(id);
			if (!on) return;
			const finish = await wanted.begin();
			if (wanted.kind !== 'act') active.set(id, finish);
		},
		async clear(): Promise<void> {
			await Promise.all([...active.keys()].map(end));
			service.faults.clear();
			slack.faults.clear();
		},
	};
}
