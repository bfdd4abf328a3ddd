import type { WireTrouble } from '../../wire.ts';
import { useDo } from '../actions.ts';
import type { PageData } from '../page-state.ts';
import { useToast } from '../toast.tsx';
import { Clock } from './clock.tsx';

const BOT: Record<string, string> = {
	external: 'started elsewhere',
	starting: 'starting…',
	running: 'running',
	stopped: 'stopped',
	ended: 'ended by itself',
};

function Trouble({ trouble }: { trouble: WireTrouble }) {
	const doIt = useDo();
	const { id, label, about, kind, active } = trouble;
	return (
		<li className={active ? 'trouble trouble-on' : 'trouble'}>
			<button
				type="button"
				{...(kind === 'act' ? {} : { 'aria-pressed': active })}
				onClick={() => void doIt('trouble', { id, on: kind === 'act' ? true : !active })}
			>
				<span className={kind === 'act' ? 'trouble-act' : 'trouble-switch'} aria-hidden="true" />
				<span>
					<b>{label}</b>
					<small>
						{about}
						{kind === 'once' && active ? ' Waits for its chance.' : ''}
					</small>
				</span>
			</button>
		</li>
	);
}

export function TroublePanel({ data }: { data: PageData }) {
	const doIt = useDo();
	const toast = useToast();
	const { bot, troubles } = data;
	const asking = data.agents.filter((one) => one.asks.length > 0);
	const isUp = bot.status === 'running' || bot.status === 'starting';
	const group = (which: WireTrouble['group']) => troubles.filter((one) => one.group === which);
	return (
		<>
			<p className="trouble-clear">
				<span>{troubles.some((one) => one.active) ? 'Something is wrong on purpose.' : 'Everything works.'}</span>
				<button type="button" className="small" onClick={() => void doIt('clear-troubles')}>
					Clear all
				</button>
			</p>
			<h3>The time</h3>
			<Clock data={data} />
			<h3>The bot</h3>
			<p className="bot">
				<span className={`bot-light bot-light-${bot.status}`} aria-hidden="true" />
				<span>
					{BOT[bot.status]}
					{bot.pid === null ? '' : ` (process ${bot.pid})`}
					{bot.ended === null ? '' : `. ${bot.ended}`}
				</span>
			</p>
			{bot.status === 'external' ? null : (
				<p className="agent-tools">
					<button type="button" className="small" disabled={!isUp} onClick={() => void doIt('bot', { do: 'kill' })}>
						Kill (-9)
					</button>
					<button type="button" className="small" disabled={isUp} onClick={() => void doIt('bot', { do: 'start' })}>
						Start
					</button>
					<button type="button" className="small" onClick={() => void doIt('bot', { do: 'restart' })}>
						Kill and restart
					</button>
				</p>
			)}
			{bot.problems.length === 0 ? null : (
				<details className="problems" open={bot.status === 'ended'}>
					<summary>{bot.problems.length} errors in its log</summary>
					<pre>{bot.problems.join('\n')}</pre>
				</details>
			)}
			<h3 id="trouble-service">The session service</h3>
			<ul className="troubles" aria-labelledby="trouble-service">
				{group('service').map((one) => (
					<Trouble key={one.id} trouble={one} />
				))}
				<li className="trouble">
					<button
						type="button"
						disabled={asking.length === 0}
						onClick={() => {
							for (const agent of asking) void doIt('answer-agent', { id: agent.id });
							toast(`Answered in the dashboard: ${asking.map((one) => one.id).join(', ')}.`);
						}}
					>
						<span className="trouble-act" aria-hidden="true" />
						<span>
							<b>Somebody answers in the dashboard</b>
							<small>
								{asking.length === 0
									? 'Nothing is asked now.'
									: `Every open question: ${asking.map((one) => one.id).join(', ')}.`}
							</small>
						</span>
					</button>
				</li>
			</ul>
			<h3 id="trouble-slack">Slack</h3>
			<ul className="troubles" aria-labelledby="trouble-slack">
				{group('slack').map((one) => (
					<Trouble key={one.id} trouble={one} />
				))}
			</ul>
		</>
	);
}
