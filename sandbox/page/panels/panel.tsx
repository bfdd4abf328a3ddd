import { useState } from 'react';
import { Icon } from '../icons.tsx';
import type { PageData } from '../page-state.ts';
import { AgentsPanel } from './agents-panel.tsx';
import { Guide } from './guide.tsx';
import { TrafficPanel } from './traffic-panel.tsx';
import { TroublePanel } from './trouble-panel.tsx';

const TABS = [
	{ id: 'guide', label: 'Guide', mark: 'guide' },
	{ id: 'agents', label: 'Agents', mark: 'robot' },
	{ id: 'trouble', label: 'Trouble', mark: 'bolt' },
	{ id: 'traffic', label: 'Traffic', mark: 'traffic' },
] as const;
type Tab = (typeof TABS)[number]['id'];

/** Wide windows show the guide beside the channel. */
const WIDE = '(min-width: 1180px)';
const KEY = 'sandbox-panel';

function rememberedTab(): Tab | null {
	const kept = sessionStorage.getItem(KEY);
	if (kept !== null) return TABS.find((one) => one.id === kept)?.id ?? null;
	return matchMedia(WIDE).matches ? 'guide' : null;
}

/** The sandbox's own tools at the edge of the window; not part of Slack. */
export function Panel({ data }: { data: PageData }) {
	const [tab, setTab] = useState<Tab | null>(rememberedTab);
	function choose(next: Tab | null): void {
		sessionStorage.setItem(KEY, next ?? '');
		setTab(next);
	}
	const marks: Record<Tab, number> = {
		guide: 0,
		agents: data.agents.filter((one) => one.asks.length > 0).length,
		trouble: data.troubles.filter((one) => one.active).length + (data.bot.status === 'ended' ? 1 : 0),
		traffic: data.calls.filter((one) => one.problems.length > 0).length,
	};
	const current = TABS.find((one) => one.id === tab) ?? null;
	return (
		<>
			{current === null ? null : (
				<aside className="panel" aria-label={`Sandbox: ${current.label}`} id="sandbox-panel">
					<header className="panel-head">
						<h2>{current.label}</h2>
						<button type="button" className="close" aria-label="Close the panel" onClick={() => choose(null)}>
							<Icon name="close" />
						</button>
					</header>
					{/* biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it with the arrow keys. */}
					<section className="panel-body" aria-label={current.label} tabIndex={0}>
						{current.id === 'guide' ? <Guide data={data} /> : null}
						{current.id === 'agents' ? <AgentsPanel data={data} /> : null}
						{current.id === 'trouble' ? <TroublePanel data={data} /> : null}
						{current.id === 'traffic' ? <TrafficPanel data={data} /> : null}
					</section>
				</aside>
			)}
			<nav className="rail" aria-label="Sandbox tools">
				{TABS.map((one) => (
					<button
						type="button"
						key={one.id}
						className={one.id === tab ? 'rail-tab rail-tab-on' : 'rail-tab'}
						aria-expanded={one.id === tab}
						onClick={() => choose(one.id === tab ? null : one.id)}
					>
						<span className="rail-mark" aria-hidden="true">
							<Icon name={one.mark} />
						</span>
						{one.label}
						{marks[one.id] > 0 ? (
							<span className="rail-badge">
								{marks[one.id]}
								<span className="visually-hidden"> to look at</span>
							</span>
						) : null}
					</button>
				))}
				<span className={`bot-light bot-light-${data.bot.status}`}>
					<span className="visually-hidden">The bot is {data.bot.status}</span>
				</span>
			</nav>
		</>
	);
}
