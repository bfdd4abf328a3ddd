import { useEffect, useState } from 'react';
import type { WireCall, WireCallDetail } from '../../wire.ts';
import { look } from '../actions.ts';
import type { PageData } from '../page-state.ts';
import { duration, exactTime } from '../times.ts';
import { useToast } from '../toast.tsx';

const WAYS = ['app → Slack', 'Slack → app', 'app → service'] as const;
const SHORT: Record<WireCall['way'], string> = {
	'app → Slack': '→ Slack',
	'Slack → app': '← Slack',
	'app → service': '→ service',
};

function Detail({ call }: { call: WireCall }) {
	const toast = useToast();
	const [detail, setDetail] = useState<WireCallDetail | null>(null);
	const { key, state } = call;
	// biome-ignore lint/correctness/useExhaustiveDependencies: the answer is there once the state says so.
	useEffect(() => {
		let isGone = false;
		void look<WireCallDetail>('call', { key }).then((found) => {
			if (!isGone) setDetail(found);
		});
		return () => {
			isGone = true;
		};
	}, [key, state]);
	if (detail === null) return <p className="empty">…</p>;
	const json = JSON.stringify(detail, null, 2);
	return (
		<div className="call-detail">
			{call.problems.length === 0 ? (
				<p className="valid">{call.way === 'app → Slack' ? '✓ Slack’s rules are kept.' : null}</p>
			) : (
				<ul className="invalid">
					{call.problems.map((problem) => (
						<li key={problem}>{problem}</li>
					))}
				</ul>
			)}
			<button
				type="button"
				className="small"
				onClick={() => {
					void navigator.clipboard.writeText(json).then(
						() => toast('Copied.'),
						() => toast('The browser did not allow copying.'),
					);
				}}
			>
				Copy JSON
			</button>
			<pre>{json.length > 60_000 ? `${json.slice(0, 60_000)}\n… (cut)` : json}</pre>
		</div>
	);
}

export function TrafficPanel({ data }: { data: PageData }) {
	const [ways, setWays] = useState<readonly WireCall['way'][]>(WAYS);
	const [open, setOpen] = useState<string | null>(null);
	const [frozen, setFrozen] = useState<readonly WireCall[] | null>(null);
	const calls = (frozen ?? data.calls).filter((one) => ways.includes(one.way)).slice(-200);
	return (
		<>
			<fieldset className="filters">
				<legend className="visually-hidden">Which calls</legend>
				{WAYS.map((way) => (
					<label key={way}>
						<input
							type="checkbox"
							checked={ways.includes(way)}
							onChange={() => setWays(ways.includes(way) ? ways.filter((one) => one !== way) : [...ways, way])}
						/>
						{way}
					</label>
				))}
				<label>
					<input
						type="checkbox"
						checked={frozen !== null}
						onChange={() => setFrozen(frozen === null ? data.calls : null)}
					/>
					Hold still
				</label>
			</fieldset>
			{calls.length === 0 ? <p className="empty">Nothing yet.</p> : null}
			<ol className="calls" reversed>
				{[...calls].reverse().map((call) => (
					<li key={call.key} className={`call call-${call.state} ${call.problems.length > 0 ? 'call-invalid' : ''}`}>
						<button
							type="button"
							aria-expanded={open === call.key}
							onClick={() => setOpen(open === call.key ? null : call.key)}
						>
							<span className="call-way">{SHORT[call.way]}</span>
							<span className="call-name">{call.name}</span>
							<span className="call-took">{duration(call.tookMs)}</span>
							<span className="call-about">{call.about}</span>
							<span className="call-outcome">
								{call.problems.length > 0 ? `invalid: ${call.problems.length} · ` : ''}
								{call.outcome}
							</span>
							<span className="call-time">{exactTime(call.at)}</span>
						</button>
						{open === call.key ? <Detail call={call} /> : null}
					</li>
				))}
			</ol>
		</>
	);
}
