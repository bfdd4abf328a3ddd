import type { FakeSessionService } from '../fake-session-service/fake-session-service.ts';
import { type FakeSlack, isRecord, record, text } from '../fake-slack/index.ts';
import type { WireCall, WireCallDetail } from './wire.ts';

type TrafficEntry = ReturnType<FakeSlack['traffic']['all']>[number];
type LogEntry = ReturnType<FakeSessionService['log']['list']>[number];

/** Calls that a page gets when it opens; older ones are dropped. */
const SHOWN = 400;

function aboutSlack(entry: TrafficEntry): string {
	const { request } = entry;
	const view = record(request, 'view');
	const action = Array.isArray(request.actions) ? request.actions[0] : undefined;
	const event = record(request, 'event');
	const parts = [
		text(request, 'command') === undefined ? undefined : `${text(request, 'command')} ${text(request, 'text') ?? ''}`,
		text(action, 'action_id'),
		text(view, 'callback_id'),
		text(request, 'callback_id'),
		text(event, 'text'),
		typeof request.channel === 'string' ? request.channel : text(request, 'channel_id'),
	];
	return [...new Set(parts.filter((part) => part !== undefined && part !== ''))].slice(0, 2).join(' · ').slice(0, 120);
}

function outcomeSlack(entry: TrafficEntry): Pick<WireCall, 'outcome' | 'state'> {
	if (entry.doneAt === null) return { outcome: 'under way', state: 'pending' };
	if (entry.direction === 'delivery') {
		if (entry.acked !== true) return { outcome: `not acknowledged (${String(entry.answer)})`, state: 'failed' };
		const action = text(entry.answer, 'response_action');
		return { outcome: action === undefined ? 'acknowledged' : `acknowledged: ${action}`, state: 'ok' };
	}
	if (entry.status !== null && entry.status >= 300) return { outcome: String(entry.status), state: 'failed' };
	const error = text(entry.answer, 'error');
	if (error !== undefined) return { outcome: error, state: 'failed' };
	return isRecord(entry.answer) || entry.answer !== null || entry.status !== null
		? { outcome: 'ok', state: 'ok' }
		: { outcome: 'cut', state: 'failed' };
}

function slackCall(entry: TrafficEntry): WireCall {
	return {
		key: `s${entry.seq}`,
		at: entry.at,
		way: entry.direction === 'delivery' ? 'Slack → app' : 'app → Slack',
		name: entry.retry > 0 ? `${entry.name} (again, ${entry.retry})` : entry.name,
		about: aboutSlack(entry),
		tookMs: entry.tookMs,
		...outcomeSlack(entry),
		problems: entry.problems,
	};
}

function outcomeService(entry: LogEntry): Pick<WireCall, 'outcome' | 'state'> {
	if (entry.reset) return { outcome: 'reset', state: 'failed' };
	if (entry.status === null) {
		return entry.clientGone ? { outcome: 'given up', state: 'failed' } : { outcome: 'under way', state: 'pending' };
	}
	const saved = entry.status >= 400 && entry.savedAt !== null ? `${entry.status}, but saved` : String(entry.status);
	return { outcome: saved, state: entry.status < 400 ? 'ok' : 'failed' };
}

function serviceCall(entry: LogEntry): WireCall {
	return {
		key: `v${entry.seq}`,
		at: entry.at,
		way: 'app → service',
		name: `${entry.method} ${entry.kind}`,
		about: entry.sessionId ?? entry.path,
		tookMs: entry.answeredAt === null ? null : entry.answeredAt - entry.at,
		...outcomeService(entry),
		problems: [],
	};
}

/** Calls in both directions, the newest few hundred, oldest first. */
export function recentCalls(slack: FakeSlack, service: FakeSessionService): WireCall[] {
	const ofSlack = slack.traffic.all().slice(-SHOWN).map(slackCall);
	const ofService = service.log
		.list()
		.filter(({ kind }) => kind === 'read' || kind === 'answer' || kind === 'list')
		.slice(-SHOWN)
		.map(serviceCall);
	return [...ofSlack, ...ofService].sort((a, b) => a.at - b.at).slice(-SHOWN);
}

/** The bodies of a call; null when it is dropped. */
export function callDetail(slack: FakeSlack, service: FakeSessionService, key: string): WireCallDetail | null {
	const seq = Number(key.slice(1));
	if (key.startsWith('s')) {
		const entry = slack.traffic.all().find((one) => one.seq === seq);
		return entry === undefined ? null : { request: entry.request, answer: entry.answer };
	}
	const entry = service.log.list().find((one) => one.seq === seq);
	if (entry === undefined) return null;
	const { body, path, method, ifNoneMatch, status, faults, savedAt } = entry;
	return { request: { method, path, ifNoneMatch, body }, answer: { status, faults, saved: savedAt !== null } };
}
