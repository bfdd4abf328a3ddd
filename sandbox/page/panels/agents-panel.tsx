import { useState } from 'react';
import type { WireAgent } from '../../wire.ts';
import { useDo } from '../actions.ts';
import { each } from '../each.tsx';
import type { PageData } from '../page-state.ts';
import { useToast } from '../toast.tsx';

const STATUS: Record<string, string> = {
	active: 'working',
	humanInput: 'asks',
	paused: 'paused',
	inactive: 'inactive',
	stopped: 'stopped',
	completed: 'completed',
	failed: 'failed',
};

function Agent({ agent }: { agent: WireAgent }) {
	const doIt = useDo();
	const toast = useToast();
	const [values, setValues] = useState<Readonly<Record<number, string>>>({});
	const [isAnswering, setAnswering] = useState(false);
	async function copy(): Promise<void> {
		try {
			await navigator.clipboard.writeText(agent.link);
			toast('Copied. Paste it after /session.');
		} catch {
			toast(agent.link);
		}
	}
	async function answer(): Promise<void> {
		const filled = agent.asks.map((_title, place) => values[place] ?? '');
		const { error } = await doIt('answer-agent', { id: agent.id, values: filled });
		setAnswering(false);
		setValues({});
		toast(typeof error === 'string' ? error : 'Answered in the dashboard, behind the bot’s back.');
	}
	return (
		<li className="agent">
			<p className="agent-head">
				<b>{agent.id}</b>
				<span className={`status status-${agent.asks.length > 0 ? 'asks' : agent.status}`}>
					{agent.asks.length > 0 && agent.status !== 'humanInput'
						? `${STATUS[agent.status] ?? agent.status}, asks`
						: (STATUS[agent.status] ?? agent.status)}
				</span>
			</p>
			<p className="agent-about">
				{agent.name} · step {agent.steps}
			</p>
			<p className="agent-tools">
				<button type="button" className="small" aria-label={`Copy link: ${agent.id}`} onClick={() => void copy()}>
					Copy link
				</button>
				<a
					className="small"
					aria-label={`Open dashboard: ${agent.id}`}
					href={agent.link}
					target="_blank"
					rel="noopener"
				>
					Open dashboard
				</a>
				{agent.asks.length > 0 ? (
					<button
						type="button"
						className="small"
						aria-label={`Answer as an outsider: ${agent.id}`}
						aria-expanded={isAnswering}
						onClick={() => setAnswering(!isAnswering)}
					>
						Answer as an outsider
					</button>
				) : null}
				{agent.scenario === null ? null : (
					<button
						type="button"
						className="small"
						aria-label={`Start again: ${agent.id}`}
						onClick={() => void doIt('start-agent', { scenario: agent.scenario })}
					>
						Start again
					</button>
				)}
			</p>
			{isAnswering && agent.asks.length > 0 ? (
				<form
					className="agent-form"
					onSubmit={(event) => {
						event.preventDefault();
						void answer();
					}}
				>
					{each(agent.asks.slice(0, 5), (title, place) => (
						<label>
							{title || `Item ${place + 1}`}
							<input
								className="field"
								value={values[place] ?? ''}
								onChange={(event) => setValues({ ...values, [place]: event.target.value })}
							/>
						</label>
					))}
					<button type="submit" className="small small-on">
						Answer in the dashboard
					</button>
				</form>
			) : null}
		</li>
	);
}

export function AgentsPanel({ data }: { data: PageData }) {
	const doIt = useDo();
	const { scenarios } = data.workspace;
	const started = new Set(data.agents.map((one) => one.id));
	return (
		<>
			<h3>Running</h3>
			{data.agents.length === 0 ? (
				<p className="empty">None yet. A scenario begins when somebody first looks at it.</p>
			) : (
				<ul className="agents">
					{data.agents.map((agent) => (
						<Agent key={agent.id} agent={agent} />
					))}
				</ul>
			)}
			<h3>Start a session</h3>
			<ul className="scenarios">
				{scenarios
					.filter((one) => !started.has(one.id))
					.map((scenario) => (
						<li key={scenario.id}>
							<button
								type="button"
								className="scenario"
								onClick={() => void doIt('start-agent', { scenario: scenario.id })}
							>
								<b>{scenario.id}</b>
								<span>{scenario.summary}</span>
							</button>
						</li>
					))}
			</ul>
		</>
	);
}
