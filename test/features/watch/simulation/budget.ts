import {
	type BudgetState,
	backgroundRates,
	EMPTY_BUDGET_STATE,
	grantWaiting,
	inOrder,
	observed,
	usageAt,
} from '../../../../src/session-service/budget-state.ts';
import type { BackgroundBudget, RequestPriority } from '../../../../src/session-service/service.ts';
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
	let reserved = 0;

	function pump(): void {
		const now = agenda.now;
		const limits = { limit: LIMIT, reserved };
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

	const background: BackgroundBudget = {
		rates: () => backgroundRates(usageAt(state, agenda.now, LIMIT), reserved),
		pausedUntil: () => state.pausedUntil,
		reserve(perSecond) {
			reserved = perSecond;
		},
		waiting: () => Array.from(waiting).filter(({ priority }) => priority === 'background').length,
	};

	return {
		background,
		/** Calls `run` when the requests are sent. `ahead`: before the others of this priority. */
		acquire(priority: RequestPriority, count: number, run: (allowed: boolean) => void, ahead = false): void {
			waiting.add({ priority, count, person: '', run, ahead });
			pump();
		},
	};
}

export type VirtualBudget = ReturnType<typeof createVirtualBudget>;
