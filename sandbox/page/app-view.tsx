import type { KeyboardEvent, ReactNode } from 'react';
import { copyForBuilder } from './builder.ts';
import { HomeTab } from './home-tab.tsx';
import { Icon } from './icons.tsx';
import type { PageData } from './page-state.ts';
import { useToast } from './toast.tsx';

export type AppTab = 'home' | 'messages';

const TABS: readonly { id: AppTab; label: string }[] = [
	{ id: 'home', label: 'Home' },
	{ id: 'messages', label: 'Messages' },
];
const tabId = (id: AppTab) => `app-tab-${id}`;
const PANEL_ID = 'app-panel';

interface TabsProps {
	appName: string;
	current: AppTab;
	onChoose: (tab: AppTab) => void;
}

function Tabs({ appName, current, onChoose }: TabsProps) {
	function onKeyDown(event: KeyboardEvent): void {
		const now = TABS.findIndex((one) => one.id === current);
		const next = {
			ArrowRight: (now + 1) % TABS.length,
			ArrowLeft: (now + TABS.length - 1) % TABS.length,
			Home: 0,
			End: TABS.length - 1,
		}[event.key];
		const tab = next === undefined ? undefined : TABS[next];
		if (tab === undefined) return;
		event.preventDefault();
		document.getElementById(tabId(tab.id))?.focus();
		onChoose(tab.id);
	}
	return (
		<div className="tabs" role="tablist" aria-label={`Tabs of ${appName}`} onKeyDown={onKeyDown}>
			{TABS.map(({ id, label }) => (
				<button
					key={id}
					type="button"
					role="tab"
					id={tabId(id)}
					className="tab"
					aria-selected={id === current}
					aria-controls={PANEL_ID}
					tabIndex={id === current ? 0 : -1}
					onClick={() => onChoose(id)}
				>
					{label}
				</button>
			))}
		</div>
	);
}

interface AppViewProps {
	data: PageData;
	tab: AppTab;
	onTab: (tab: AppTab) => void;
	onSidebar: () => void;
	messages: ReactNode;
}

/** The app's own place in Slack: its Home tab, and the direct messages with it. */
export function AppView({ data, tab, onTab, onSidebar, messages }: AppViewProps) {
	const toast = useToast();
	const { home, workspace } = data;
	const { realName } = workspace.app;
	return (
		<main className="channel" aria-label={`App ${realName}`}>
			<header className="channel-head">
				<button type="button" className="sidebar-button" aria-label="Channels" onClick={onSidebar}>
					<Icon name="menu" />
				</button>
				<h1>{realName}</h1>
				<p className="channel-about">App</p>
				{tab === 'home' && home !== null ? (
					<button
						type="button"
						className="close close-quiet"
						title="Copy for Block Kit Builder"
						aria-label="Copy this Home tab for Block Kit Builder"
						onClick={() => void copyForBuilder({ view: home.id }).then(toast)}
					>
						<Icon name="braces" />
					</button>
				) : null}
			</header>
			<Tabs appName={realName} current={tab} onChoose={(id) => (id === tab ? undefined : onTab(id))} />
			<div className="app-panel" role="tabpanel" id={PANEL_ID} aria-labelledby={tabId(tab)}>
				{tab === 'home' ? <HomeTab home={home} appName={realName} /> : messages}
			</div>
		</main>
	);
}
