import { useEffect, useState } from 'react';
import { useDo } from '../actions.ts';
import { useNow } from '../now.ts';
import type { PageData } from '../page-state.ts';
import { span } from '../times.ts';
import { useToast } from '../toast.tsx';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The next time at which a clock on the wall shows this hour; `days` later at the earliest. */
function nextAt(hour: number, now: Date, days = 0): number {
	const next = new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);
	if (next <= now) next.setDate(next.getDate() + 1);
	return next.getTime();
}

const MOVES: readonly { label: string; to: (now: Date) => number }[] = [
	{ label: '+1 min', to: (now) => now.getTime() + MINUTE_MS },
	{ label: '+5 min', to: (now) => now.getTime() + 5 * MINUTE_MS },
	{ label: '+15 min', to: (now) => now.getTime() + 15 * MINUTE_MS },
	{ label: '+1 h', to: (now) => now.getTime() + HOUR_MS },
	{ label: 'To 22:00', to: (now) => nextAt(22, now) },
	{ label: 'To tomorrow 9:00', to: (now) => nextAt(9, now, 1) },
];

const locale = 'en-GB';

/** The sandbox's clock, and buttons that move it forward for Slack, the service and the app. */
export function Clock({ data }: { data: PageData }) {
	const doIt = useDo();
	const toast = useToast();
	const now = useNow();
	const [, setTick] = useState(0);
	useEffect(() => {
		const timer = setInterval(() => setTick((tick) => tick + 1), 1000);
		return () => clearInterval(timer);
	}, []);
	const time = now();
	const { offsetMs } = data.clock;
	async function move(to: (now: Date) => number): Promise<void> {
		const from = now();
		const { error } = await doIt('move-clock', { ms: to(from) - from.getTime() });
		if (error !== undefined) toast(error);
	}
	return (
		<>
			<p className="clock">
				<time dateTime={time.toISOString()}>
					{time.toLocaleDateString(locale, { weekday: 'long', day: 'numeric', month: 'long' })},{' '}
					{time.toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit' })}
				</time>
				<small>{offsetMs === 0 ? 'The time of this machine.' : `${span(offsetMs)} ahead of this machine.`}</small>
			</p>
			{data.bot.status === 'external' ? (
				<p className="empty">The bot was started elsewhere, so its clock cannot be moved.</p>
			) : (
				<p className="agent-tools">
					{MOVES.map(({ label, to }) => (
						<button type="button" className="small" key={label} onClick={() => void move(to)}>
							{label}
						</button>
					))}
				</p>
			)}
		</>
	);
}
