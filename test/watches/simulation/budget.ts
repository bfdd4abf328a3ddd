import {
	type BudgetState,
	EMPTY_BUDGET_STATE,
	grantWaiting,
	inOrder,
	inWindow,
	observed,
	type RequestPriority,
	sharesOf,
	usageAt,
} from '../../../src/session-service/budget-state.ts';
import { createBackgroundBudget } from '../../../src/watches/schedule.ts';
import type { Agenda } from './agenda.ts';
import { LIMIT, type LimitedService } from './limited-service.ts';

interface Waiter {
	readonly priority: RequestPriority;
	readonly count: number;
	readonly person: '';
	readonly run: (allowed: boolean) => void;
	readonly ahead: boolean;
}

/** The program's request budget (its queues and decisions) in virtual time, with a service that counts requests. */
export function createVirtualBudget(agenda: Agenda, service: LimitedService) {
	const waiting = new Set<Waiter>();
	let state: BudgetState = EMPTY_BUDGET_STATE;
	let alarmAt = Number.POSITIVE_INFINITY;
	let reservedPerSecond = 0;

	function pump(): void {
		const now = agenda.now;
		const limits = { limit: LIMIT, reserved: inWindow(reservedPerSecond) };
		const grants = grantWaiting(state, now, limits, inOrder(waiting, new Map()));
		state = grants.state;
		for (const { waiter } of grants.granted) waiting.delete(waiter);
		for (const { waiter, sequence } of grants.granted) send(waiter, sequence);
		if (grants.nextAt >= alarmAt || grants.nextAt === Number.POSITIVE_INFINITY) return;
		alarmAt = grants.nextAt;
		agenda.at(grants.nextAt, () => {
			if (agenda.now < alarmAt) return;
			alarmAt = Number.POSITIVE_INFINITY;
			pump();
		});
	}

	function send(waiter: Waiter, sequence: number): void {
		const now = agenda.now;
		let allowed = true;
		for (let request = 0; request < waiter.count; request += 1) {
			const answer = service.request(now);
			allowed &&= answer.allowed;
			const { remaining, resetSeconds } = answer;
			const headers = { limit: LIMIT, remaining, resetSeconds };
			const limited = answer.allowed ? headers : { ...headers, retryAfterSeconds: resetSeconds };
			state = observed(state, limited, { now, limit: LIMIT, sequence: sequence - waiter.count + 1 + request });
		}
		waiter.run(allowed);
	}

	const background = createBackgroundBudget({
		figures: () => {
			const usage = usageAt(state, agenda.now, LIMIT);
			return {
				limit: usage.limit,
				free: usage.free,
				used: { background: usage.background },
				pausedUntil: state.pausedUntil,
				waiting: { background: Array.from(waiting).filter(({ priority }) => priority === 'background').length },
			};
		},
		keptFor: (limit) => sharesOf(limit).delivery + sharesOf(limit).person,
		reservedPerSecond: () => reservedPerSecond,
	});

	return {
		background,
		/** Keeps background requests for those that go ahead. */
		reserve(perSecond: number): void {
			reservedPerSecond = perSecond;
		},
		/** Calls `run` when the requests are sent. `ahead`: before the others of this priority. */
		acquire(priority: RequestPriority, count: number, run: (allowed: boolean) => void, ahead = false): void {
			waiting.add({ priority, count, person: '', run, ahead });
			pump();
		},
	};
}

export type VirtualBudget = ReturnType<typeof createVirtualBudget>;
